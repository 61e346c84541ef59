import { describe, expect, it } from 'vitest';
import {
  decideOrigin,
  originOf,
  parseOrigins,
  type OriginChoice,
} from '../../../src/admin-api/origin.js';
import { isLoopback } from '../../../src/platform/proxy.js';
import { FlagkeelError } from '../../../src/errors.js';

const proposal = {
  allowedOrigins: [],
  proposedUrl: 'https://admin.example.com/flags/',
  proposedLocation: { file: 'flagkeel.yaml', line: 4, column: 8 },
};

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof FlagkeelError) return `${error.code} ${error.exitCode}: ${error.message}`;
  }
  throw new Error('was not refused');
}

describe('decideOrigin', () => {
  it('sends the key to no origin that only the repository names, and gives the line to set', () => {
    expect(refusal(() => decideOrigin(proposal))).toBe(
      'ORIGIN_NOT_ALLOWED 6: cannot send the key to https://admin.example.com: flagkeel.yaml:4:8 proposes it and ' +
        'the operator did not allow it (set FLAGKEEL_ORIGINS=https://admin.example.com)',
    );
  });

  it.each<[string, Partial<OriginChoice>, string]>([
    [
      'the origins that are allowed already stay in the line to set',
      { allowedOrigins: ['https://other.example.com'] },
      '(set FLAGKEEL_ORIGINS=https://other.example.com,https://admin.example.com)',
    ],
    [
      'the key goes over no http that is listed, which requests without a key may use',
      {
        allowedOrigins: parseOrigins('http://prometheus.internal:9090/'),
        proposedUrl: 'http://prometheus.internal:9090',
      },
      'https only',
    ],
    ['ports count', { allowedOrigins: ['https://admin.example.com:8443'] }, 'ORIGIN_NOT_ALLOWED'],
    ['nobody named a URL', { proposedUrl: undefined }, 'or --embedded)'],
  ])('refuses, and says why: %s', (_, choice, text) => {
    expect(refusal(() => decideOrigin({ ...proposal, ...choice }))).toContain(text);
  });

  it.each<[string, Partial<OriginChoice>, string]>([
    [
      'a listed origin, with the path',
      { allowedOrigins: parseOrigins('https://admin.example.com:443/x') },
      'https://admin.example.com/flags',
    ],
    ['loopback', { proposedUrl: 'http://localhost:8080' }, 'http://localhost:8080'],
    ['FLAGKEEL_URL', { envUrl: 'https://env.example.com' }, 'https://env.example.com'],
    [
      '--url before FLAGKEEL_URL',
      { envUrl: 'https://env.example.com', cliUrl: 'https://cli.example.com' },
      'https://cli.example.com',
    ],
  ])('takes %s', (_, choice, url) => {
    expect(decideOrigin({ ...proposal, ...choice })).toBe(url);
  });

  it.each([
    ['http://admin.example.com', 'https only'],
    ['http://127.0.0.1.example.com', 'https only'],
    ['https://user:hunter2@admin.example.com', 'credentials'],
    ['https://admin.example.com/#x', 'fragment'],
    ['https://admin.example.com/?a=b', 'query'],
    ['ftp://admin.example.com', 'only https'],
    ['admin.example.com', 'not a URL'],
  ])('refuses %s whoever names it', (url, why) => {
    for (const choice of [{ cliUrl: url }, { envUrl: url }, { proposedUrl: url }]) {
      const text = refusal(() => decideOrigin({ allowedOrigins: [], ...choice }));
      expect(text).toContain(why);
      expect(text).not.toContain('hunter2');
    }
  });
});

it.each([
  ['http://127.0.0.1:80', true],
  ['http://127.1', true],
  ['http://[::1]:3000/x', true],
  ['http://localhost', true],
  ['http://localhost.example.com', false],
  ['http://10.0.0.1', false],
  ['http://0.0.0.0', false],
])('knows whether %s is loopback', (url, expected) => {
  expect(isLoopback(url)).toBe(expected);
});

it('leaves path and default port out of an origin', () => {
  expect(originOf('https://Admin.example.com:443/a/b')).toBe('https://admin.example.com');
});
