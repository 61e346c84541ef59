import { beforeEach, describe, expect, it } from 'vitest';
import { appliedWorld, flagSpec, type PipelineWorld } from '../../support/pipeline-world.js';
import { cliRun, type CliRun } from '../../support/terminal.js';

let world: PipelineWorld;

/** `pay` is on both environments, production wants approvals from then on, and a commit changes `pay`. */
beforeEach(async () => {
  world = await appliedWorld();
  const { repository, live } = world;
  await live.ok('PATCH', `/environments/ws/${live.id}/${live.production}`, [
    { op: 'replace', path: '/changePermissions/areApprovalsRequired', value: true },
  ]);
  repository.commit('Ramp pay', { 'flags/pay.yaml': flagSpec('pay', { on: 20 }) });
});

async function run(...args: readonly string[]): Promise<CliRun> {
  const { repository, service } = world;
  return cliRun([...args, repository.directory, '--url', service.origin], {
    FLAGKEEL_API_KEY: service.key,
  });
}

describe('an environment that requires approvals', () => {
  it('is not "In sync" while its change waits for one: exit 8, named, in every further run', async () => {
    const first = await run('reconcile');
    const next = await run('reconcile');

    expect(first.exitCode).toBe(8);
    expect(next.exitCode).toBe(8);
    for (const { stdout } of [first, next]) {
      expect(stdout).not.toContain('In sync');
      expect(stdout).toContain(
        'Not in sync: flag/pay@production held for an approval on the service; ',
      );
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain('in a change request, and have it approved');
    }
  });

  it('is never converged, also where it is left to wait on purpose', async () => {
    const { exitCode, stdout } = await run('reconcile', '--allow-held', '--format', 'json');

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ converged: false });
  });

  it('says in words why a kill is refused', async () => {
    const { exitCode, stderr } = await run('kill', 'pay', '--environment', 'production');

    expect(exitCode).toBe(1);
    expect(stderr).toContain('cannot kill flag "pay"');
    expect(stderr).toContain('changes in this environment need an approval');
  });
});
