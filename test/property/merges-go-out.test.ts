import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { flagSpec, PIPELINE_CONFIG, pipelineWorld } from '../support/pipeline-world.js';
import { cliRun } from '../support/terminal.js';

const FLAGS = ['a', 'b', 'c'];
/** Each costs some twenty runs; `MERGE_ORDERS=200` looks further. */
const ORDERS = Number(process.env['MERGE_ORDERS'] ?? '2');

/** The job of a merge, in the order in which jobs run: done, dropped, or run while the service is away. */
const jobs = fc.array(
  fc.record({ merge: fc.nat(3), fate: fc.constantFrom('runs', 'dropped', 'away') }),
  { maxLength: 5 },
);
const merges = fc.array(
  fc.record({ flag: fc.constantFrom(...FLAGS), share: fc.integer({ min: 1, max: 99 }) }),
  { minLength: 4, maxLength: 4 },
);

it(
  'no merged change is lost, in whatever order jobs run, fail, are dropped and run again',
  async () => {
    await fc.assert(fc.asyncProperty(merges, jobs, ending), { numRuns: ORDERS });
  },
  ORDERS * 60_000,
);

async function ending(
  wanted: readonly { flag: string; share: number }[],
  order: readonly { merge: number; fate: string }[],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'flagkeel-merges-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const world = await pipelineWorld();
  const { repository, service } = world;
  const run = async (url: string, ...args: readonly string[]) =>
    cliRun([...args, repository.directory, '--url', url], { FLAGKEEL_API_KEY: service.key });
  const files = FLAGS.map((name) => [`flags/${name}.yaml`, flagSpec(name)] as const);
  repository.commit('Add flags', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    ...Object.fromEntries(files),
  });
  await world.applied();
  const commits: string[] = [];
  for (const [at, { flag, share }] of wanted.entries()) {
    const text = `${flagSpec(flag, { on: share })}# ${String(at)}\n`;
    commits.push(
      repository.commit(`Ramp ${flag} (#${String(at)})`, { [`flags/${flag}.yaml`]: text }),
    );
    const plan = ['--format', 'json', '--output', join(folder, `${String(at)}.json`)];
    expect(await run(service.origin, 'plan', '--since', 'HEAD^1', ...plan)).toMatchObject({
      exitCode: 0,
    });
  }
  const apply = async (merge: number, url = service.origin) => {
    repository.git('checkout', '--quiet', '--detach', commits[merge] ?? '');
    const shown = Array.from({ length: merge + 1 }, (_, at) => [
      '--plan',
      join(folder, `${String(at)}.json`),
    ]);
    return run(url, 'reconcile', '--touched', ...shown.flat());
  };
  for (const { merge, fate } of order) {
    if (fate === 'dropped') continue;
    const done = await apply(merge, fate === 'away' ? 'http://127.0.0.1:9' : service.origin);
    expect(done.exitCode, done.stderr).toBe(fate === 'away' ? 6 : 0);
  }
  const last = await apply(3);
  expect(last.exitCode, last.stdout + last.stderr).toBe(0);
  const rest = await run(service.origin, 'plan', '--detailed-exitcode');
  expect(rest.exitCode, rest.stdout).toBe(0);
}
