import { describe, expect, it } from 'vitest';
import { axeViolations, scrollsSideways, withPage } from '../../support/browser.js';
import { lacks } from '../../support/requirements.js';
import { useCommands } from '../../support/terminal.js';

const FILES = {
  'flagkeel.yaml': 'workspace: Shop\nenvironments: { staging: {}, production: {} }\n',
  'flags/pay.yaml': `flag: pay
description: '<img src=x onerror=alert(1)> & more'
owner: payments
expires: "2020-01-31"
trafficType: user
tags: [web]
treatments: { "on": Shown, "off": Hidden }
defaultTreatment: "off"
environments:
  production:
    targets: { "on": [ana-secret-key] }
    rules:
      - { if: { segment: staff }, serve: "on" }
    defaultRule: { "on": 30, "off": rest }
`,
  'segments/staff.yaml': `segment: staff
trafficType: user
environments:
  production: { keys: [bo-secret-key] }
`,
  'kills/production.yaml': 'kills:\n  pay: { reason: broken }\n',
};

const world = useCommands(FILES);
const { run, write, at } = world;

describe('report', () => {
  it('is one page that loads nothing, escapes what specs say and shows no key; JSON says the same', async () => {
    const { exitCode, stdout } = await run('report');

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^<!doctype html>/);
    expect(stdout).not.toMatch(/https?:|<link|src="/);
    const parts = [
      'in segment staff → on 100 %',
      'others → on 30 %, off 70 %',
      '<rect x="0" width="30"',
      '1 key by name',
      '<p class="wrong">expired 2020-01-31</p>',
      'owner payments · #web',
      'killed: everybody gets off',
      '<td data-place="staging">not declared</td>',
      '<td data-place="production">1 key</td>',
    ];
    const words = stdout.replaceAll(/<\/?(?:i|span)\b[^>]*>/g, '').replaceAll(/\s+/g, ' ');
    expect(parts.filter((part) => !words.includes(part))).toEqual([]);
    expect(stdout).toContain('&lt;img src=x onerror=alert(1)&gt; &amp; more');
    const json = await run('report', '--format', 'json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      ...{ formatVersion: 1, workspace: 'Shop', commit: null },
      environments: ['staging', 'production'],
      flags: [
        {
          ...{ name: 'pay', file: 'flags/pay.yaml', owner: 'payments', expires: '2020-01-31' },
          uses: [{ kind: 'segment', name: 'staff', environments: ['production'] }],
          environments: [{ environment: 'production', killed: true, targets: 1 }],
        },
      ],
      segments: [{ name: 'staff', environments: { production: 1 } }],
    });
    expect(stdout).not.toContain('<img');
    expect(stdout + json.stdout).not.toContain('secret-key');
  });

  it.skipIf(lacks('chromium')).each([
    { width: 1280, colorScheme: 'light' },
    { width: 390, colorScheme: 'dark' },
  ] as const)('can be read by everybody, $width wide and $colorScheme', async (look) => {
    const file = at('flags.html');
    await run('report', '--output', file);

    const seen = await withPage(`file://${file}`, look, async (page) => {
      const found = {
        violations: await axeViolations(page),
        sideways: await scrollsSideways(page),
      };
      await page.getByLabel('Search').fill('staff');
      return { ...found, rows: await page.locator('tbody tr:visible').count() };
    });

    // The segment, and the flag that names it.
    expect(seen).toEqual({ violations: [], sideways: false, rows: 2 });
  });

  it('says who needs whom, and draws the steps of a ramp with their times', async () => {
    const flag = (name: string, production: string): string =>
      `flag: ${name}\ntrafficType: user\ntreatments: { "on": {}, "off": {} }\ndefaultTreatment: "off"\nenvironments:\n  production:\n${production}`;
    const rule = '    rules:\n      - { if: { flag: pay, treatments: ["on"] }, serve: "on" }\n';
    const ramp = '    defaultRule: { "on": 5, "off": rest }\n    ramp: 5, 6h, 25, 1d, 100\n';
    write({ 'flags/express.yaml': flag('express', rule + ramp) });

    const { exitCode, stdout } = await run('report');

    expect(exitCode).toBe(0);
    const words = stdout.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(words).toContain('needs flag pay (production)');
    expect(words).toContain('needs segment staff (production) needed by flag express');
    expect(words).toContain('Ramp of on 5 % at once 25 % after 6 h 100 % after 1 d');
    expect(stdout).toContain('<a href="#flag/pay">');
    expect(stdout).toMatch(/y="75"\s+width="100"\s+height="25"/);
  });

  it('puts the protected environments first, and of each group the one that is applied last', async () => {
    const config = 'workspace: Shop\nenvironments: { a: {}, live: { protected: true }, b: {} }\n';
    write({ 'flagkeel.yaml': config });
    for (const folder of ['segments', 'flags', 'kills']) world.repository.remove(folder);

    const { stdout } = await run('report');

    const heads = [...stdout.matchAll(/<th scope="col">(\w+)/g)].map(([, word]) => word);
    expect(heads.slice(0, 4)).toEqual(['Flag', 'live', 'b', 'a']);
  });

  it.skipIf(lacks('chromium'))(
    'finds rows by words, owner and expiry, and leads from a flag to its segment',
    async () => {
      const file = at('flags.html');
      const ship = FILES['flags/pay.yaml'].replace('flag: pay', 'flag: ship');
      write({ 'flags/ship.yaml': ship.replace(/owner.*\n|expires.*\n/g, '') });
      await run('report', '--output', file);

      const seen = await withPage(`file://${file}`, {}, async (page) => {
        const rows = async (): Promise<string[]> =>
          page.locator('tbody tr:visible th strong').allInnerTexts();
        const all = await rows();
        await page.getByLabel('Search').fill('WEB pay');
        const words = await rows();
        await page.getByLabel('Search').fill('');
        await page.getByLabel('Owner').selectOption('payments');
        const owner = await rows();
        await page.getByLabel('Owner').selectOption('all');
        await page.getByLabel('Expiry').selectOption('no expiry');
        const found = { all, words, owner, never: await rows() };
        const count = await page.locator('output').innerText();
        await page.getByLabel('Expiry').selectOption({ index: 0 });
        await page.getByRole('link', { name: 'segment staff' }).first().click();
        return { ...found, count, target: await page.locator(':target th strong').innerText() };
      });

      expect(seen).toEqual({
        all: ['pay', 'ship', 'staff'],
        words: ['pay'],
        owner: ['pay'],
        never: ['ship'],
        count: '1 of 3',
        target: 'staff',
      });
    },
  );
});
