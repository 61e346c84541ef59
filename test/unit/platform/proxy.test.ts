import { afterEach, describe, expect, it, vi } from 'vitest';
import { HttpClient, type NoAnswerError } from '../../../src/platform/http-client.js';
import { proxyFor } from '../../../src/platform/proxy.js';
import { startScripted } from '../../support/http.js';
import { portOf, startTunnelProxy } from '../../support/tunnel-proxy.js';

const PROXY = 'http://proxy.example.com:3128';

describe('the proxy for a URL', () => {
  it.each([
    ['by the scheme', 'https://a.example', { HTTPS_PROXY: PROXY }, `${PROXY}/`],
    ['of the other scheme', 'https://a.example', { HTTP_PROXY: PROXY }, null],
    ['in lower case', 'http://a.example', { http_proxy: PROXY }, `${PROXY}/`],
    [
      'in lower case before upper',
      'https://a.example',
      { https_proxy: '', HTTPS_PROXY: PROXY },
      null,
    ],
    ['without a scheme', 'https://a.example', { HTTPS_PROXY: 'proxy:3128' }, 'http://proxy:3128/'],
    ['of nothing', 'https://a.example', {}, null],
    ['of this machine by name', 'http://localhost:8080', { HTTP_PROXY: PROXY }, null],
    ['of this machine by number', 'http://127.9.9.9', { HTTP_PROXY: PROXY }, null],
    ['of this machine by IPv6', 'http://[::1]:80', { HTTP_PROXY: PROXY }, null],
  ] as const)('%s', (_, url, variables, expected) => {
    expect(proxyFor(url, variables)?.href ?? null).toBe(expected);
  });

  it.each([
    ['https://admin.example.com', ['*', 'admin.example.com', 'ADMIN.example.com', 'example.com']],
    ['https://admin.example.com', ['.example.com', '*.example.com', 'example.com:443']],
    ['https://admin.example.com', ['other.test, example.com', 'other.test example.com']],
    ['https://10.1.2.3', ['10.1.2.3', '10.0.0.0/8']],
    ['https://[fd00::1]', ['fd00::/8', '[fd00::1]:443', 'fd00::1']],
  ])('is none for %s with NO_PROXY %j', (url, lists) => {
    for (const list of lists) {
      expect([list, proxyFor(url, { HTTPS_PROXY: PROXY, NO_PROXY: list })]).toEqual([list, null]);
    }
  });

  it.each([
    ['https://admin.example.com', ['example.com:8443', 'dmin.example.com', 'com.example', '', ',']],
    ['https://11.1.2.3', ['10.0.0.0/8']],
    ['https://10.1.2.3', ['10.0.0.0/99', 'fd00::/8']],
  ])('is one for %s with no_proxy %j', (url, lists) => {
    for (const list of lists) {
      const proxy = proxyFor(url, { HTTPS_PROXY: PROXY, no_proxy: list });
      expect([list, proxy?.href]).toEqual([list, `${PROXY}/`]);
    }
  });

  it('is refused without a word of its password if it is none', () => {
    const variables = { HTTPS_PROXY: 'socks5://me:secret@proxy' };
    expect(() => proxyFor('https://a.example', variables)).toThrow(
      'cannot use the proxy in HTTPS_PROXY: it has to be such as http://proxy.example.com:3128',
    );
  });
});

describe('a request through a proxy', () => {
  const closers: (() => Promise<void>)[] = [];

  afterEach(async () => {
    vi.unstubAllEnvs();
    for (const close of closers.splice(0).reverse()) await close();
  });

  function clientOf(url: string): HttpClient {
    const client = new HttpClient({
      url,
      connections: 2,
      connectTimeoutMs: 2_000,
      headersTimeoutMs: 2_000,
      bodyTimeoutMs: 2_000,
      maxAnswerBytes: 1_000,
    });
    closers.push(async () => client.close());
    return client;
  }

  async function ask(url: string): Promise<string | NoAnswerError> {
    const signal = AbortSignal.timeout(5_000);
    const request = { method: 'GET', path: '/x', headers: {}, body: null, signal } as const;
    return clientOf(url)
      .send(request)
      .then(
        ({ text }) => text,
        (error: unknown) => error as NoAnswerError,
      );
  }

  async function target(body: string): Promise<number> {
    const server = await startScripted(() => ({ status: 200, body }));
    closers.push(server.close);
    return portOf(server.url);
  }

  it('reaches a host that this machine cannot find, with user and password of the proxy', async () => {
    const proxy = await startTunnelProxy({ port: await target('found') });
    closers.push(proxy.close);
    vi.stubEnv('HTTP_PROXY', proxy.url.replace('://', '://me:se%40cret@'));

    expect(await ask('http://admin.test')).toBe('found');
    expect(proxy.asked).toEqual(['admin.test:80']);
    expect(proxy.credentials).toEqual([`Basic ${btoa('me:se@cret')}`]);
  });

  it('is as limited in size as a direct one, and was not sent where the proxy refuses it', async () => {
    const large = await startTunnelProxy({ port: await target('x'.repeat(1_001)) });
    const refusing = await startTunnelProxy({ port: 1, refuses: 407 });
    closers.push(large.close, refusing.close);

    vi.stubEnv('HTTP_PROXY', large.url);
    expect(await ask('http://admin.test')).toMatchObject({ fault: 'too-large' });
    vi.stubEnv('HTTP_PROXY', refusing.url.replace('://', '://me:secret@'));
    expect(await ask('http://admin.test')).toMatchObject({
      fault: 'not-sent',
      message: `the proxy ${refusing.url} refuses the connection (407)`,
    });
  });

  it('whose proxy is away names the proxy', async () => {
    const proxy = await startTunnelProxy({ port: 1 });
    await proxy.close();
    vi.stubEnv('HTTP_PROXY', proxy.url);

    expect(await ask('http://admin.test')).toMatchObject({
      fault: 'not-sent',
      message: `no connection to the proxy ${proxy.url} (ECONNREFUSED)`,
    });
  });
});
