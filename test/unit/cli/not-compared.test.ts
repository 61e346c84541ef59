import { expect, it, onTestFinished } from 'vitest';
import { ConfigRepository } from '../../support/git.js';
import { liveWorkspace } from '../../support/live-workspace.js';
import { startTestService } from '../../support/service.js';
import { flagText, STAGING_CONFIG } from '../../support/spec-texts.js';
import { cliRun, type CliRun } from '../../support/terminal.js';

it('a description that was changed by hand was "In sync" on a service that shows no flag by itself', async () => {
  const service = await startTestService({ strict: true });
  onTestFinished(async () => service.stop());
  using repository = new ConfigRepository();
  repository.write({
    'flagkeel.yaml': STAGING_CONFIG,
    'flags/pay.yaml': `${flagText('pay', 10, { staging: '' })}description: Pays\n`,
    'flags/plain.yaml': flagText('plain', 10, { staging: '' }),
  });
  repository.commit('Add pay and plain');
  const command = async (...args: readonly string[]): Promise<CliRun> =>
    cliRun([...args, repository.directory, '--url', service.origin], {
      FLAGKEEL_API_KEY: service.key,
    });
  const run = async (...args: readonly string[]): Promise<CliRun> => command('reconcile', ...args);
  expect(await run()).toMatchObject({ exitCode: 0 });
  const live = await liveWorkspace(service);
  await live.ok('PATCH', `/splits/ws/${live.id}/pay`, [
    { op: 'replace', path: '/description', value: 'by hand' },
  ]);

  const text = await run();
  const json = await run('--dry-run', '--format', 'json');
  const drift = await command('drift');
  const markdown = await run('--dry-run', '--format', 'markdown');

  const notCompared =
    'This service does not show flags by themselves, so what their files say at the top was not compared: flag/pay.';
  expect(text.stdout).toContain('In sync as far as was compared:');
  expect(text.stdout).toContain(notCompared);
  expect(JSON.parse(json.stdout)).toMatchObject({
    changes: [],
    withheld: [],
    notCompared: [{ id: 'flag/pay', what: 'fields', why: 'not-shown' }],
  });
  expect(drift).toMatchObject({ exitCode: 0 });
  expect(drift.stdout).toContain(notCompared);
  expect(drift.stdout).toContain('No drift as far as was compared:');
  expect(markdown.stdout).toContain('does not show flags by themselves');
});
