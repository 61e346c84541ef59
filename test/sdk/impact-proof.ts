import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { WireDefinition } from '../../src/admin-api/wire.js';
import type { Plan } from '../../src/generated/plan.schema.js';
import { ImpactCheck, type Compared, type Moved, type ServedWorld } from './impact-check.js';
import { startProofWorld, type ProofWorld } from './proof-world.js';
import { Draw, SEGMENTS, userKey } from './random-definitions.js';
import { startSdk, type Case, type Pair } from './sdk-process.js';

const run = promisify(execFile);

export interface ImpactProof extends Compared {
  /** Flags that the plan says to serve something else. */
  readonly flags: number;
  readonly evaluations: number;
}

interface ImpactOptions {
  readonly root: string;
  readonly seed: number;
  readonly flags: number;
  readonly keys: number;
  readonly sdk: readonly [string, ...string[]];
}

interface Ended {
  readonly stdout: string;
  /** 4: a guard refuses the plan, which is printed all the same. */
  readonly code?: number;
}

/** Keys beyond these are in no list. */
const FIRST_UNLISTED = 1_000_000;
/** A key that matchers list, and nothing else. */
const LISTED_ALONE = 'user 1';

/**
 * Holds the impact of a plan against what an SDK serves before and after the plan is applied. The specs are those that
 * the program imports from random definitions, which then get other random definitions, with the same seeds.
 */
export async function proveImpact(options: ImpactOptions): Promise<ImpactProof> {
  const draw = new Draw(options.seed);
  const workspaces = [
    { name: 'Default', environments: [{ name: 'staging' }], trafficTypes: ['user'] },
  ];
  const world = await startProofWorld({ workspaces }, 'staging');
  const directory = mkdtempSync(join(tmpdir(), 'impact-proof-'));
  const flagkeel = async (...args: readonly string[]): Promise<string> => {
    const env = { ...process.env, FLAGKEEL_API_KEY: world.adminKey };
    const program = join(options.root, 'node_modules/.bin/tsx');
    const all = ['src/main.ts', ...args, directory, '--url', world.origin, '--quiet'];
    const ended = run(program, all, { cwd: options.root, maxBuffer: 1e9, env });
    const { stdout, code = 0 }: Ended = await ended.catch((error: unknown) => error as Ended);
    if (code !== 0 && !(code === 4 && args.includes('--dry-run'))) {
      throw new Error(`flagkeel ${args.join(' ')} ended with ${code}: ${stdout.slice(-2_000)}`);
    }
    return stdout;
  };
  const git = async (...args: readonly string[]): Promise<unknown> =>
    run('git', ['-C', directory, '-c', 'user.name=p', '-c', 'user.email=p@localhost', ...args]);
  try {
    const names = await createAll(world, draw, options);
    await flagkeel('import');
    for (const args of [
      ['init', '-q'],
      ['add', '-A'],
      ['commit', '-qm', 'Import'],
    ]) {
      await git(...args);
    }
    await changeAll(world, draw, names, options.keys);
    const drawn = Array.from({ length: 2 * options.keys }, (_, index) =>
      draw.case(index < options.keys ? index : FIRST_UNLISTED + index),
    );
    const cases = [...drawn, { ...draw.case(0), key: LISTED_ALONE }];
    const before = await servedNow(world, options.sdk, names, cases);
    const planned = ['--dry-run', '--show-keys', '--format', 'json'];
    const plan = JSON.parse(await flagkeel('reconcile', '--adopt', ...planned)) as Plan;
    // The guards refuse so many kills and full flips, unless a person approves the plan.
    await flagkeel('reconcile', '--adopt', '--approve', plan.planHash);
    const after = await servedNow(world, options.sdk, names, cases);
    return compared(plan, { names, cases, before, after });
  } finally {
    rmSync(directory, { recursive: true, force: true });
    await world.stop();
  }
}

