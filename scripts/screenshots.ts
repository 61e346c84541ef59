import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withPage, type Page, type PageOptions } from '../test/support/browser.js';
import { aShopWithConsole, askForChanges } from '../test/support/console-story.js';
import {
  aBadMorning,
  aHeldEvening,
  aMorningOfQuestions,
  anAfternoon,
} from '../test/support/daemon-story.js';
import { DaemonInMemory } from '../test/support/daemon-view.js';
import { startTestOperations } from '../test/support/operations.js';
import { cliRun } from '../test/support/terminal.js';
import { html, htmlOf } from '../src/platform/html.js';
import { smallPng } from './small-png.js';
import { buildSite } from './build-site.js';

/** The pictures of `docs/images`, taken of the real page: `npx tsx scripts/screenshots.ts [NAME…]`; all of them without names. */
interface Picture extends PageOptions {
  readonly story?: typeof anAfternoon;
  /** The button of the first source that is pressed first. */
  readonly press?: string;
  /** The flag whose panel is opened first. */
  readonly flag?: string;
  /** What is folded below these words is opened first. */
  readonly opens?: string;
  /** Shown from here on: what stands above matters most, and a picture in a repository is best small. */
  readonly from?: string;
  /** CSS pixels. */
  readonly height?: number;
}

const LIGHT = { width: 1024, colorScheme: 'light' } as const;
const DARK = { width: 1024, colorScheme: 'dark' } as const;
const NARROW = { width: 390, colorScheme: 'light' } as const;
const NARROW_DARK = { width: 390, colorScheme: 'dark' } as const;
/** The second source of that morning: its service is away. */
const AWAY = { story: aBadMorning, from: 'search-flags' } as const;
const OBJECTS = { opens: 'that no file declares', from: 'Withheld' } as const;
const APPROVES = { story: aHeldEvening, press: 'Approve' } as const;
const MATRIX = { story: aHeldEvening, from: 'What 6 flags serve' } as const;
const FLAG = { story: aHeldEvening, flag: 'search-ranking' } as const;

const PICTURES: Readonly<Record<string, Picture>> = {
  'status-light': LIGHT,
  'status-dark': DARK,
  'status-narrow': NARROW,
  'status-matrix': { ...LIGHT, ...MATRIX, height: 520 },
  'status-matrix-dark': { ...DARK, ...MATRIX, height: 520 },
  'status-matrix-narrow': { ...NARROW, ...MATRIX, height: 900 },
  'status-flag': { ...LIGHT, ...FLAG },
  'status-flag-dark': { ...DARK, ...FLAG },
  'status-flag-narrow': { ...NARROW, ...FLAG },
  'status-objects': { ...LIGHT, ...OBJECTS, height: 600 },
  'status-objects-dark': { ...DARK, ...OBJECTS, height: 600 },
  'status-objects-narrow': { ...NARROW, ...OBJECTS, height: 980 },
  'status-trouble': { ...LIGHT, story: aBadMorning },
  'status-trouble-dark': { ...DARK, story: aBadMorning },
  'status-trouble-narrow': { ...NARROW_DARK, story: aBadMorning },
  'status-trouble-narrow-light': { ...NARROW, story: aBadMorning, height: 900 },
  'status-away': { ...LIGHT, ...AWAY, height: 470 },
  'status-away-dark': { ...DARK, ...AWAY, height: 470 },
  'status-away-narrow': { ...NARROW, ...AWAY, height: 930 },
  'status-held': { ...LIGHT, story: aHeldEvening },
  'status-held-dark': { ...DARK, story: aHeldEvening },
  'status-held-narrow': { ...NARROW, story: aHeldEvening },
  'status-approve': { ...LIGHT, ...APPROVES },
  'status-approve-dark': { ...DARK, ...APPROVES },
  'status-approve-narrow': { ...NARROW_DARK, ...APPROVES },
  'status-approve-narrow-light': { ...NARROW, ...APPROVES },
};

const folder = join(import.meta.dirname, '../docs/images');
await mkdir(folder, { recursive: true });
const HEIGHT = 1_120;
/** Above the heading that a picture begins with. */
const MARGIN = 16;
const wanted = process.argv.slice(2);

