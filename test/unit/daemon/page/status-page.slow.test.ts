import { describe, expect, it } from 'vitest';
import { axeViolations, scrollsSideways, withPage, type Page } from '../../../support/browser.js';
import { aBadMorning, aHeldEvening, anAfternoon } from '../../../support/daemon-story.js';
import {
  aRun,
  aSource,
  appliedReport,
  DaemonInMemory,
  minutesAgo,
} from '../../../support/daemon-view.js';
import { startTestOperations } from '../../../support/operations.js';
import { aChange, aReport, aWithheld, COMMIT } from '../../../support/plan-builder.js';
import { aStory } from '../../../support/plan-builder-story.js';
import { lacks } from '../../../support/requirements.js';

const LOOKS = [
  { width: 1280, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const;

interface Rects {
  readonly getClientRects: () => readonly unknown[];
}

const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

const DOWN = { what: 'service', why: 'no answer', since: minutesAgo(1) } as const;

/** Every place of the page that somebody else's words come to. */
function hostileSource() {
  const text = `${HOSTILE} \u202Eevil\u202C ${'w'.repeat(3_000)}`;
  const commit = { commit: HOSTILE, subject: text, committedAt: minutesAgo(3) };
  const held = aWithheld('flag/legacy@production', 'update', 'drift-reported', { because: text });
  const run = aRun(aReport({ withheld: [held] }), {
    subject: text,
    summary: text,
    text: `${text}\n${text}\n`,
    commit: HOSTILE,
    result: 'failed',
    diagnostics: [{ severity: 'error', code: text, file: text, line: 1, column: 1, message: text }],
    kills: [{ id: text, reason: text, by: text, since: text }],
  });
  return aSource({
    location: text,
    branch: text,
    service: text,
    workspace: text,
    environments: ['staging', text],
    runs: [run],
    seen: commit,
    applied: { ...commit, commit: COMMIT },
    suspended: { reason: text, until: null },
    pinned: { reason: text, until: minutesAgo(-5), commit: HOSTILE },
    troubles: [{ what: 'service', why: text, since: minutesAgo(3) }],
  });
}

/** Words that stand on two lines, though neither a space nor a hyphen is in them; of names the parts between their signs. */
async function brokenWords(page: Page): Promise<unknown> {
  return page.evaluate(`(() => {
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    const broken = [];
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (node.parentElement.closest('pre, code')) continue;
      for (const { 0: word, index } of node.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        if (range.getClientRects().length > 1) broken.push(word);
      }
    }
    return broken;
  })()`);
}

async function textOf(page: Page): Promise<string> {
  return (await page.locator('body').innerText()).replaceAll(/\s+/g, ' ');
}

async function wasHacked(page: Page): Promise<unknown> {
  return page.evaluate('[window.hacked, document.querySelectorAll("img, main script").length]');
}

describe.skipIf(lacks('chromium'))('the status page', { timeout: 60_000 }, () => {
  it.each(LOOKS)(
    'can be read by everybody and fits the window, $width wide and $colorScheme',
    async (look) => {
      const sources = [
        ...anAfternoon(),
        ...aBadMorning().map(({ name, ...rest }) => ({ name: `${name}-2`, ...rest })),
        ...aHeldEvening().map((each) => ({ ...each, name: 'held', troubles: [DOWN] })),
      ];
      await using operations = await startTestOperations(new DaemonInMemory(...sources), {
        tokens: ['the-token'],
      });

      const seen = await withPage(`${operations.url}/`, look, async (page) => {
        // What is folded away has to be readable as well.
        await page.evaluate(
          'document.querySelectorAll("details").forEach((each) => (each.open = true))',
        );
        const violations = await axeViolations(page);
        const [sideways, broken] = [await scrollsSideways(page), await brokenWords(page)];
        await page.getByRole('button', { name: 'Suspend' }).first().click();
        violations.push(...(await axeViolations(page)));
        await page.getByRole('button', { name: 'Cancel' }).click();
        await page.getByRole('button', { name: 'Approve' }).click();
        violations.push(...(await axeViolations(page)));
        const asks = (await page.getByRole('dialog').innerText()).replaceAll(/\s+/g, ' ');
        return { violations, sideways, broken, asks };
      });

      const asks = expect.stringMatching(
        /^Approve: held 1 change refused by a guard \(maxShift\)\. .*A guard refuses this plan .*change on 25 → 100 %/,
      ) as string;
      expect(seen).toEqual({ violations: [], sideways: false, broken: [], asks });
    },
  );

  it('breaks no name of an environment in the middle on a phone, and links commits of a forge', async () => {
    const wrote = aRun(appliedReport(aReport({ changes: [aChange('flag/a@staging', 'update')] })));
    const runs = [aRun(null), wrote];
    const source = aSource({ location: 'https://github.com/shop/flags.git', runs });
    await using operations = await startTestOperations(new DaemonInMemory(source));

    const seen = await withPage(`${operations.url}/`, { width: 390 }, async (page) => {
      const lines = async (selector: string): Promise<number[]> =>
        page
          .locator(selector)
          .evaluateAll((all) =>
            all.map((each) => (each as unknown as Rects).getClientRects().length),
          );
      return {
        rows: await lines('table:not(.matrix) tbody th bdi'),
        commits: await lines('td code'),
        commit: await page.locator('.facts a').first().getAttribute('href'),
        sideways: await scrollsSideways(page),
      };
    });

    expect(seen).toEqual({
      rows: [1, 1],
      commits: [1],
      commit: `https://github.com/shop/flags/commit/${COMMIT}`,
      sideways: false,
    });
  });

  it.each(['/', '/runs/hostile'])(
    'takes words of others for text and nothing else on %s',
    async (path) => {
      const source = hostileSource();
      const runs = source.runs.map((run) => ({ ...run, id: 'hostile' }));
      await using operations = await startTestOperations(new DaemonInMemory({ ...source, runs }));

      const seen = await withPage(operations.url + path, { width: 390 }, async (page) => ({
        hacked: await wasHacked(page),
        text: await textOf(page),
        sideways: await scrollsSideways(page),
        violations: await axeViolations(page),
      }));

      expect(seen.hacked).toEqual([undefined, 0]);
      expect(seen.text).toContain(HOSTILE);
      expect(seen.text).toContain('<U+202E>evil');
      expect(seen.sideways).toBe(false);
      expect(seen.violations).toEqual([]);
    },
  );

  it('runs no script but its own, even if markup slipped in', async () => {
    await using operations = await startTestOperations(new DaemonInMemory(aSource()));

    const hacked = withPage(`${operations.url}/`, {}, async (page) => {
      await page.evaluate(
        `document.body.insertAdjacentHTML('beforeend', '<a onclick="window.hacked=1" id="slipped">x</a>')`,
      );
      await page.evaluate('document.getElementById("slipped").click()');
      return page.evaluate('window.hacked');
    });

    // The page complains of what its policy stopped.
    await expect(hacked).rejects.toThrow(/Content Security Policy/);
  });

  it('finds flags by words and by state, follows the daemon while it is open, and leaves all as it was set', async () => {
    const daemon = new DaemonInMemory(...aHeldEvening());
    await using operations = await startTestOperations(daemon);

    const seen = await withPage(`${operations.url}/`, {}, async (page) => {
      await page.getByText('live', { exact: true }).waitFor();
      const names = async (): Promise<string[]> =>
        page.locator('.matrix tbody tr:visible th').allInnerTexts();
      await page.getByLabel('Search').fill('new-');
      const byWord = await names();
      await page.getByLabel('Search').fill('');
      await page.getByLabel('State').selectOption({ label: 'killed (2)' });
      const byState = await names();
      await page.evaluate('document.querySelector(".matrix tbody tr").marked = true');
      await page.getByText('The last report with something in it').click();
      await page.getByRole('link', { name: 'applied', exact: true }).focus();
      const focused = await page.evaluate('document.activeElement.id');
      const source = daemon.end(aRun(aReport(), { result: 'failed', summary: 'no key was given' }));
      await page.getByRole('heading', { name: 'The last run failed' }).waitFor();
      // A second time, long before the page would ask of itself: the first may have met its first look.
      daemon.show({ ...source, troubles: [DOWN] });
      await page.getByRole('heading', { name: 'cannot be reached' }).waitFor({ timeout: 10_000 });
      return {
        ...{ byWord, byState, later: await names(), title: await page.title() },
        shown: await page.locator('output').innerText(),
        // The rows that did not change are still the same elements.
        kept: await page.evaluate('document.querySelector(".matrix tbody tr").marked'),
        isOpen: await page.evaluate('document.querySelector("#plan-shop-flags").open'),
        keptFocus: (await page.evaluate('document.activeElement.id')) === focused,
      };
    });

    const killed = ['payments', 'search-ranking'];
    expect(seen).toEqual({
      ...{ byWord: ['new-checkout'], byState: killed, later: killed, shown: '2 of 6' },
      title: 'The service cannot be reached · flagkeel',
      ...{ kept: true, isOpen: true, keptFocus: true },
    });
  });

  it('says that no answer comes, is not green then, and follows the daemon again when it answers', async () => {
    await using operations = await startTestOperations(new DaemonInMemory(aSource()));

    await withPage(`${operations.url}/`, {}, async (page) => {
      const look = async (): Promise<unknown> =>
        page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
      const says = async (word: string): Promise<string> => {
        await page.getByText(word, { exact: true }).waitFor();
        return page.evaluate<string>(
          'getComputedStyle(document.querySelector(".verdict")).borderInlineStartColor',
        );
      };
      const green = await says('live');
      // The browser complains of each answer below.
      page.removeAllListeners('console');
      await page.route('**/', async (route) => route.fulfill({ status: 503 }));
      await look();
      expect(await says('not updated: HTTP 503')).not.toBe(green);
      await page.unrouteAll();
      await look();
      expect(await says('live')).toBe(green);

      // A proxy answers for the daemon, and then nothing answers.
      await page.route('**/events', async (route) => route.fulfill({ status: 502 }), { times: 1 });
      await page.reload();
      await says('reconnecting');
      await page.route('**/', () => undefined);
      await look();
      expect(await says('not reachable')).not.toBe(green);
      await page.unrouteAll();
      expect(await says('live')).toBe(green);
    });
  });

  it('keeps a dialog open that asks something else when the answer to the one before comes', async () => {
    const daemon = new DaemonInMemory(aSource());
    await using operations = await startTestOperations(daemon, { tokens: ['the-token'] });

    const isOpen = await withPage(`${operations.url}/`, {}, async (page) => {
      const dialog = page.getByRole('dialog');
      let answer = (): void => undefined;
      await page.route('**/reconcile', async (route) => {
        await new Promise<void>((resolve) => (answer = resolve));
        await route.continue();
      });
      await page.getByRole('button', { name: 'Sync' }).click();
      await dialog.getByLabel('Token').fill('the-token');
      await dialog.getByRole('button', { name: 'Sync' }).click();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Suspend' }).click();
      // The page looks again once it has the answer.
      const looked = page.waitForResponse('**/');
      answer();
      await looked;
      return dialog.isVisible();
    });

    expect([isOpen, daemon.asked]).toEqual([true, ['trigger shop-flags request']]);
  });

  it('asks for the plan that was seen, though the page shows another by then, and forgets the token', async () => {
    const [first, other] = ['a', 'b'].map((letter) => `sha256:${letter.repeat(64)}`);
    const held = (heldHash = '') => {
      const changes = [aChange('flag/pay@production', 'update')];
      const finding = {
        guard: 'maxShift',
        environment: 'production',
        found: 60,
        limit: 5,
      } as const;
      const report = aReport({ changes }, { guardFindings: [finding] });
      return aSource({ runs: [aRun({ ...report, heldHash })] });
    };
    const daemon = new DaemonInMemory(held(first));
    await using operations = await startTestOperations(daemon, { tokens: ['the-token'] });

    const seen = await withPage(`${operations.url}/`, {}, async (page) => {
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: 'Approve' }).click();
      const says = await dialog.locator('#ask-says').innerText();
      daemon.show(held(other));
      await page.locator(`button[data-says*="${String(other)}"]`).waitFor({ state: 'attached' });
      daemon.show(held(first));
      await dialog.getByLabel('Your name').fill('ana');
      await dialog.getByLabel('Token').fill('the-token');
      await dialog.getByRole('button', { name: 'Approve' }).click();
      await dialog.waitFor({ state: 'hidden' });
      await page.getByRole('button', { name: 'Sync' }).click();
      return { says, token: await dialog.getByLabel('Token').inputValue() };
    });

    expect(seen).toEqual({
      says: `1 change refused by a guard (maxShift). The next run writes it, if the plan still has the hash ${String(first)}.`,
      token: '',
    });
    expect(daemon.asked).toEqual([
      `approve shop-flags ${String(first)} by ana until ${minutesAgo(-60)}: no reason given`,
    ]);
  });
});

describe.skipIf(lacks('chromium'))(
  'the page of a run, and that of a flag',
  { timeout: 60_000 },
  () => {
    it.each(LOOKS)('can be read by everybody, $width wide and $colorScheme', async (look) => {
      const [held] = aHeldEvening();
      const run = aRun(appliedReport(aStory()));
      const source = aSource({ ...held, runs: [run, ...(held?.runs ?? [])] });
      await using operations = await startTestOperations(new DaemonInMemory(source));

      for (const path of [`runs/${run.id}`, `flags/${source.name}/search-ranking`]) {
        const seen = await withPage(`${operations.url}/${path}`, look, async (page) => ({
          violations: await axeViolations(page),
          sideways: await scrollsSideways(page),
          back: await page
            .getByRole('link', { name: 'Status' })
            .evaluate((a) => (a as unknown as URL).href),
        }));

        expect(seen).toEqual({ violations: [], sideways: false, back: `${operations.url}/` });
      }
    });
  },
);
