import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { RunRecord } from '../../src/daemon/view.js';
import { axeViolations, withPage, type Locator, type Page } from '../support/browser.js';
import { startTestOperations, type TestOperations } from '../support/operations.js';
import { watchHere, type InProcessDaemon } from '../support/in-process-daemon.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { lacks } from '../support/requirements.js';
import { useScenario } from '../support/scenario.js';
import { aDefinition } from '../support/service-calls.js';
import { flagText, PROTECTED_CONFIG } from '../support/spec-texts.js';

const TOKEN = 'a-token-of-the-operator';

const pay = (percent: number): string => flagText('pay', percent, { staging: '' });

describe.skipIf(lacks('chromium'))('the buttons of the status page', { timeout: 90_000 }, () => {
  const scenario = useScenario();
  let live: LiveWorkspace;
  let watched: InProcessDaemon;
  let operations: TestOperations;
  let first: string;

  beforeEach(async () => {
    live = await liveWorkspace(scenario.service);
    const flags = `/splits/ws/${live.id}`;
    await live.ok('POST', `${flags}/trafficTypes/user`, { name: 'search', description: '' });
    await live.ok('POST', `${flags}/search/environments/${live.production}`, aDefinition());
    await live.ok('POST', `${flags}/trafficTypes/user`, { name: 'banner', description: '' });
    first = scenario.commit(
      {
        'flagkeel.yaml': PROTECTED_CONFIG,
        'flags/pay.yaml': pay(10),
        'flags/search.yaml': flagText('search', 30, { production: '' }),
      },
      'Add pay and search',
    );
    watched = await watchHere(scenario);
    operations = await startTestOperations(watched.daemon, { tokens: [TOKEN], now: Date.now });
    onTestFinished(async () => operations[Symbol.asyncDispose]());
  });

  /** Presses a button, reads what it says, fills in what it asks, and confirms. @returns what it said. */
  async function press(page: Page, label: string, fields: Readonly<Record<string, string>> = {}) {
    await page.getByRole('button', { name: label, exact: true }).click();
    const dialog = page.getByRole('dialog');
    const says = await dialog.locator('#ask-says').innerText();
    for (const [name, value] of Object.entries(fields)) await dialog.getByLabel(name).fill(value);
    await dialog.getByRole('button', { name: label, exact: true }).click();
    return says;
  }

  async function settled(isDone: (last: RunRecord | undefined) => boolean): Promise<void> {
    await watched.until(() => isDone(watched.runs.at(-1)) && watched.view.phase === 'idle');
  }

  it('do what they say they do, each with its token, on a real daemon over a real service', async () => {
    await withPage(`${operations.url}/`, {}, async (page) => {
      await page.getByText('live', { exact: true }).waitFor();
      expect(await axeViolations(page)).toEqual([]);
      expect(await page.locator('main').textContent()).toContain('flag/banner');

      // Adopt: the flag that was there before is written over, after the confirmation has named it.
      const adopts = await press(page, 'Adopt', { Token: TOKEN });
      await settled((last) => last?.triggers.includes('adopt') === true);
      expect(adopts).toMatch(/^1 object that no run remembers becomes ours, .* its live values: /);
      expect(adopts).toContain('flag/search@production');
      expect(await live.share('search')).toBe(30);
      await page.getByRole('button', { name: 'Adopt' }).waitFor({ state: 'detached' });
      const search = page.getByRole('row', { name: 'search' });
      await search.getByText('on 30 %').waitFor();
      // The panel: the definition in words, and the write with its commit.
      await search.getByRole('link', { name: 'search' }).click();
      const panel = page.getByRole('dialog', { name: 'Flag' });
      await panel.getByText('on 30 %').waitFor();
      expect(await panel.innerText()).toMatch(/Last writes\s+production updated/);
      expect(await axeViolations(page)).toEqual([]);
      await panel.getByRole('button', { name: 'Close' }).click();

      // Sync: what the daemon has not looked for yet is found and written.
      scenario.commit({ 'flags/pay.yaml': pay(20) }, 'Ramp pay to 20 %');
      await press(page, 'Sync');
      await settled(() => watched.view.applied?.subject === 'Ramp pay to 20 %');
      expect(await live.share('pay', 'staging')).toBe(20);
      await page.locator('.facts').getByText('Ramp pay to 20 %').waitFor();

      // Suspend: planned, and not written.
      await press(page, 'Suspend', { Why: 'INC-4711', 'For how long': '1h' });
      await page.getByRole('heading', { name: 'Suspended' }).waitFor();
      scenario.commit({ 'flags/pay.yaml': pay(30) }, 'Ramp pay to 30 %');
      await press(page, 'Sync');
      await settled((last) => last?.subject === 'Ramp pay to 30 %');
      expect(await live.share('pay', 'staging')).toBe(20);

      // Resume: the rest follows.
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      expect(await press(page, 'Resume')).toContain('INC-4711');
      await settled(() => watched.view.applied?.subject === 'Ramp pay to 30 %');
      expect(await live.share('pay', 'staging')).toBe(30);

      // Pin: an older commit, and then the newest again.
      await page.getByRole('button', { name: 'Pin', exact: true }).waitFor();
      await press(page, 'Pin', { Commit: first, Why: 'Roll back' });
      await settled((last) => last?.commit === first);
      expect(await live.share('pay', 'staging')).toBe(10);
      await page.getByRole('button', { name: 'Unpin' }).waitFor();
      expect(await press(page, 'Unpin')).toContain('Ramp pay to 30 %');
      await settled((last) => last?.subject === 'Ramp pay to 30 %');
      expect(await live.share('pay', 'staging')).toBe(30);
    });
  });

  it('approve what a guard refused, once the dialog has named it', async () => {
    scenario.commit(
      {
        'flagkeel.yaml': `${PROTECTED_CONFIG}guards: { maxShift: 20 }\n`,
        'flags/pay.yaml': pay(90),
      },
      'Ramp pay by far',
    );
    const refused = await watched.run();
    expect([refused.result, await live.share('pay', 'staging')]).toEqual(['refused', 10]);

    await withPage(`${operations.url}/`, {}, async (page) => {
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      const dialog = page.getByRole('dialog');
      expect(await dialog.innerText()).toContain('refused by a guard (maxShift)');
      expect((await dialog.locator('#ask-evidence').innerText()).replaceAll(/\s+/g, ' ')).toMatch(
        /^A guard refuses this plan · flag\/pay in staging will be updated: .* flag pay environment staging change on 10 → 90 % .*reaches: 80 % off → on limit .*limit is 20 % \(maxShift\).* commit \w{7} Ramp pay by far$/,
      );
      expect(await dialog.innerText()).toContain(refused.plan?.heldHash);
      expect(await axeViolations(page)).toEqual([]);
      await dialog.getByLabel('Your name').fill('ana');
      await dialog.getByLabel('Token').fill(TOKEN);
      await dialog.getByRole('button', { name: 'Approve', exact: true }).click();
      await dialog.waitFor({ state: 'hidden' });
      await settled(() => watched.runs.at(-1)?.exitCode === 8);
    });

    expect(await live.share('pay', 'staging')).toBe(90);
  });

  it('lead to flags, runs and figures, and back', async () => {
    // Each run has something to say, so that the page folds the older ones.
    for (let runs = 0; runs < 8; runs += 1) await watched.run();
    const oldest = watched.runs[0]?.id ?? '';
    await withPage(`${operations.url}/`, {}, async (page) => {
      const live = page.getByText('live', { exact: true });
      await live.waitFor();
      const follow = async (link: Locator, place: string): Promise<void> => {
        await link.click();
        await page.waitForURL(`**/${place}`);
      };
      const goBack = async (): Promise<void> => {
        await page.getByRole('link', { name: 'Status', exact: true }).click();
        await live.waitFor();
      };

      // Each fold.
      await page.getByText('1 object of the workspace that no file declares').click();
      await page.getByText('flag/banner').waitFor();
      await page.getByText('The last report with something in it').click();
      await page.locator('#plan-default pre').waitFor();
      await page.getByText('Older runs').click();

      // Runs: by their line, by their mark, as JSON.
      await follow(page.locator(`#run-${oldest}`), `runs/${oldest}`);
      await page.locator('pre', { hasText: 'flag/pay' }).first().waitFor();
      await follow(page.getByRole('link', { name: 'as JSON' }), `runs/${oldest}/plan`);
      await page.goBack();
      await goBack();
      const marks = page.getByRole('list', { name: 'Runs, the newest last' }).getByRole('link');
      await follow(marks.first(), `runs/${oldest}`);
      await goBack();

      // A flag beside the matrix, from there to the run that wrote it, and the page of the flag itself.
      const pay = page.getByRole('link', { name: 'pay', exact: true });
      await pay.click();
      const panel = page.getByRole('dialog', { name: 'Flag' });
      await panel.getByRole('heading', { name: 'Last writes' }).waitFor();
      await page.keyboard.press('Escape');
      await panel.waitFor({ state: 'hidden' });
      await pay.click();
      await follow(panel.getByRole('link', { name: 'UTC' }).first(), `runs/${oldest}`);
      await page.goto(`${operations.url}/flags/default/pay`);
      await follow(page.getByRole('link', { name: 'UTC' }).first(), `runs/${oldest}`);
      await page.goBack();
      await goBack();

      for (const [name, place] of Object.entries({
        status: 'status',
        metrics: 'metrics',
        readiness: 'readyz',
      })) {
        await follow(page.getByRole('link', { name, exact: true }), place);
        await page.goBack();
      }
    });
  });

  it('do nothing without the token, and nothing that was not confirmed', async () => {
    const before = watched.runs.length;

    const refused = withPage(`${operations.url}/`, { width: 390 }, async (page) => {
      await press(page, 'Suspend', { Why: 'x', Token: 'another' });
      await page.getByText('the file of tokens does not have this token').waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Sync' }).click();
      await page.keyboard.press('Escape');
      expect(await page.getByRole('dialog').count()).toBe(0);
    });

    // Chromium says of the refusal in its console what the dialog says on the page.
    await expect(refused).rejects.toThrow(/^the page complained: [^;]*status of 401[^;]*$/);
    expect(watched.runs).toHaveLength(before);
    expect(watched.view.suspended).toBeNull();
  });
});