const pathOf = (flag: string): string => `/splits/ws/Default/${flag}/environments/staging`;

/** Segments with keys and flags with definitions, all random. @returns the names of the flags. */
export async function createAll(
  world: ProofWorld,
  draw: Draw,
  { flags, keys }: Pick<ImpactOptions, 'flags' | 'keys'>,
): Promise<string[]> {
  for (const name of SEGMENTS) {
    await world.admin('POST', '/segments/ws/Default/trafficTypes/user', { name });
    await world.admin('POST', `/segments/staging/${name}`);
    await fill(world, name, draw, keys);
  }
  const names: string[] = [];
  for (let index = 0; index < flags; index += 1) {
    const name = `f${index}`;
    await world.admin('POST', '/splits/ws/Default/trafficTypes/user', { name });
    await world.admin('POST', pathOf(name), draw.definition(names.slice(-20), keys));
    names.push(name);
  }
  return names;
}

async function fill(world: ProofWorld, segment: string, draw: Draw, keys: number): Promise<void> {
  const held = Array.from({ length: 100 }, () => userKey(draw.below(keys)));
  await world.admin('PUT', `/segments/staging/${segment}/uploadKeys?replace=true`, { keys: held });
}

/** Other definitions for two of three flags, and other keys for two segments. */
async function changeAll(
  world: ProofWorld,
  draw: Draw,
  names: readonly string[],
  keys: number,
): Promise<void> {
  for (const segment of SEGMENTS.slice(1)) await fill(world, segment, draw, keys);
  for (const [index, name] of names.entries()) {
    if (draw.below(3) === 0) continue;
    const earlier = names.slice(Math.max(0, index - 20), index);
    await world.admin('PUT', pathOf(name), draw.definition(earlier, keys));
  }
}

interface Served extends ServedWorld {
  readonly answers: readonly (readonly Pair[])[];
}

async function servedNow(
  world: ProofWorld,
  command: ImpactOptions['sdk'],
  names: readonly string[],
  cases: readonly Case[],
): Promise<Served> {
  const sdk = await startSdk(command, world);
  const answers: Pair[][] = [];
  for (let at = 0; at < cases.length; at += 500) {
    answers.push(...(await sdk.evaluate(names, cases.slice(at, at + 500))));
  }
  await sdk.stop();
  const definitions = new Map<string, WireDefinition>();
  for (const name of names) definitions.set(name, await world.admin('GET', pathOf(name)));
  const segments = new Map<string, ReadonlySet<string>>();
  for (const name of SEGMENTS) segments.set(name, new Set(await world.keysOf(name)));
  return { answers, definitions, segments };
}

interface Observed {
  readonly names: readonly string[];
  readonly cases: readonly Case[];
  readonly before: Served;
  readonly after: Served;
}

/** What a flag or another flag changes, a plan tells of the whole plan; what a segment changes, of its keys alone. */
function compared({ changes }: Plan, { names, cases, before, after }: Observed): ImpactProof {
  const check = new ImpactCheck(before, after);
  let flags = 0;
  for (const [at, flag] of names.entries()) {
    const served = cases.map(({ key }, index): Moved => {
      const [from = NONE, to = NONE] = [before, after].map(({ answers }) => answers[index]?.[at]);
      return { key, from, to };
    });
    const told = changes.flatMap(({ kind, name, impact = [] }) =>
      impact.filter((each) => each.flag === flag).map((impact) => ({ kind, name, impact })),
    );
    const bySegments = told.filter(({ kind }) => kind === 'segment');
    for (const { name, impact } of bySegments) check.segment(name, flag, impact, served);
    const whole = told.find(({ kind }) => kind === 'flag');
    if (told.length > 0) flags += 1;
    if (whole || bySegments.length === 0) check.whole(flag, whole?.impact, served);
  }
  return { flags, evaluations: 2 * cases.length * names.length, ...check.result };
}

const NONE: Pair = ['control', null];
