import { beforeAll, describe, expect, it } from 'vitest';
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
import { startTestOperations, type TestOperations } from '../../../support/operations.js';
import {
  aChange,
  aField,
  aReport,
  aWithheld,
  COMMIT,
  keyChange,
} from '../../../support/plan-builder.js';
import { standingsUnder } from '../../../../src/daemon/standings.js';
import type { Outcome } from '../../../../src/model/outcome.js';
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

  it('says first what somebody on call needs, and then why', async () => {
    await using operations = await startTestOperations(new DaemonInMemory(...anAfternoon()));

    const text = await withPage(`${operations.url}/`, {}, textOf);

    const order = [
      '1 of 2 sources to look at',
      'shop-flags',
      '1 object waiting',
      'full look 14:11 UTC, in 6 min',
      'production ! 1 object waiting 3f9c2ab 13:44 UTC, 21 min ago',
      'What 6 flags serve',
      'Flag production as of 14:01 UTC, 4 min ago staging as of 14:01 UTC, 4 min ago',
      'checkout on 25 % 3 keys, 2 rules on 100 %',
      'legacy on 60 % of 50 % ◷ changed on the service, which the config leaves so off 100 %',
      'payments ⊘ killed: everybody gets off not declared',
      'flag/legacy@production changed on the service, which the config leaves so as of',
      'flagkeel reconcile --revert-drift --only',
      '! flag/legacy@production would be updated: changed outside git, which is reported here',
      'applied 3f9c2ab Ramp checkout to 25 %',
      '3 looks, since 13:11 UTC',
      'search-flags',
    ];
    const places = order.map((words) => text.indexOf(words));
    expect(Object.fromEntries(order.map((words, i) => [words, places[i] !== -1]))).toEqual(
      Object.fromEntries(order.map((words) => [words, true])),
    );
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it('names what was to be looked at again', async () => {
    const due = { id: 'flag/pay@production', what: 'review', due: '2026-10-01' } as const;
    const runs = [aRun(aReport({}, { reminders: [{ ...due, reason: 'INC-1 <b>', by: 'ana' }] }))];
    await using operations = await startTestOperations(new DaemonInMemory(aSource({ runs })));

    const text = await withPage(`${operations.url}/`, {}, textOf);

    expect(text).toContain(
      'To be looked at again The kill of flag/pay@production was to be reviewed by 2026-10-01; it stays until a commit takes it back: INC-1 <b>, by ana.',
    );
  });

  it('is green nowhere while nobody knows, and says of when the figures are', async () => {
    const old = aRun(aReport(), { startedAt: minutesAgo(585) });
    const source = aSource({ runs: [aRun(null, { result: 'failed' }), old], troubles: [DOWN] });
    await using operations = await startTestOperations(new DaemonInMemory(source));

    const seen = await withPage(`${operations.url}/`, {}, async (page) => ({
      text: await textOf(page),
      green: await page.locator('table .mark.fine').count(),
    }));

    expect(seen.text).toContain('production ! not known now; no objects as of 04:20 UTC, 9 h ago');
    expect(seen.green).toBe(0);
  });

  it('shows what is wrong in a broken commit, what git keeps killed, and what withheld changes would do', async () => {
    const held = aWithheld('flag/legacy@production', 'update', 'drift-reported', {
      fields: [aField('/defaultTreatment', 'on', 'off')],
      keys: keyChange(['user-1'], []),
    });
    const where = { file: 'flags/pay.yaml', line: 3, column: 1 };
    const wrong = { severity: 'error', code: 'unknown-field', ...where } as const;
    const id = 'flag/pay@production';
    const since = '2026-10-03T22:14:00Z';
    const runs = [
      aRun(null, { result: 'invalid', diagnostics: [{ ...wrong, message: 'no field "trafic"' }] }),
      aRun(aReport({ withheld: [held] }), {
        kills: [
          { id, reason: 'INC-6012 double charges', by: 'ana', since },
          { id: 'flag/old@staging', reason: null, by: null, since: null },
        ],
      }),
    ];
    await using operations = await startTestOperations(new DaemonInMemory(aSource({ runs })));

    const text = await withPage(`${operations.url}/`, {}, textOf);

    expect(text).toContain('flags/pay.yaml:3:1 error unknown-field no field "trafic"');
    expect(text).toContain(`${id}: INC-6012 double charges, by ana, since ${since}`);
    expect(text).toContain('flag/old@staging: its file says killed: true');
    expect(text).toContain('defaultTreatment: on → off +1 −0 keys →');
  });

  it('says of no environment that all is well there while some specs are invalid', async () => {
    const wrong = {
      code: 'unknown-field',
      file: 'flags/pay.yaml',
      line: 3,
      column: 1,
      message: '',
    };
    const diagnostics = [{ severity: 'error', ...wrong } as const];
    const runs = [aRun(aReport({}, { held: ['flag/pay'] }), { result: 'degraded', diagnostics })];
    await using operations = await startTestOperations(new DaemonInMemory(aSource({ runs })));

    const seen = await withPage(`${operations.url}/`, {}, async (page) => ({
      text: await textOf(page),
      green: await page.locator('table .mark.fine, .verdict.fine, .says .mark.fine').count(),
    }));

    expect(seen.text).toContain('production ! no objects; part of the specs is invalid');
    expect(seen.green).toBe(0);
  });

  it('shows the share of each flag, as words and as a bar of that width', async () => {
    const flags = [
      aLiveFlag('checkout', 25, { rules: 2, targets: 1, trafficAllocation: 50 }),
      aLiveFlag('payments', 100, { killed: true }),
      { ...aLiveFlag('lost', 0), serves: null },
    ];
    const environment = 'production';
    const source = aSource({ flags: [{ environment, total: 12, flags }] });
    await using operations = await startTestOperations(new DaemonInMemory(source));

    const seen = await withPage(`${operations.url}/`, {}, async (page) => {
      const bar = page.locator('.share').first();
      const widths = await bar
        .or(bar.locator('rect'))
        .evaluateAll((all) =>
          all.map((each) => (each as unknown as Box).getBoundingClientRect().width),
        );
      return { widths, text: await textOf(page) };
    });

    // A quarter of half of the traffic; the border of the bar takes a little.
    const [bar = 0, on = 0] = seen.widths;
    expect(bar / on).toBeCloseTo(8, 0);
    expect(seen.text).toContain('What 12 flags serve');
    expect(seen.text).toContain(
      'checkout on 25 % of 50 %, 1 key, 2 rules lost not on the service payments ⊘ killed: everybody gets off',
    );
    expect(seen.text).toContain('and 9 more');
  });

  it('claims no share while none is known, and says since when', async () => {
    const [shop] = anAfternoon();
    const doubt = { why: 'service-away', since: minutesAgo(64) } as const;
    const standings = shop?.standings ? standingsUnder(shop.standings, doubt) : null;
    await using operations = await startTestOperations(
      new DaemonInMemory({ ...aSource(shop), standings }),
    );

    const seen = await withPage(`${operations.url}/`, {}, async (page) => ({
      text: await textOf(page),
      bars: await page.locator('.matrix .share').count(),
    }));

    expect(seen.bars).toBe(0);
    expect(seen.text).toContain('Flag production unknown since 13:01 UTC, 1 h ago');
    expect(seen.text).toContain('checkout last seen 14:01 UTC: on 25 % 3 keys, 2 rules ? unknown');
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

  it('shows a flag beside the matrix: its words, its ramp, what is open, and its last writes', async () => {
    const [held] = aHeldEvening();
    await using operations = await startTestOperations(new DaemonInMemory(aSource(held)));

    const seen = await withPage(`${operations.url}/`, {}, async (page) => {
      const panel = page.getByRole('dialog');
      const open = async (name: string): Promise<string> => {
        await page.getByRole('link', { name, exact: true }).click();
        await panel.getByRole('heading', { name, exact: true }).waitFor();
        const text = (await panel.innerText()).replaceAll(/\s+/g, ' ');
        violations.push(...(await axeViolations(page)));
        await panel.getByRole('button', { name: 'Close' }).click();
        return text;
      };
      const violations: string[] = [];
      const texts = [await open('new-checkout'), await open('search-ranking')];
      texts.push(await open('payments'));
      return { texts, violations };
    });

    const [open, ramp, written] = seen.texts;
    expect(seen.violations).toEqual([]);
    expect(open).toContain('in segment staff → on 100 % others → on 25 %, off 75 %');
    expect(open).toContain('flag/new-checkout@production will be updated: on 25 → 100 %');
    expect(ramp).toContain('⊘ killed on the service, not ordered by git');
    expect(ramp).toContain('Ramp of on: held, it is killed 5 % done 20 % now 50 % Mon 5 Oct');
    expect(written).toContain('Last writes production updated 13:44 UTC, 21 min ago');
    expect(written).toContain('killed: no → YES');
    expect(written).toContain('Ramp checkout to 25 % by a run of 3f9c2ab');
  });

  it('shows a flag without a script too', async () => {
    await using operations = await startTestOperations(new DaemonInMemory(...anAfternoon()));

    const page = await (await fetch(operations.url)).text();
    const [, href = ''] = /href="(flags\/[^"]*\/checkout)"/.exec(page) ?? [];
    const flag = await fetch(`${operations.url}/${href}`);
    const missing = await fetch(`${operations.url}/flags/shop-flags/nothing`);

    expect(await flag.text()).toContain('<h2><bdi>production</bdi></h2>');
    expect(missing.status).toBe(404);
  });

  it('names what no file declares, and shows what the last plan could not write', async () => {
    const change = aChange('flag/pay@production', 'update', {
      reason: 'drift',
      fields: [aField('/defaultTreatment', 'on', 'off')],
    });
    const error = {
      ...({ code: 'UNREADABLE', message: 'answered 500' } as const),
      ...{ status: 500, transactionId: null },
    };
    const unmanaged = { flags: 52, segments: 1 };
    const report = {
      ...aReport({ changes: [change], unmanaged }),
      outcomes: new Map<string, Outcome>([[change.id, { status: 'failed', error, partly: false }]]),
    };
    const names = { flags: ['banner'], segments: ['birds'] };
    const run = aRun(report, { result: 'partial', unmanaged: names });
    await using operations = await startTestOperations(
      new DaemonInMemory(aSource({ runs: [run] })),
    );

    const text = await withPage(`${operations.url}/`, {}, async (page) => {
      await page.getByText('53 objects of the workspace that no file declares').click();
      return textOf(page);
    });

    expect(text).toContain('flag/banner segment/birds and 51 more');
    expect(text).toContain(
      '✗ flag/pay@production failed: answered 500 (UNREADABLE, status 500) · drift: changed outside git defaultTreatment: on → off',
    );
  });

  it('has no buttons where nobody would answer them', async () => {
    const daemon = new DaemonInMemory(...anAfternoon());
    await using deaf = await startTestOperations(daemon);

    const buttons = await withPage(`${deaf.url}/`, {}, async (page) =>
      page.locator('main button:visible').count(),
    );

    expect(buttons).toBe(0);
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

  it('has a mark for each run, the newest last, which says its result in words', async () => {
    await using operations = await startTestOperations(new DaemonInMemory(...anAfternoon()));

    const marks = await withPage(`${operations.url}/`, {}, async (page) =>
      page
        .getByRole('list', { name: 'Runs, the newest last' })
        .first()
        .getByRole('link')
        .evaluateAll((all) => all.map((each) => (each as unknown as { title: string }).title)),
    );

    expect(marks).toEqual([
      'in sync, 12:49 UTC',
      'failed, 12:59 UTC',
      'in sync, 13:31 UTC',
      'applied, 13:44 UTC',
      'in sync, 14:01 UTC',
    ]);
  });

  it('needs no script to be read', async () => {
    await using operations = await startTestOperations(new DaemonInMemory(...anAfternoon()));

    const page = await (await fetch(operations.url)).text();

    expect(page).toContain('1 object waiting');
    expect(page).toContain('as of <time datetime="2026-10-03T14:05:00.000Z">14:05:00 UTC</time>');
  });
});

describe.skipIf(lacks('chromium'))('the page of a run', { timeout: 60_000 }, () => {
  let operations: TestOperations;
  const run = aRun(appliedReport(aStory()));

  beforeAll(async () => {
    operations = await startTestOperations(new DaemonInMemory(aSource({ runs: [run] })));
    return async () => operations[Symbol.asyncDispose]();
  });

  it.each(LOOKS)('can be read by everybody, $width wide and $colorScheme', async (look) => {
    const seen = await withPage(`${operations.url}/runs/${run.id}`, look, async (page) => ({
      violations: await axeViolations(page),
      sideways: await scrollsSideways(page),
    }));

    expect(seen).toEqual({ violations: [], sideways: false });
  });

  it('shows the report as the command prints it, and leads to the plan and back', async () => {
    const seen = await withPage(`${operations.url}/runs/${run.id}`, {}, async (page) => ({
      report: await page.locator('pre').textContent(),
      plan: await page
        .getByRole('link', { name: 'as JSON' })
        .evaluate((a) => (a as unknown as URL).href),
      back: await page
        .getByRole('link', { name: 'Status' })
        .evaluate((a) => (a as unknown as URL).href),
    }));

    expect(seen).toEqual({
      report: run.text,
      plan: `${operations.url}/runs/${run.id}/plan`,
      back: `${operations.url}/`,
    });
  });
});
