import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished, vi } from 'vitest';
import { flagSpec, PIPELINE_CONFIG, pipelineWorld } from '../support/pipeline-world.js';
import { cliRun } from '../support/terminal.js';
import { lawSettings } from './law-settings.js';

const FLAGS = ['a', 'b', 'c'];
const MERGES = 4;
/** Each order costs some twenty runs. */
const LIMIT_MS = 120_000;

/**
 * A merge, or a job of any merge before: it runs, never starts, meets a service that is away, or one that refuses every
 * write after the first. The same job may come again, and behind a later one.
 */
const event = fc.oneof(
  fc.record({
    flag: fc.constantFrom(...FLAGS),
    share: fc.integer({ min: 1, max: 99 }),
  }),
  fc.record({ job: fc.nat(MERGES - 1), fate: fc.constantFrom('runs', 'dropped', 'away', 'cut') }),
);
type Event = typeof event extends fc.Arbitrary<infer Item> ? Item : never;
const events = fc
  .array(event, { minLength: MERGES, maxLength: 3 * MERGES })
  .filter((list) => list.filter((each) => 'flag' in each).length >= 2);

const { numRuns, seed } = lawSettings('merges go out', 6);
vi.setConfig({ testTimeout: numRuns * LIMIT_MS });

it('no merged change is lost, in whatever order jobs run, fail, are dropped and run again', async () => {
  await fc.assert(fc.asyncProperty(events, ending), { numRuns, seed, endOnFailure: true });
});

async function ending(order: readonly Event[]): Promise<void> {
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
  const planFile = (at: number): string => join(folder, `${String(at)}.json`);
  const merge = async (flag: string, share: number): Promise<void> => {
    const at = commits.length;
    repository.git('checkout', '--quiet', '--detach', commits.at(-1) ?? 'HEAD');
    const text = `${flagSpec(flag, { on: share })}# ${String(at)}\n`;
    commits.push(
      repository.commit(`Ramp ${flag} (#${String(at)})`, { [`flags/${flag}.yaml`]: text }),
    );
    const plan = ['--format', 'json', '--output', planFile(at)];
    const reviewed = await run(service.origin, 'plan', '--since', 'HEAD^1', ...plan);
    expect(reviewed.exitCode, reviewed.stderr).toBe(0);
  };
  const apply = async (job: number, url = service.origin) => {
    repository.git('checkout', '--quiet', '--detach', commits[job] ?? '');
    const shown = commits.slice(0, job + 1).flatMap((_, at) => ['--plan', planFile(at)]);
    return run(url, 'reconcile', '--touched', '--timeout', '5s', ...shown);
  };
  const codes: Readonly<Record<string, readonly number[]>> = {
    runs: [0],
    away: [6],
    cut: [0, 5],
  };
  for (const each of order) {
    if ('flag' in each) {
      if (commits.length < MERGES) await merge(each.flag, each.share);
      continue;
    }
    const { job, fate } = each;
    if (commits[job] === undefined || fate === 'dropped') continue;
    if (fate === 'cut') refuseLaterWrites(service);
    const done = await apply(job, fate === 'away' ? 'http://127.0.0.1:9' : service.origin);
    service.failAtRandom(() => undefined);
    expect(codes[fate], done.stdout + done.stderr).toContain(done.exitCode);
  }
  const last = await apply(commits.length - 1);
  expect(last.exitCode, last.stdout + last.stderr).toBe(0);
  const rest = await run(service.origin, 'plan', '--detailed-exitcode');
  expect(rest.exitCode, rest.stdout).toBe(0);
}

function refuseLaterWrites(
  service: Pick<Awaited<ReturnType<typeof pipelineWorld>>['service'], 'failAtRandom'>,
): void {
  let writes = 0;
  service.failAtRandom((method) => {
    if (method === 'GET') return undefined;
    writes += 1;
    return writes > 1 ? 500 : undefined;
  });
}
