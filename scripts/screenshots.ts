import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { withPage, type Page, type PageOptions } from '../test/support/browser.js';
import { aShopWithConsole } from '../test/support/console-story.js';
import { aBadMorning, aHeldEvening, anAfternoon } from '../test/support/daemon-story.js';
import { DaemonInMemory } from '../test/support/daemon-view.js';
import { startTestOperations } from '../test/support/operations.js';

/** The pictures of `docs/images`, taken of the real page: `npx tsx scripts/screenshots.ts`. */
interface Picture extends PageOptions {
  readonly story?: typeof anAfternoon;
  /** The button of the first source that is pressed first. */
  readonly press?: string;
  /** Shown from here on: what stands above matters most, and a picture in a repository is best small. */
  readonly from?: string;
}

const PICTURES: Readonly<Record<string, Picture>> = {
  'status-light': { width: 1024, colorScheme: 'light' },
  'status-dark': { width: 1024, colorScheme: 'dark' },
  'status-narrow': { width: 390, colorScheme: 'light' },
  'status-flags-narrow': { width: 390, colorScheme: 'dark', from: 'What flags serve' },
  'status-suspend': { width: 1024, colorScheme: 'light', press: 'Suspend' },
  'status-suspend-narrow': { width: 390, colorScheme: 'dark', press: 'Suspend' },
  'status-trouble': { width: 1024, colorScheme: 'light', story: aBadMorning },
  'status-trouble-dark': { width: 1024, colorScheme: 'dark', story: aBadMorning },
  'status-held': { width: 1024, colorScheme: 'light', story: aHeldEvening },
  'status-held-dark': { width: 1024, colorScheme: 'dark', story: aHeldEvening },
  'status-held-narrow': { width: 390, colorScheme: 'light', story: aHeldEvening },
  'status-approve': {
    ...{ width: 1024, colorScheme: 'light', press: 'Approve…' },
    story: aHeldEvening,
  },
  'status-approve-narrow': {
    ...{ width: 390, colorScheme: 'dark', press: 'Approve…' },
    story: aHeldEvening,
  },
  'status-trouble-narrow': { width: 390, colorScheme: 'dark', story: aBadMorning },
};

const folder = join(import.meta.dirname, '../docs/images');
await mkdir(folder, { recursive: true });
const HEIGHT = 1_120;

async function topOf(page: Page, heading: string | undefined): Promise<number> {
  if (heading === undefined) return 0;
  const box = await page.getByRole('heading', { name: heading }).first().boundingBox();
  return box?.y ?? 0;
}

for (const [name, { story = anAfternoon, press, from, ...options }] of Object.entries(PICTURES)) {
  const daemon = new DaemonInMemory(...story());
  await using operations = await startTestOperations(daemon, { tokens: ['a-token'] });
  await withPage(`${operations.url}/`, options, async (page) => {
    await page.getByText('live', { exact: true }).waitFor();
    if (press !== undefined) await page.getByRole('button', { name: press }).first().click();
    const clip = { x: 0, y: await topOf(page, from), width: options.width ?? 0, height: HEIGHT };
    await page.screenshot({
      path: join(folder, `${name}.png`),
      ...(press === undefined && { fullPage: true, clip }),
    });
  });
}

/** The console; the last of them shows what is asked before a kill. */
const CONSOLE_PICTURES: Readonly<Record<string, PageOptions & { readonly kills?: boolean }>> = {
  'console-light': { width: 1024, colorScheme: 'light' },
  'console-dark': { width: 1024, colorScheme: 'dark' },
  'console-narrow': { width: 390, colorScheme: 'light' },
  'console-kill': { width: 390, colorScheme: 'dark', kills: true },
};

for (const [name, { kills = false, ...options }] of Object.entries(CONSOLE_PICTURES)) {
  const service = await aShopWithConsole();
  await withPage(`${service.origin}/`, options, async (page) => {
    await page.getByLabel('Admin API key').fill(service.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Flags' }).waitFor();
    if (kills) await page.getByRole('link', { name: 'Kill checkout-v2 in production' }).click();
    const clip = { x: 0, y: 0, width: options.width ?? 0, height: kills ? 700 : HEIGHT };
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true, clip });
  });
  await service.stop();
}
