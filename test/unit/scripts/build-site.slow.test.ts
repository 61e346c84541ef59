import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSite } from '../../../scripts/build-site.js';
import { axeViolations, scrollsSideways, withPage } from '../../support/browser.js';
import { lacks } from '../../support/requirements.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'flagkeel-site-'));
  buildSite(folder);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function pages(): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.html'),
  );
}

function textOf(path: string): string {
  return readFileSync(join(folder, path), 'utf8');
}

describe('the site of the documents', () => {
  it('has a page for each document and one for the decisions, whole, and loads nothing', () => {
    const found = pages();
    const wrong = found.filter((path) => {
      const text = textOf(path);
      const count = (what: RegExp): number => text.match(what)?.length ?? 0;
      const isClosed =
        count(/<a /g) === count(/<\/a>/g) && count(/<span[ >]/g) === count(/<\/span>/g);
      return !isClosed || /<(?:script\s|link|iframe)|src="https?:/.test(text);
    });

    expect(wrong).toEqual([]);
    expect(found).toEqual(expect.arrayContaining(['index.html', 'docs/plan.html']));
    expect(found).toContain('docs/decisions/index.html');
    expect(found.length).toBeGreaterThan(50);
  });

  it('links to pages, files and headings that it has', () => {
    const broken = pages().flatMap((path) => {
      const links = [...textOf(path).matchAll(/ (?:href|src)="([^"]*)"/g)].map(
        ([, link = '']) => link,
      );
      return links.filter((link) => {
        if (/^https?:/.test(link)) return false;
        const [file = '', heading] = link.split('#');
        const target = file === '' ? path : join(dirname(path), decodeURI(file));
        if (!existsSync(join(folder, target))) return true;
        return heading !== undefined && !textOf(target).includes(` id="${heading}"`);
      });
    });

    expect(broken).toEqual([]);
  });

  it('leads from every page to all pages by task, the ten minutes first', () => {
    for (const path of ['index.html', 'docs/decisions/index.html', 'search.html']) {
      const [, nav = ''] = textOf(path).split('<nav ');
      const links = [...nav.matchAll(/ href="([^"]*)"/g)].map(([, link = '']) =>
        join(dirname(path), link),
      );

      expect(links[0]).toBe('docs/getting-started.html');
      expect(links).toContain('docs/runbook.html');
    }
  });

  it('lists the sections of a long page above them', () => {
    const [, outline = ''] = /<details>([^]*?)<\/details>/.exec(textOf('docs/plan.html')) ?? [];

    expect(outline).toContain('<a href="#guards">Guards</a>');
    expect(textOf('docs/getting-started.html').match(/<details>/g)).toHaveLength(1);
    expect(textOf('docs/scale.html')).not.toContain('<details>');
  });

  it.skipIf(lacks('chromium'))(
    'leads to every page and section, by words too, on a phone and without a server',
    { timeout: 60_000 },
    async () => {
      await withPage(`file://${folder}/docs/plan.html`, { width: 390 }, async (page) => {
        const follow = async (name: string, place: string): Promise<void> => {
          await page.getByRole('link', { name, exact: true }).first().click();
          await page.waitForURL(`file://${folder}/${place}`);
        };
        await page.getByText('On this page').click();
        await follow('Guards', 'docs/plan.html#guards');
        await follow('All pages', 'docs/plan.html#pages');
        await follow('Ramps', 'docs/ramps.html');
        await follow('flagkeel', 'index.html');
        await page.goto(`file://${folder}/docs/plan.html`);
        await page.getByRole('searchbox').fill('take a kill');
        await page.getByRole('button', { name: 'Search' }).click();
        // The hits follow the words while they are typed.
        await page.getByRole('searchbox').fill('take a kill back');
        await page.getByText(/of \d+ sections/).waitFor();
        const hits = await page.locator('main').getByRole('link').allTextContents();
        expect(hits[0]).toBe('How to · Promote, kill, and take a kill back');
        expect(hits.length).toBeLessThan(50);
        expect(await axeViolations(page)).toEqual([]);
        expect(await scrollsSideways(page)).toBe(false);
        await follow(hits[0] ?? '', 'docs/how-to.html#promote-kill-and-take-a-kill-back');
      });
    },
  );

  it.skipIf(lacks('chromium')).each(['diagnostics', 'commands', 'reference'])(
    'can be read by everybody, on a phone too: %s',
    { timeout: 60_000 },
    async (name) => {
      const address = `file://${folder}/docs/${name}.html`;
      const seen = await withPage(address, { width: 390 }, async (page) => ({
        violations: await axeViolations(page),
        sideways: await scrollsSideways(page),
      }));

      expect(seen).toEqual({ violations: [], sideways: false });
    },
  );
});
