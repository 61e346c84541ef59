import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { axeViolations, scrollsSideways, withPage } from '../../support/browser.js';
import { lacks } from '../../support/requirements.js';
import { cliRun } from '../../support/terminal.js';

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

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'flagkeel-report-'));
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe('report', () => {
  it('is one page that loads nothing, with shares, rules in words, owner and what is killed', async () => {
    const { exitCode, stdout } = await cliRun(['report', directory]);

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^<!doctype html>/);
    expect(stdout).not.toMatch(/https?:|<link|src="/);
    const parts = [
      'in segment staff → on 100 %',
      'others → on 30 %, off 70 %',
      'x="0" y="0" width="30"',
      'x="30" y="0" width="70"',
      '1 key by name',
      'owner payments · expired 2020-01-31 · #web',
      'killed: everybody gets off',
      '<td>not declared</td>',
      '<td>1 key</td>',
    ];
    const words = stdout.replaceAll(/<\/?(?:i|span)\b[^>]*>/g, '').replaceAll(/\s+/g, ' ');
    expect(parts.filter((part) => !words.includes(part))).toEqual([]);
  });

  it.skipIf(lacks('chromium')).each([
    { width: 1280, colorScheme: 'light' },
    { width: 1280, colorScheme: 'dark' },
    { width: 390, colorScheme: 'light' },
    { width: 390, colorScheme: 'dark' },
  ] as const)('can be read by everybody, $width wide and $colorScheme', async (look) => {
    const file = join(directory, 'flags.html');
    await cliRun(['report', directory, '--output', file]);

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

  it('escapes what the specs say, and shows no key', async () => {
    const { stdout } = await cliRun(['report', directory]);

    expect(stdout).toContain('&lt;img src=x onerror=alert(1)&gt; &amp; more');
    expect(stdout).not.toContain('<img');
    expect(stdout).not.toContain('secret-key');
  });

  it('hides the rows that lack a word of what is searched for', async () => {
    const { stdout } = await cliRun(['report', directory]);
    const script = /<script>([^]*?)<\/script>/.exec(stdout)?.[1] ?? '';
    const rows = ['Pay web', 'Ship web', 'pay app'].map((textContent) => ({
      textContent,
      hidden: false,
    }));
    const listeners: (() => void)[] = [];
    const search = {
      value: '',
      addEventListener: (_: string, on: () => void) => listeners.push(on),
    };

    runInNewContext(script, {
      document: { getElementById: () => search, querySelectorAll: () => rows },
    });
    search.value = 'web PAY';
    listeners.forEach((on) => {
      on();
    });

    expect(rows.map(({ hidden }) => hidden)).toEqual([false, true, true]);
  });

  it('says the same as JSON', async () => {
    const { stdout } = await cliRun(['report', directory, '--format', 'json']);

    expect(JSON.parse(stdout)).toMatchObject({
      formatVersion: 1,
      workspace: 'Shop',
      commit: null,
      environments: ['staging', 'production'],
      flags: [
        {
          name: 'pay',
          file: 'flags/pay.yaml',
          owner: 'payments',
          expires: '2020-01-31',
          environments: [{ environment: 'production', killed: true, targets: 1 }],
        },
      ],
      segments: [{ name: 'staff', environments: { production: 1 } }],
    });
    expect(stdout).not.toContain('secret-key');
  });
});
