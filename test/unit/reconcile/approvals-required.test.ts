import { beforeEach, expect, it } from 'vitest';
import { appliedWorld, flagSpec, type PipelineWorld } from '../../support/pipeline-world.js';
import type { CliRun } from '../../support/terminal.js';

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

const run = async (...args: readonly string[]): Promise<CliRun> => world.command(...args);

it('is never in sync while its change waits for an approval, and says in words why a kill is refused', async () => {
  for (const { exitCode, stdout } of [await run('reconcile'), await run('reconcile')]) {
    expect(exitCode).toBe(8);
    expect(stdout).not.toContain('In sync');
    expect(stdout).toContain(
      'Not in sync: flag/pay@production held for an approval on the service; ',
    );
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('in a change request, and have it approved');
  }
  const allowed = await run('reconcile', '--allow-held', '--format', 'json');
  expect(allowed.exitCode).toBe(0);
  expect(JSON.parse(allowed.stdout)).toMatchObject({ converged: false });

  const { exitCode, stderr } = await run('kill', 'pay', '--environment', 'production');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('cannot kill flag "pay"');
  expect(stderr).toContain('changes in this environment need an approval');
});
