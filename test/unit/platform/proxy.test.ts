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
  ] as const)('%s', (_, url, variables, expected) => {
    expect(proxyFor(url, variables)?.href ?? null).toBe(expected);
  });

  it.each(['http://localhost:8080', 'http://127.0.0.1:1', 'http://127.9.9.9', 'http://[::1]:80'])(
    'is none for %s, because a proxy would look on its own machine',
    (url) => {
      expect(proxyFor(url, { HTTP_PROXY: PROXY })).toBeNull();
    },
  );

  it.each([
    ['*', true],
    ['admin.example.com', true],
    ['ADMIN.example.com', true],
    ['example.com', true],
    ['.example.com', true],
    ['*.example.com', true],
    ['other.test, example.com', true],
    ['other.test example.com', true],
    ['example.com:443', true],
    ['example.com:8443', false],
    ['dmin.example.com', false],
    ['com.example', false],
    ['', false],
    [',', false],
  ])('with NO_PROXY %j leaves admin.example.com out: %s', (list, isExcepted) => {
    const variables = { HTTPS_PROXY: PROXY, NO_PROXY: list };
    expect(proxyFor('https://admin.example.com', variables) === null).toBe(isExcepted);
  });

  it.each([
    ['10.1.2.3', 'https://10.1.2.3', true],
    ['10.0.0.0/8', 'https://10.1.2.3', true],
    ['10.0.0.0/8', 'https://11.1.2.3', false],
    ['10.0.0.0/99', 'https://10.1.2.3', false],
    ['fd00::/8', 'https://[fd00::1]', true],
    ['[fd00::1]:443', 'https://[fd00::1]', true],
    ['fd00::1', 'https://[fd00::1]', true],
    ['fd00::/8', 'https://10.1.2.3', false],
  ])('with NO_PROXY %s leaves %s out: %s', (list, url, isExcepted) => {
    const variables = { HTTPS_PROXY: PROXY, no_proxy: list };
    expect(proxyFor(url, variables) === null).toBe(isExcepted);
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

  it('is as limited in size as a direct one', async () => {
    const proxy = await startTunnelProxy({ port: await target('x'.repeat(1_001)) });
    closers.push(proxy.close);
    vi.stubEnv('HTTP_PROXY', proxy.url);

    expect(await ask('http://admin.test')).toMatchObject({ fault: 'too-large' });
  });

  it('that the proxy refuses names proxy and status, and was not sent', async () => {
    const proxy = await startTunnelProxy({ port: 1, refuses: 407 });
    closers.push(proxy.close);
    vi.stubEnv('HTTP_PROXY', proxy.url.replace('://', '://me:secret@'));

    expect(await ask('http://admin.test')).toMatchObject({
      fault: 'not-sent',
      message: `the proxy ${proxy.url} refuses the connection (407)`,
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
