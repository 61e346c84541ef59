import { beforeAll, describe, expect, it } from 'vitest';
import { ConsoleBrowser, signInTo, type Page } from '../support/console-browser.js';
import { aShopWithConsole } from '../support/console-story.js';
import { callsOf, type ServiceCalls } from '../support/service-calls.js';
import type { TestService } from '../support/service.js';

/** The statements of the console alone, which no endpoint sends: what it keeps of sessions, and how it searches keys. */
let service: TestService;
let client: ServiceCalls;
let now = Date.now();

beforeAll(async () => {
  service = await aShopWithConsole({ clock: () => now });
  client = callsOf(service);
  return async () => service.stop();
});

describe('a session', () => {
  it('ends after eight hours, with its key, and by signing out, also for a copy of the cookie', async () => {
    const [late, revoked, left] = [
      await signInTo(service),
      new ConsoleBrowser(service),
      await signInTo(service),
    ];
    const made = await client.ok<{ id: string; key: string }>('POST', '/apiKeys', { name: 'x' });
    await revoked.signIn(made.key);
    expect((await revoked.get('/')).text).toContain('checkout-v2');
    await client.ok('DELETE', `/apiKeys/${made.id}`);
    const out = await left.post('/console/sign-out', { token: await left.token() });
    const early = [await revoked.get('/'), await left.get('/')];
    const before = await late.get('/');
    now += 8 * 3_600_000;

    expect(out.headers.get('set-cookie')).toContain('Max-Age=0');
    expect(before.text).toContain('checkout-v2');
    for (const { text } of [...early, await late.get('/')]) {
      expect(text).toContain('<h1>Sign in</h1>');
    }
  });

  it('is kept in the store as a hash', async () => {
    const browser = await signInTo(service);
    const secret = browser.cookie.split('=')[1] ?? '';

    expect(secret).toHaveLength(43);
    expect((await browser.get('/')).text).not.toContain(secret);
    browser.cookie = `${browser.cookie.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`;
    expect((await browser.get('/')).text).toContain('<h1>Sign in</h1>');
  });
});

it('the keys of a segment are found by a part of them, page by page', async () => {
  const browser = await signInTo(service);
  // The store keeps 500 in a block.
  const more = Array.from({ length: 1_000 }, (_, index) => `visitor-${index + 1_000}`);
  await client.ok('PUT', '/segments/production/beta-testers/upload', more);
  const segments = await browser.get('/console/segments');
  const path = /href="(\/console\/keys[^"]*)"\s*>production/.exec(segments.text)?.[1] ?? '';
  const at = path.replaceAll('&amp;', '&');
  const first = await browser.get(at);
  const after = /after=(user-\d+)/.exec(first.text)?.[1];
  const second = await browser.get(`${at}&after=${after ?? ''}`);
  const found = await browser.get(`${at}&q=ER-044`);
  const last = await browser.get(`${at}&q=TOR-1999`);
  const none = await browser.get(`${at}&q=%25`);

  const keys = (page: Page): string[] => page.text.match(/<li>user-\d+/g) ?? [];
  expect(segments.text).toContain('production: 1450 keys');
  expect([keys(first).length, keys(second)[0]]).toEqual([200, '<li>user-0200']);
  expect(keys(found)).toHaveLength(10);
  expect(last.text).toContain('<li>visitor-1999');
  expect(none.text).toContain('No such key.');
});
