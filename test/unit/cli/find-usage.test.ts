import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cliRun } from '../../support/terminal.js';

let top: string;
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'flagkeel-usage-')));
  write({
    'specs/flagkeel.yaml': 'workspace: Default\nenvironments: { production: {} }\n',
    'specs/flags/pay.yaml': flagText('pay', '        - { if: { segment: staff }, serve: "on" }'),
    'specs/flags/ship.yaml': flagText(
      'ship',
      '        - { if: { segment: staff }, serve: "on" }\n        - { if: [{ flag: pay, treatments: ["on"] }], serve: "on" }',
    ),
    'specs/segments/staff.yaml':
      'segment: staff\ntrafficType: user\nenvironments: { production: { keys: [ana] } }\n',
    'specs/segments/idle.yaml':
      'segment: idle\ntrafficType: user\nenvironments: { production: { keys: [bo] } }\n',
    'specs/kills/production.yaml': 'kills:\n  pay: { reason: broken }\n',
    'specs/tests/ship.test.yaml': `tests: ship
cases:
  - { name: staff, environment: production, segments: [staff], expect: "on" }
`,
  });
});
afterEach(() => {
  rmSync(top, { recursive: true, force: true });
});

function flagText(name: string, rules: string): string {
  return `flag: ${name}
trafficType: user
treatments: { "on": Shown, "off": Hidden }
defaultTreatment: "off"
environments:
  production:
    rules:
${rules}
    defaultRule: "off"
`;
}

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(top, path)), { recursive: true });
    writeFileSync(join(top, path), text);
  }
}

const find = async (...args: readonly string[]): ReturnType<typeof cliRun> =>
  cliRun(['find-usage', ...args, join(top, 'specs'), '--quiet']);

describe('find-usage in specs', () => {
  it('tells the rules and the spec tests that name a segment', async () => {
    const run = await find('segment/staff');

    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect(run.stdout).toBe(`flags/pay.yaml:8  rule 1 of flag/pay in production
flags/ship.yaml:8  rule 1 of flag/ship in production
tests/ship.test.yaml:3  case of the spec test of flag/ship
3 places in the specs
`);
  });

  it('tells who uses a named condition, and what it names itself', async () => {
    write({
      'specs/flagkeel.yaml': `workspace: Default
environments: { production: {} }
conditions:
  insiders: [{ segment: staff }, { segment: idle }]
  testers: { use: insiders }
`,
      'specs/flags/pay.yaml': flagText('pay', '        - { if: [{ use: insiders }], serve: "on" }'),
    });

    const condition = await find('condition/insiders');
    const segment = await find('segment/idle');
    const none = await find('condition/insider');

    expect(condition.stdout).toBe(
      [
        'flagkeel.yaml:5  condition testers',
        'flags/pay.yaml:8  rule 1 of flag/pay in production',
        '2 places in the specs',
        '',
      ].join('\n'),
    );
    expect(segment.stdout).toBe(
      [
        'flagkeel.yaml:4  condition insiders',
        'flags/pay.yaml:8  rule 1 of flag/pay in production',
        '2 places in the specs',
        '',
      ].join('\n'),
    );
    expect(none.exitCode).toBe(64);
    expect(none.stderr).toContain('did you mean "insiders"?');
  });

  it('tells the rules that use a condition through another one', async () => {
    write({
      'specs/flagkeel.yaml': `workspace: Default
environments: { production: {} }
conditions:
  insiders: [{ segment: staff }]
  testers: { use: insiders }
`,
      'specs/flags/pay.yaml': flagText('pay', '        - { if: [{ use: testers }], serve: "on" }'),
    });

    expect((await find('condition/insiders')).stdout).toBe(
      [
        'flagkeel.yaml:5  condition testers',
        'flags/pay.yaml:8  rule 1 of flag/pay in production, through condition testers',
        '2 places in the specs',
        '',
      ].join('\n'),
    );
    const explained = await cliRun(['explain', 'flag/pay', join(top, 'specs'), '--format', 'json']);
    expect(explained.stdout.replaceAll(/\s/g, '')).toContain('"uses":["testers","insiders"]');
  });

  it('tells the rules and the kills that name a flag', async () => {
    expect((await find('flag/pay')).stdout)
      .toBe(`flags/ship.yaml:9  rule 2 of flag/ship in production
kills/production.yaml:2  kill in production
2 places in the specs
`);
  });

  it('says where it has looked when nothing names it', async () => {
    expect((await find('segment/idle')).stdout).toBe('nothing names segment/idle in the specs\n');
  });

  it.each(['flag/payy', 'segment/pay', 'identities/user'])(
    'is a wrong command line where nothing is declared as %s',
    async (object) => {
      expect((await find(object)).exitCode).toBe(64);
    },
  );
});

describe('find-usage in code', () => {
  beforeEach(() => {
    execFileSync('git', ['init', '--quiet', join(top, 'shop')]);
    write({
      'shop/.gitignore': 'built/\n',
      'shop/built/cart.js': 'isOn("pay");\n',
      'shop/src/cart.js': `const a = isOn('pay');
const b = isOn('pay-now') || isOn('prepay') || isOn('pay.now') || isOn('pay_now');
// Goes by pay.
`,
    });
  });

  it('tells the lines that hold the name by itself, in files that git does not ignore', async () => {
    const code = join(top, 'shop');
    const run = await find('flag/pay', '--code', code, '--format', 'json');

    const { usages } = JSON.parse(run.stdout) as { usages: { code?: string }[] };
    expect(usages.filter((each) => each.code !== undefined)).toEqual([
      { code, file: 'src/cart.js', line: 1, text: "const a = isOn('pay');" },
      { code, file: 'src/cart.js', line: 3, text: '// Goes by pay.' },
    ]);
  });

  it('says where it has looked when no code names it', async () => {
    const code = join(top, 'shop');
    expect((await find('segment/idle', '--code', code)).stdout).toBe(
      `nothing names segment/idle in the specs, ${code}\n`,
    );
  });

  it('fails where the directory of code is not there', async () => {
    const run = await find('flag/pay', '--code', join(top, 'nowhere'));

    expect(run.exitCode).not.toBe(0);
    expect(run.stderr).toContain('cannot search');
  });
});
