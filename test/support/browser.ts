import axe from 'axe-core';
import { chromium, type Locator, type Page } from 'playwright-core';
import { findProgram } from './requirements.js';

export type { Locator, Page };

export interface PageOptions {
  /** CSS pixels; default 1280, and 390 is a telephone. */
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** Sent with every request to the page's own server. */
  readonly headers?: Readonly<Record<string, string>>;
}

const HEIGHT = 900;
const WIDTH = 1280;

/**
 * Opens a page in a Chromium of its own, runs `work` on it once it is loaded, and ends the browser. Nothing but the
 * page's own server is reached. Ask `lacks('chromium')` first.
 *
 * @throws Error the page complained: an error of a script, something that its policy forbids or that did not load.
 */
export async function withPage<T>(
  url: string,
  { width = WIDTH, colorScheme = 'light', headers = {} }: PageOptions,
  work: (page: Page) => Promise<T>,
): Promise<T> {
  const executablePath = findProgram('chromium');
  if (executablePath === null) throw new Error('bug: withPage without asking for chromium');
  const browser = await chromium.launch({ executablePath });
  try {
    const context = await browser.newContext({
      viewport: { width, height: HEIGHT },
      colorScheme,
      extraHTTPHeaders: { ...headers },
    });
    const { origin } = new URL(url);
    await context.route(
      (target) => target.origin !== origin,
      async (route) => route.abort(),
    );
    const page = await context.newPage();
    const complaints = complaintsOf(page);
    await page.goto(url);
    const result = await work(page);
    if (complaints.length > 0) throw new Error(`the page complained: ${complaints.join('; ')}`);
    return result;
  } finally {
    await browser.close();
  }
}

function complaintsOf(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return complaints;
}

/** What axe finds wrong with a page for people who see, hear or point otherwise: one line for each rule and element. */
export async function axeViolations(page: Page): Promise<string[]> {
  // Evaluated and not added as an element, which the policy of a page may forbid.
  await page.evaluate(axe.source);
  // What passes has thousands of elements on a long page, and axe would look for a name of each.
  const { violations } = await page.evaluate(async () =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'] }),
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target }) => `${id}: ${help} (${target.join(' ')})`),
  );
}

/** Whether a page is wider than its window, so that people have to scroll sideways. */
export async function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
}
