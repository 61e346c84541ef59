import { describe, expect, it } from 'vitest';
import { axeViolations, scrollsSideways, withPage, type Page } from '../../../support/browser.js';
import {
  aBadMorning,
  aHeldEvening,
  aLiveFlag,
  anAfternoon,
} from '../../../support/daemon-story.js';
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

interface Box {
  readonly getBoundingClientRect: () => { readonly width: number };
}

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
        return { violations, sideways, broken };
      });

      expect(seen).toEqual({ violations: [], sideways: false, broken: [] });
    },
  );

  it('shows the share of a flag as a bar of that width', async () => {
    const flags = [aLiveFlag('checkout', 25, { trafficAllocation: 50 })];
    const source = aSource({ flags: [{ environment: 'production', total: 1, flags }] });
    await using operations = await startTestOperations(new DaemonInMemory(source));

    const [bar = 0, on = 0] = await withPage(`${operations.url}/`, {}, async (page) => {
      const share = page.locator('.share').first();
      return share
        .or(share.locator('rect'))
        .evaluateAll((all) =>
          all.map((each) => (each as unknown as Box).getBoundingClientRect().width),
        );
    });

    // A quarter of half of the traffic; the border of the bar takes a little.
    expect(bar / on).toBeCloseTo(8, 0);
  });

  it('finds flags by words and by state, and keeps both while the daemon goes on', async () => {
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
      daemon.end(aRun(aReport(), { result: 'failed', summary: 'no key was given' }));
      await page.getByRole('heading', { name: 'The last run failed' }).waitFor();
      const later = await names();
      const kept = await page.evaluate('document.querySelector(".matrix tbody tr").marked');
      return { byWord, byState, later, kept, shown: await page.locator('output').innerText() };
    });

    expect(seen).toEqual({
      byWord: ['new-checkout'],
      byState: ['payments', 'search-ranking'],
      later: ['payments', 'search-ranking'],
      // The rows that did not change are still the same elements.
      kept: true,
      shown: '2 of 6',
    });
  });

  it('breaks no name of an environment in the middle on a phone, and links commits of a forge', async () => {
    const wrote = aRun(appliedReport(aReport({ changes: [aChange('flag/a@staging', 'update')] })));
    const runs = [aRun(null), wrote];
    const source = aSource({ location: 'https://github.com/shop/flags.git', runs });
    await using operations = await startTestOperations(new DaemonInMemory(source));

    const seen = await withPage(`${operations.url}/`, { width: 390 }, async (page) => ({
      rows: await page
        .locator('tbody th bdi')
        .evaluateAll((all) =>
          all.map((each) => (each as unknown as Rects).getClientRects().length),
        ),
      commits: await page
        .locator('td code')
        .evaluateAll((all) =>
          all.map((each) => (each as unknown as Rects).getClientRects().length),
        ),
      commit: await page.locator('.facts a').first().getAttribute('href'),
      sideways: await scrollsSideways(page),
    }));

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

  it('follows the daemon while it is open, and leaves open what was opened', async () => {
    const daemon = new DaemonInMemory(aSource({ runs: [aRun(appliedReport(aStory()))] }));
    await using operations = await startTestOperations(daemon);

    const seen = await withPage(`${operations.url}/`, {}, async (page) => {
      await page.getByText('live', { exact: true }).waitFor();
      await page.getByText('The last report with something in it').click();
      const run = page.getByRole('link', { name: 'applied', exact: true });
      await run.focus();
      const focused = await page.evaluate('document.activeElement.id');
      daemon.end(aRun(aReport(), { result: 'failed', summary: 'no key was given' }));
      await page.getByRole('heading', { name: 'The last run failed' }).waitFor();
      // A second time, long before the page would ask of itself: the first may have met its first look.
      daemon.show(aSource({ runs: daemon.sources()[0]?.runs ?? [], troubles: [DOWN] }));
      await page.getByRole('heading', { name: 'cannot be reached' }).waitFor({ timeout: 10_000 });
      return {
        title: await page.title(),
        isOpen: await page.evaluate('document.querySelector("details").open'),
        keptFocus: (await page.evaluate('document.activeElement.id')) === focused,
      };
    });

    expect(seen).toEqual({
      title: 'The service cannot be reached · flagkeel',
      isOpen: true,
      keptFocus: true,
    });
  });

  it.each(LOOKS)(
    'says what is held and asks for leave, $width wide and $colorScheme',
    async (look) => {
      const away = aHeldEvening().map((each) => ({ ...each, name: 'away', troubles: [DOWN] }));
      const daemon = new DaemonInMemory(...aHeldEvening(), ...away);
      await using operations = await startTestOperations(daemon, { tokens: ['the-token'] });

      const seen = await withPage(`${operations.url}/`, look, async (page) => {
        const text = await textOf(page);
        const violations = await axeViolations(page);
        const sideways = await scrollsSideways(page);
        // The second of them asks while its service is away.
        await page.getByRole('button', { name: 'Approve' }).nth(1).click();
        violations.push(...(await axeViolations(page)));
        const asks = await page.getByRole('dialog').innerText();
        return { text, violations, sideways, asks };
      });

      expect(seen.violations).toEqual([]);
      expect(seen.sideways).toBe(false);
      expect(seen.asks).toMatch(/^Approve: away\n+1 change refused by a guard \(maxShift\)\. /);
      const evidence = [
        'A guard refuses this plan · flag/new-checkout in production will be updated: on 25 → 100 %',
        'Limit: production: up to 75 % of the traffic gets another treatment, the limit is 20 % (maxShift)',
        'flag new-checkout',
        'environment production',
        'change on 25 → 100 %',
        'commit 3f9c2ab Give the new checkout to everybody',
      ];
      const asks = seen.asks.replaceAll(/\s+/g, ' ');
      expect(evidence.filter((words) => !asks.includes(words))).toEqual([]);
      expect(seen.text).toContain('1 change refused by a guard (maxShift).');
      expect(seen.text).toContain('5 % done, 20 % now, 50 %, 100 %. It waits: it is killed.');
    },
  );

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
