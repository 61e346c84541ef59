import { expect, it } from 'vitest';
import { ConfigRepository } from '../../support/git.js';
import { flagText } from '../../support/spec-texts.js';
import { cliRun } from '../../support/terminal.js';

const flag = (name: string, on = 10): string => flagText(name, on, { production: '' });

/** A name that is used again, one that came back as it was, one that moved, and one that was removed and is not in HEAD. */
function world(): ConfigRepository {
  const repository = new ConfigRepository();
  repository.write({
    'flagkeel.yaml':
      'workspace: Shop\nenvironments: { production: {} }\nlint: { reserveNames: true }\n',
    ...Object.fromEntries(
      ['reused', 'reverted', 'moved', 'unborn'].map((name) => [`flags/${name}.yaml`, flag(name)]),
    ),
  });
  repository.commit('Add four flags');
  ['reused', 'reverted', 'unborn'].forEach((name) => {
    repository.remove(`flags/${name}.yaml`);
  });
  repository.move('flags/moved.yaml', 'flags/shop/moved.yaml');
  repository.shell(
    'git add --all && GIT_COMMITTER_DATE=2026-03-01T12:00:00Z git commit -qm "Remove three"',
  );
  repository.write({
    'flags/shop/reused.yaml': flag('reused', 20),
    'flags/reverted.yaml': flag('reverted'),
  });
  repository.commit('Add two');
  repository.write({ 'flags/unborn.yaml': flag('unborn', 30) });
  return repository;
}

it('validate refuses the name of a flag that was removed, unless the flag says why', async () => {
  using repository = world();

  const { exitCode, stdout } = await cliRun(['validate', repository.directory]);

  expect(exitCode).toBe(3);
  expect(stdout.split('\n').filter((line) => line.includes('['))).toEqual([
    'flags/shop/reused.yaml:1:7: error[name-reused] another flag "reused" was removed on 2026-03-01',
    'flags/unborn.yaml:1:7: error[name-reused] another flag "unborn" was removed on 2026-03-01',
  ]);
  const why = 'allow: name-reused # the checkout of 2026 again\n';

  repository.write({
    'flags/shop/reused.yaml': `${flag('reused')}${why}`,
    'flags/unborn.yaml': `${flag('unborn')}${why}`,
  });

  expect(await cliRun(['validate', repository.directory])).toMatchObject({ exitCode: 0 });
});
