import { describe, expect, it } from 'vitest';
import { healthUrl } from '../../../src/health/health-url.js';

const IN_THE_IMAGE = 'tini -- node /app/dist/main.js';

function urlOf(words: string, program = IN_THE_IMAGE): string | null {
  return healthUrl(`${program} ${words}`.split(' '));
}

describe('where a container is asked whether it is well', () => {
  it.each([
    ['watch . --listen 8090', 'http://127.0.0.1:8090/healthz'],
    ['watch --listen=8090 --interval 5s', 'http://127.0.0.1:8090/healthz'],
    ['watch --listen 0.0.0.0:8090', 'http://127.0.0.1:8090/healthz'],
    ['watch --listen [::]:8090', 'http://[::1]:8090/healthz'],
    ['watch --listen [fd00::7]:8090', 'http://[fd00::7]:8090/healthz'],
    ['watch --listen 10.0.0.7:8090', 'http://10.0.0.7:8090/healthz'],
    ['watch --listen 1 --listen 2', 'http://127.0.0.1:2/healthz'],
    ['service', 'http://127.0.0.1:8080/health'],
    ['service --port 81 --host 0.0.0.0', 'http://127.0.0.1:81/health'],
    ['service --host=:: --memory', 'http://[::1]:8080/health'],
  ])('%s', (words, url) => {
    expect(urlOf(words)).toBe(url);
  });

  it.each([
    'watch .',
    'watch --listen 0',
    'watch --listen nonsense',
    'service --port 0',
    'service keys create daemon --directory /data',
    'service --directory /data log',
    'validate',
    'reconcile --title watch',
    '',
  ])('nowhere: %s', (words) => {
    expect(urlOf(words)).toBeNull();
  });

  it('is found behind another init, and not at all behind a shell', () => {
    const url = 'http://127.0.0.1:8090/healthz';
    expect(urlOf('watch --listen 8090', `/sbin/docker-init -- ${IN_THE_IMAGE}`)).toBe(url);
    expect(healthUrl(['/bin/sh', '-c', 'flagkeel watch --listen 8090'])).toBeNull();
  });
});