async function save(name: string, picture: Buffer): Promise<void> {
  await writeFile(join(folder, `${name}.png`), await smallPng(picture));
}

function isWanted([name]: readonly [string, unknown]): boolean {
  return wanted.length === 0 || wanted.includes(name);
}

async function topOf(page: Page, heading: string | undefined): Promise<number> {
  if (heading === undefined) return 0;
  const shown = page.getByRole('heading', { name: heading, exact: true });
  const box = await shown.first().boundingBox();
  return Math.max(0, (box?.y ?? 0) - MARGIN);
}

/** Opens the page of a daemon that stands as the story has it, once it follows that daemon. */
async function withStory(
  story: typeof anAfternoon,
  options: PageOptions,
  work: (page: Page) => Promise<void>,
): Promise<void> {
  const daemon = new DaemonInMemory(...story());
  await using operations = await startTestOperations(daemon, { tokens: ['a-token'] });
  await withPage(`${operations.url}/`, options, async (page) => {
    await page.getByText('live', { exact: true }).waitFor();
    await work(page);
  });
}

for (const [name, picture] of Object.entries(PICTURES).filter(isWanted)) {
  const { story = anAfternoon, press, flag, opens, from, height = HEIGHT, ...options } = picture;
  await withStory(story, options, async (page) => {
    if (opens !== undefined) await page.getByText(opens).first().click();
    await page.evaluate('window.scrollTo(0, 0)');
    if (press !== undefined) await page.getByRole('button', { name: press }).first().click();
    if (flag !== undefined) {
      await page.getByRole('link', { name: flag, exact: true }).first().click();
      await page.getByRole('dialog').getByRole('heading', { name: flag }).waitFor();
    }
    const clip = { x: 0, y: await topOf(page, from), width: options.width ?? 0, height };
    const isDialog = press !== undefined || flag !== undefined;
    await save(name, await page.screenshot(isDialog ? {} : { fullPage: true, clip }));
  });
}

/** What each button of the bar asks first, all in one picture. */
const CONFIRMATIONS: Readonly<Record<string, PageOptions>> = {
  'status-confirmations': LIGHT,
  'status-confirmations-dark': DARK,
  'status-confirmations-narrow': NARROW,
};

async function confirmationOf(page: Page, label: string): Promise<string> {
  await page.getByRole('button', { name: label, exact: true }).first().click();
  // The page behind would shine through the round corners.
  await page.evaluate('document.querySelector("main").style.visibility = "hidden"');
  const picture = await page.getByRole('dialog').screenshot();
  await page.evaluate('document.querySelector("main").style.visibility = ""');
  await page.keyboard.press('Escape');
  return `<img src="data:image/png;base64,${picture.toString('base64')}" />`;
}

for (const [name, options] of Object.entries(CONFIRMATIONS).filter(isWanted)) {
  await withStory(aMorningOfQuestions, options, async (page) => {
    const pictures: string[] = [];
    for (const label of ['Sync', 'Suspend', 'Resume', 'Pin', 'Unpin', 'Adopt']) {
      pictures.push(await confirmationOf(page, label));
    }
    const sheet = await page.context().newPage();
    await sheet.setViewportSize({ width: 1_200, height: HEIGHT });
    const columns = [pictures.slice(0, 3), pictures.slice(3)].map((each) => each.join('<br>'));
    await sheet.setContent(`<main style="display: flex; gap: 8px; width: fit-content; background: #888">
      <div>${columns.join('</div><div>')}</div></main>`);
    await save(name, await sheet.locator('main').screenshot());
  });
}

interface ConsolePicture extends PageOptions {
  /** Links that are followed first. */
  readonly links?: readonly string[];
  readonly height?: number;
}

const KILL = ['Kill checkout-v2 in production…'];
const REQUEST = {
  links: ['Change requests', 'Change checkout-v2 in staging'],
  height: 840,
} as const;

