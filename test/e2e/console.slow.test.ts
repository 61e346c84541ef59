import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { axeViolations, scrollsSideways, withPage, type Page } from '../support/browser.js';
import { aShopWithConsole, askForALargeChange, askForChanges } from '../support/console-story.js';
import { lacks } from '../support/requirements.js';
import { callsOf } from '../support/service-calls.js';
import type { TestService } from '../support/service.js';

describe.skipIf(lacks('chromium'))('the console in a browser', { timeout: 90_000 }, () => {
  let service: TestService;

  beforeEach(async () => {
    service = await aShopWithConsole();
  });

  afterEach(async () => {
    await service.stop();
  });

  async function signIn(page: Page, key = service.key): Promise<void> {
    await page.getByLabel('Admin API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Flags' }).waitFor();
  }

  it('signs in, kills with a reason, and restores by keyboard alone, lists both, and signs out', async () => {
    await withPage(`${service.origin}/`, {}, async (page) => {
      const press = async (...words: readonly string[]): Promise<void> => {
        for (const word of words) await page.keyboard.press(word);
      };
      const flags = async (): Promise<void> =>
        page.getByRole('heading', { name: 'Flags' }).waitFor();
      /** Goes on with Tab to what has the focus under that name. */
      const tabTo = async (name: string): Promise<void> => {
        for (let steps = 0; steps < 60; steps += 1) {
          const focused = await page.evaluate('document.activeElement.textContent.trim()');
          if (focused === name) return;
          await press('Tab');
        }
        throw new Error(`no Tab leads to ${name}`);
      };
      const change = async (word: 'Kill' | 'Restore', reason: string): Promise<string> => {
        await tabTo(`${word} new-search in production…`);
        await press('Enter');
        await page.getByLabel('Reason').waitFor();
        // The reason has the focus already.
        await page.keyboard.type(reason);
        await tabTo(word);
        await press('Enter');
        await flags();
        return page.getByRole('article').innerText();
      };
      await press('Tab');
      await page.keyboard.type(service.key);
      await press('Enter');
      await flags();
      await page.getByLabel('Part of the name').fill('search');
      await press('Enter');
      await page.getByText('1 flag', { exact: true }).waitFor();

      expect(await change('Kill', 'Wrong results')).toContain('killed: everybody gets off');
      expect(await change('Restore', 'Mended')).not.toContain('killed');
      await page.getByRole('link', { name: 'new-search', exact: true }).click();
      await page.getByRole('heading', { name: 'History' }).waitFor();
      const log = await page.getByRole('list', { name: 'Changes' }).innerText();
      expect(log).toMatch(
        /By hand in the console: Mended[^]*By hand in the console: Wrong results/,
      );
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    });
  });

  it('decides on change requests: a flag leads to the request, and another key approves it', async () => {
    await askForChanges(service);
    const client = callsOf(service);
    const { key } = await client.ok<{ key: string }>('POST', '/apiKeys', { name: 'second' });
    await withPage(`${service.origin}/`, {}, async (page) => {
      await signIn(page, key);
      await page.getByRole('link', { name: 'A change request is open' }).click();
      await page.getByRole('heading', { name: 'Decide' }).waitFor();
      const buttons = await page.locator('.decisions button').allInnerTexts();
      await page.getByLabel('Reason').fill('Seen by two');
      await page.getByRole('button', { name: 'Approve and publish' }).click();
      await page.getByText('approved and made').waitFor();
      const text = await page.locator('main').innerText();
      await page.getByRole('link', { name: 'Flags', exact: true }).click();
      const open = page.getByRole('link', { name: 'A change request is open' });

      // A key without restrictions may also end a request whose author is gone.
      expect(buttons).toEqual(['Approve and publish', 'Reject', 'Withdraw']);
      expect(text).toContain('Seen by two');
      expect(await page.getByText('traffic allocation 80 %').count()).toBe(1);
      expect(await open.count()).toBe(0);
    });
  });

  it('leads through long lists, to another workspace, and back from a kill that is left', async () => {
    const client = callsOf(service);
    for (let number = 0; number < 51; number += 1) {
      const name = `more-${String(number).padStart(2, '0')}`;
      await client.ok('POST', '/splits/ws/Shop/trafficTypes/user', { name, description: '' });
      await client.ok('POST', '/segments/ws/Shop/trafficTypes/user', { name, description: '' });
    }
    await withPage(`${service.origin}/`, {}, async (page) => {
      await signIn(page);
      const follow = async (name: string): Promise<void> =>
        page.getByRole('link', { name, exact: true }).click();
      const isShown = async (text: string): Promise<void> =>
        page.getByText(text, { exact: true }).waitFor();

      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.waitForURL(({ hash }) => hash === '#main');
      await follow('Next');
      await isShown('more-30');
      await follow('Previous');
      await isShown('more-00');
      await page.getByLabel('Part of the name').fill('new-');
      await page.getByRole('button', { name: 'Search' }).click();
      await follow('Kill new-search in production…');
      await follow('Leave it');
      await isShown('1 flag');
      await follow('new-search');
      await follow('log of new-search');
      await page.getByLabel('Object').fill('segment/more-50');
      await page.getByRole('button', { name: 'Show' }).click();
      await page.locator('li', { hasText: 'create segment/more-50' }).waitFor();
      await follow('Log');
      await follow('Older');
      await page.locator('li', { hasText: 'create segment/more-10' }).waitFor();
      await follow('Segments');
      await follow('Next');
      await isShown('more-50');
      await follow('Previous');
      await follow('production: 450 keys');
      await follow('More keys');
      await isShown('user-0200');
      await page.getByLabel('Part of a key').fill('user-044');
      await page.getByRole('button', { name: 'Search' }).click();
      await isShown('user-0449');
      expect(await page.getByRole('list', { name: 'Keys' }).getByRole('listitem').count()).toBe(10);
      await follow('Warehouse');
      await isShown('0 segments');
      await follow('Flags');
      await isShown('0 flags');

      // A page of its own, because Chromium complains of the refusal in its console.
      const refused = await page.context().newPage();
      await refused.goto(`${service.origin}/console/flag?ws=nothing&flag=nothing`);
      await refused.getByRole('link', { name: 'To the flags' }).click();
      await refused.getByRole('heading', { name: 'Flags' }).waitFor();
    });
  });

  it.each([
    { colorScheme: 'light', width: 1280 },
    { colorScheme: 'dark', width: 390 },
  ] as const)('is fit for everybody, $colorScheme at $width px', async (options) => {
    await withPage(`${service.origin}/`, options, async (page) => {
      await askForChanges(service);
      await askForALargeChange(service);
      const found: Record<string, unknown> = {};
      const look = async (name: string): Promise<void> => {
        for (const fold of await page.locator('summary').all()) await fold.click();
        // Words are no links: nothing in a difference looks as if it could be pressed.
        const pressable = await page.evaluate(
          `[...document.querySelectorAll('.diff bdi')].filter((each) => getComputedStyle(each).textDecorationLine !== 'none').length`,
        );
        found[name] = [await axeViolations(page), await scrollsSideways(page), pressable];
      };
      await look('sign in');
      await signIn(page);
      // One page of each kind, and each change request. What is found is looked at in its turn.
      const pages = new Map([['/', `${service.origin}/`]]);
      for (const [name, url] of pages) {
        await page.goto(url);
        await look(name);
        for (const link of await page.locator('a[href^="/"]').all()) {
          const next = new URL((await link.getAttribute('href')) ?? '', service.origin);
          const kind = next.pathname + (next.searchParams.get('id') ?? '');
          if (!pages.has(kind)) pages.set(kind, next.href);
        }
      }

      expect(pages.size).toBeGreaterThan(10);
      expect(found).toEqual(
        Object.fromEntries(Object.keys(found).map((name) => [name, [[], false, 0]])),
      );
    });
  });
});
