import { describe, expect, it } from 'vitest';
import { axeViolations, scrollsSideways, withPage } from '../support/browser.js';
import { lacks } from '../support/requirements.js';
import { aService } from '../support/service.js';

const LOOKS = [
  { width: 1280, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const;

/** `/docs` as a browser shows it, under the policy that it is sent with. */
describe.skipIf(lacks('chromium'))('the page of the endpoints', () => {
  const service = aService();

  it.each(LOOKS)(
    'can be read by everybody and fits the window, $width wide and $colorScheme',
    async (look) => {
      const seen = await withPage(`${service.origin}/docs`, look, async (page) => ({
        violations: await axeViolations(page),
        sideways: await scrollsSideways(page),
      }));

      expect(seen).toEqual({ violations: [], sideways: false });
    },
  );

  it('leads to each group of endpoints', async () => {
    const groups = await withPage(`${service.origin}/docs`, {}, async (page) => {
      const links = page.getByRole('navigation').getByRole('link');
      for (const link of await links.all()) {
        await link.click();
        await page.locator(':target', { hasText: await link.innerText() }).waitFor();
      }
      return links.allInnerTexts();
    });

    expect(groups).toEqual(expect.arrayContaining(['splits', 'Shapes']));
  });
});