/** The console: its first page, what is asked before a kill, and a change request. */
const CONSOLE_PICTURES: Readonly<Record<string, ConsolePicture>> = {
  'console-light': { width: 1024, colorScheme: 'light' },
  'console-dark': { width: 1024, colorScheme: 'dark' },
  'console-narrow': { width: 390, colorScheme: 'light' },
  'console-kill': { width: 390, colorScheme: 'dark', links: KILL, height: 700 },
  'console-request': { ...LIGHT, ...REQUEST },
  'console-request-dark': { ...DARK, ...REQUEST },
  'console-request-narrow': { ...NARROW, ...REQUEST, height: 1_100 },
  'console-flag': { ...LIGHT, links: ['checkout-v2'], height: 800 },
};

for (const [name, picture] of Object.entries(CONSOLE_PICTURES).filter(isWanted)) {
  const { links = [], height = HEIGHT, ...options } = picture;
  const service = await aShopWithConsole();
  await askForChanges(service);
  await withPage(`${service.origin}/`, options, async (page) => {
    await page.getByLabel('Admin API key').fill(service.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Flags' }).waitFor();
    for (const link of links) await page.getByRole('link', { name: link, exact: true }).click();
    const clip = { x: 0, y: 0, width: options.width ?? 0, height };
    await save(name, await page.screenshot({ fullPage: true, clip }));
  });
  await service.stop();
}

/** Pages that are files: the catalogue of the example, with a ramp, and a page of the documents. */
const FILES: Readonly<Record<string, PageOptions>> = {
  light: LIGHT,
  dark: DARK,
  narrow: NARROW,
};

const files = await mkdtemp(join(tmpdir(), 'flagkeel-pictures-'));
await cp('specs-example', join(files, 'specs'), { recursive: true });
const ramped = join(files, 'specs/flags/checkout/new-checkout.yaml');
const share = /^( *)defaultRule: \{ "on": 10, "off": rest \}$/m;
const spec = await readFile(ramped, 'utf8');
await writeFile(ramped, spec.replace(share, '$&\n$1ramp: 10, 6h, 25, 12h, 50, 1d, 100'));
await cliRun(['report', join(files, 'specs'), '--output', join(files, 'report.html')]);
buildSite(join(files, 'site'));
for (const [look, options] of Object.entries(FILES)) {
  for (const [name, path] of Object.entries({
    report: 'report.html',
    docs: 'site/docs/ramps.html',
  })) {
    if (!isWanted([`${name}-${look}`, options])) continue;
    await withPage(`file://${join(files, path)}`, options, async (page) => {
      const clip = { x: 0, y: 0, width: options.width ?? 0, height: HEIGHT };
      await save(`${name}-${look}`, await page.screenshot({ fullPage: true, clip }));
    });
  }
}
await rm(files, { recursive: true });

/** The texts of the three tools side by side, from the page that compares them. */
const COMPARED: Readonly<Record<string, string>> = {
  'compare-ramp': 'A ramp',
  'compare-new': 'A new flag',
  'compare-kill': 'A kill',
  'compare-segment': 'Other keys in a segment',
};
const TOOL = /^(flagkeel|Terraform|Argo CD)[^\n]*(?:\n[^\n`]+)*\n\n```text\n([^]*?)```/gm;

const comparison = await readFile(join(import.meta.dirname, '../docs/comparison.md'), 'utf8');
for (const [name, heading] of Object.entries(COMPARED).filter(isWanted)) {
  const section = comparison.split(/^### /m).find((each) => each.startsWith(heading)) ?? '';
  const columns = [...section.matchAll(TOOL)].map(
    ([, tool = '', text = '']) =>
      html`<section>
        <h2>${tool}</h2>
        <pre>${text}</pre>
      </section>`,
  );
  const style = `main { display: flex; gap: 12px; align-items: start; width: max-content; padding: 12px;
      background: #0d1117; color: #f0f6fc; } h2 { font: 600 14px sans-serif; }
    pre { margin: 0; padding: 10px; border: 1px solid #30363d; border-radius: 6px; font: 13px/1.4 monospace; }`;
  await withPage('about:blank', {}, async (page) => {
    await page.setContent(
      html`<style>
          ${htmlOf(style)}
        </style>
        <main>${columns}</main>`.text,
    );
    await save(name, await page.locator('main').screenshot());
  });
}
