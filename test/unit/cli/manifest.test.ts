import { expect, it } from 'vitest';
import { cliRun, useCommands, type CliRun } from '../../support/terminal.js';

const { run, write, at, text } = useCommands();

async function manifestOf(flag: string): Promise<CliRun> {
  write({
    'flagkeel.yaml': 'workspace: Shop\nenvironments: { staging: {}, production: {} }\n',
    'flags/pay.yaml': `flag: pay\ntrafficType: user\n${flag}`,
  });
  return run('manifest');
}

it('has every flag of the example, by name, with type, default value and description', async () => {
  const done = await cliRun(['manifest', 'specs-example', '--output', at('flags.json')]);

  expect(done).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  const { $schema, flags } = JSON.parse(text('flags.json')) as {
    $schema: string;
    flags: Record<string, object>;
  };
  expect($schema).toBe(
    'https://raw.githubusercontent.com/open-feature/cli/refs/heads/main/schema/v0/flag-manifest.json',
  );
  const lines = Object.entries(flags).map(
    ([name, members]) =>
      `${name} ${Object.entries(members)
        .map(([member, value]) => `${member}=${String(value)}`)
        .join(' ')}`,
  );
  expect(lines.toSorted()).toEqual(lines);
  expect(lines).toHaveLength(8);
  expect(lines.slice(0, 2)).toEqual([
    'bulk-orders flagType=string defaultValue=denied description=Order lists with hundreds of lines; part of the business contract.',
    'express-pay flagType=boolean defaultValue=false description=Pay with one tap on the one-page checkout.',
  ]);
});

it.each([
  [
    'a boolean, of true and false too',
    'treatments: { "true": New, "false": Old }\ndefaultTreatment: "true"\n',
    { flagType: 'boolean', defaultValue: true },
    '',
  ],
  [
    'a string and a warning where environments differ',
    `treatments: { "on": New, "off": Old }
defaultTreatment: "off"
environments:
  staging: { defaultRule: "on" }
  production: { treatments: { "on": New, "off": Old, half: Both }, defaultRule: "off" }
`,
    { flagType: 'string', defaultValue: 'off' },
    'warning: flag/pay is on or off in some places and not in others; the manifest has it as a string\n',
  ],
  [
    'a description that cannot end the comment that generators put it in',
    'description: "One\\npage */ process.exit() /*"\ntreatments: { a: "", b: "" }\ndefaultTreatment: a\n',
    { flagType: 'string', defaultValue: 'a', description: 'One page * / process.exit() /*' },
    '',
  ],
])('has a flag as %s', async (_, flag, pay, stderr) => {
  const made = await manifestOf(flag);

  expect({ ...made, stdout: '' }).toEqual({ exitCode: 0, stdout: '', stderr });
  expect((JSON.parse(made.stdout) as { flags: object }).flags).toEqual({ pay });
});

it('is not written of invalid specs', async () => {
  const made = await manifestOf('treatments: { a: "", b: "" }\n');

  expect(made).toMatchObject({ exitCode: 3, stdout: '' });
  expect(made.stderr).toContain('missing-field');
});
