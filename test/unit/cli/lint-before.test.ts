import { expect, it } from 'vitest';
import { ConfigRepository } from '../../support/git.js';
import { cliRun } from '../../support/terminal.js';

const PAY =
  'flag: pay\ntrafficType: user\ntreatments: { "on": "", "off": "" }\ndefaultTreatment: "off"\nenvironments: { production: { defaultRule: [{ "on": 10 }, { "off": 90 }] } }\n';
const TURNED = PAY.replace('{ "on": 10 }, { "off": 90 }', '{ "off": 90 }, { "on": 10 }');
const FOUND =
  'flags/pay.yaml:5:44: error[treatments-reordered] keys change their treatment: the last commit has the order "on", "off", and this is "off", "on"';

async function found({ directory }: Pick<ConfigRepository, 'directory'>): Promise<string[]> {
  const { stdout } = await cliRun(['validate', directory]);
  return stdout.split('\n').filter((line) => /\[[a-z-]+\] /.test(line));
}

it('validate compares what is not committed with HEAD, and a commit with the one before it', async () => {
  using repository = new ConfigRepository();
  repository.write({
    'flagkeel.yaml':
      'workspace: Shop\nenvironments: { production: {} }\nlint: { levels: { treatments-reordered: error } }\n',
    'flags/pay.yaml': PAY,
  });
  repository.commit('Add pay');
  expect(await found(repository)).toEqual([]);

  repository.write({ 'flags/pay.yaml': TURNED });
  expect(await found(repository)).toEqual([FOUND]);

  repository.commit('Turn pay round');
  expect(await found(repository)).toEqual([FOUND]);

  repository.shell('git clone -q --depth 1 "file://$PWD" shallow');
  expect(await found({ directory: `${repository.directory}/shallow` })).toEqual([]);
  repository.remove('shallow');

  repository.write({ 'README.md': 'Flags of the shop.\n' });
  repository.commit('Add a page');
  expect(await found(repository)).toEqual([]);
});
