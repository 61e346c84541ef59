import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { withPage, type PageOptions } from '../test/support/browser.js';
import { aBadMorning, anAfternoon } from '../test/support/daemon-story.js';
import { DaemonInMemory } from '../test/support/daemon-view.js';
import { startTestOperations } from '../test/support/operations.js';

/** The pictures of `docs/images`, taken of the real page: `npx tsx scripts/screenshots.ts`. */
const PICTURES: Readonly<Record<string, PageOptions & { readonly story?: typeof anAfternoon }>> = {
  'status-light': { width: 1024, colorScheme: 'light' },
  'status-dark': { width: 1024, colorScheme: 'dark' },
  'status-narrow': { width: 390, colorScheme: 'light' },
  'status-trouble': { width: 1024, colorScheme: 'light', story: aBadMorning },
  'status-trouble-narrow': { width: 390, colorScheme: 'dark', story: aBadMorning },
};

const folder = join(import.meta.dirname, '../docs/images');
await mkdir(folder, { recursive: true });
for (const [name, { story = anAfternoon, ...options }] of Object.entries(PICTURES)) {
  await using operations = await startTestOperations(new DaemonInMemory(...story()));
  await withPage(`${operations.url}/`, options, async (page) => {
    await page.getByText('live', { exact: true }).waitFor();
    // What stands above is what matters, and a picture in a repository is best small.
    const clip = { x: 0, y: 0, width: options.width ?? 0, height: 1_120 };
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true, clip });
  });
}
