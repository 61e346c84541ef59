import { expect, it, onTestFinished } from 'vitest';
import { ConfigRepository } from '../../support/config-repository.js';
import { liveWorkspace } from '../../support/live-workspace.js';
import { startTestService } from '../../support/service.js';
import { flagText, STAGING_CONFIG } from '../../support/spec-texts.js';
import { cliRun, type CliRun } from '../../support/terminal.js';

it('a description that was changed by hand was "In sync" on a service that shows no flag by itself', async () => {
  const service = await startTestService({ strict: true });
  onTestFinished(async () => service.stop());
  using repository = new ConfigRepository();
  repository.write({
    'flaghoist.yaml': STAGING_CONFIG,
    'flags/pay.yaml': `${flagText('pay', 10, { staging: '' })}description: Pays\n`,
    'flags/plain.yaml': flagText('plain', 10, { staging: '' }),
  });
  repository.commit('Add pay and plain');
  const run = async (...args: readonly string[]): Promise<CliRun> =>
    cliRun(['reconcile', repository.directory, '--url', service.origin, ...args], {
      FLAGHOIST_API_KEY: service.key,
    });
  expect(await run()).toMatchObject({ exitCode: 0 });
  const live = await liveWorkspace(service);
  await live.ok('PATCH', `/splits/ws/${live.id}/pay`, [
    { op: 'replace', path: '/description', value: 'by hand' },
  ]);

  const text = await run();
  const json = await run('--dry-run', '--format', 'json');
  const markdown = await run('--dry-run', '--format', 'markdown');

  expect(text.stdout).toContain('In sync as far as was compared:');
  expect(text.stdout).toContain(
    'This service does not show flags by themselves, so what their files say at the top was not compared: flag/pay.',
  );
  expect(JSON.parse(json.stdout)).toMatchObject({
    changes: [],
    withheld: [],
    notCompared: [{ id: 'flag/pay', what: 'fields', why: 'not-shown' }],
  });
  expect(markdown.stdout).toContain('This service does not show flags by themselves');
});
