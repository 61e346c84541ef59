import { expect, it } from 'vitest';
import { flagkeel } from '../support/cli.js';
import { ConfigRepository } from '../support/git.js';

const FLAGS = 2_100;

function flag(name: string, more = ''): string {
  return `flag: ${name}
treatments: { "on": Shown, "off": Hidden }
defaultTreatment: "off"
${more}environments:
  staging:
    targets: { "on": [${name}-qa, "__proto__", 0012] }
    defaultRule: { "on": 10, "off": rest }
`;
}

/** Thousands of files, with four mistakes among them. */
function world(): ConfigRepository {
  const repository = new ConfigRepository();
  const names = Array.from({ length: FLAGS }, (_, at) => `f${at}`);
  repository.write({
    'flagkeel.yaml':
      'workspace: Shop\nenvironments: { staging: {} }\ndefaults: { trafficType: user }\n',
    ...Object.fromEntries(names.map((name) => [`flags/${name}.yaml`, flag(name)])),
    'flags/f7.yaml': flag('f7', 'nonsense: 1\n'),
    'flags/f700.yaml': 'flag: [\n',
    'flags/f1400.yaml': flag('f1400', 'expires: 2020-01-01\n'),
    'flags/f2000.yaml': flag('f2000').replace('"on": 10', '"no": 10'),
    'segments/staff.yaml': 'segment: staff\nenvironments: { staging: { keysFile: staff.keys } }\n',
    'segments/staff.keys': 'a\nb\n',
  });
  return repository;
}

it('the mistakes among thousands of files are all found', async () => {
  using repository = world();
  repository.commit('Add all of them');

  const validated = await flagkeel(['validate', '--format', 'json', repository.directory]);

  expect(validated.code).toBe(3);
  const { diagnostics } = JSON.parse(validated.stdout) as { diagnostics: { code: string }[] };
  expect(diagnostics.map(({ code }) => code).toSorted()).toEqual([
    'expired',
    'unknown-field',
    'unknown-treatment',
    'yaml-syntax',
  ]);
});

it('the switches of the YAML library, which it asks for at each token, print nothing', async () => {
  using repository = new ConfigRepository();
  repository.write({ 'flagkeel.yaml': 'workspace: Shop\nenvironments: { staging: {} }\n' });
  const env = { LOG_TOKENS: '1', LOG_STREAM: '1' };

  const { code, stdout } = await flagkeel(['validate', repository.directory], { env });

  expect(stdout).toBe('valid: 0 flags, 0 segments, 1 environment\n');
  expect(code).toBe(0);
});
