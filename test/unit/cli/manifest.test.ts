import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cliRun } from '../../support/terminal.js';

const EXAMPLE = join(import.meta.dirname, '../../../specs-example');
const SCHEMA =
  'https://raw.githubusercontent.com/open-feature/cli/refs/heads/main/schema/v0/flag-manifest.json';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'flagkeel-manifest-'));
  mkdirSync(join(directory, 'flags'));
  write('flagkeel.yaml', 'workspace: Shop\nenvironments: { staging: {}, production: {} }\n');
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function write(path: string, text: string): void {
  writeFileSync(join(directory, path), text);
}

function flag(name: string, rest: string): void {
  write(`flags/${name}.yaml`, `flag: ${name}\ntrafficType: user\n${rest}`);
}

async function flagsOf(): Promise<{ flags: Record<string, unknown>; stderr: string }> {
  const { exitCode, stdout, stderr } = await cliRun(['manifest', directory]);
  expect(exitCode).toBe(0);
  const { flags } = JSON.parse(stdout) as { flags: Record<string, unknown> };
  return { flags, stderr };
}

describe('manifest', () => {
  it('has every flag of the example, by name, with type, default value and description', async () => {
    const output = join(directory, 'flags.json');

    const run = await cliRun(['manifest', EXAMPLE, '--output', output]);

    expect(run).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(JSON.parse(readFileSync(output, 'utf8'))).toEqual({
      $schema: SCHEMA,
      flags: {
        'bulk-orders': {
          flagType: 'string',
          defaultValue: 'denied',
          description: 'Order lists with hundreds of lines; part of the business contract.',
        },
        'express-pay': {
          flagType: 'boolean',
          defaultValue: false,
          description: 'Pay with one tap on the one-page checkout.',
        },
        'image-service': {
          flagType: 'string',
          defaultValue: 'original',
          description:
            'Kill switch of the image resizing service; killed, pages link to the originals.',
        },
        'loyalty-points': {
          flagType: 'boolean',
          defaultValue: false,
          description: 'Points for every order, shown in the account.',
        },
        'new-checkout': {
          flagType: 'boolean',
          defaultValue: false,
          description: 'One-page checkout replacing the three-step flow.',
        },
        'payment-provider': {
          flagType: 'string',
          defaultValue: 'southpay',
          description: 'Which provider takes card payments, and with which timeout.',
        },
        'product-videos': {
          flagType: 'boolean',
          defaultValue: false,
          description: 'Short videos on product pages.',
        },
        'search-ranking': {
          flagType: 'string',
          defaultValue: 'classic',
          description: 'Ranking model of the product search.',
        },
      },
    });
  });

  it('has flags of true and false as booleans, too', async () => {
    flag('pay', 'treatments: { "true": New, "false": Old }\ndefaultTreatment: "true"\n');

    const { flags, stderr } = await flagsOf();

    expect(flags).toEqual({ pay: { flagType: 'boolean', defaultValue: true } });
    expect(stderr).toBe('');
  });

  it('has a flag whose environments differ as a string, and warns', async () => {
    flag(
      'pay',
      `treatments: { "on": New, "off": Old }
defaultTreatment: "off"
environments:
  staging: { defaultRule: "on" }
  production:
    treatments: { "on": New, "off": Old, half: Both }
    defaultRule: "off"
`,
    );

    const { flags, stderr } = await flagsOf();

    expect(flags).toEqual({ pay: { flagType: 'string', defaultValue: 'off' } });
    expect(stderr).toBe(
      'warning: flag/pay is on or off in some places and not in others; the manifest has it as a string\n',
    );
  });

  it('has descriptions on one line, which cannot end the comment that generators put them in', async () => {
    flag(
      'pay',
      'description: "One\\npage */ process.exit() /*"\ntreatments: { a: "", b: "" }\ndefaultTreatment: a\n',
    );

    const { flags } = await flagsOf();

    expect(flags['pay']).toMatchObject({ description: 'One page * / process.exit() /*' });
  });

  it('is not written of invalid specs', async () => {
    flag('pay', 'treatments: { a: "", b: "" }\n');

    const run = await cliRun(['manifest', directory]);

    expect(run).toMatchObject({ exitCode: 3, stdout: '' });
    expect(run.stderr).toContain('missing-field');
  });
});
