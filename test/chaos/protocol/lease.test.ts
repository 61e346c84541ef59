import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { HeldLease, LeaseKeeper } from '../../../src/daemon/replicas/leases.js';
import { leaseFence } from '../../../src/daemon/replicas/shared-leadership.js';
import { openCheckout } from '../../../src/git/checkout.js';
import type { Fence } from '../../../src/model/run.js';
import type { State } from '../../../src/model/state.js';
import { Disposables } from '../../../src/platform/closers.js';
import { fenceState, openStateHome } from '../../../src/state/open.js';
import type { StateHome } from '../../../src/state/store.js';
import { makeDirectory, makeRepository, type TestRepository } from '../../support/git.js';
import { MemoryLeases } from '../../support/memory-leases.js';
import { randomFrom } from '../choices.js';

const TRACES = Number(process.env['FLAGKEEL_TRACES'] ?? 100);
const STEPS = 20;
const QUINT = process.env['FLAGKEEL_QUINT'] ?? 'node_modules/.bin/quint';
const MODEL = fileURLToPath(new URL('lease.qnt', import.meta.url));

function quint(...args: readonly string[]): string {
  return execFileSync(QUINT, args, { encoding: 'utf8', stdio: 'pipe' });
}

const SIMULATION = ['--backend=typescript', '--invariant=safe', '--max-steps=25', '--seed=0x1'];

it('the protocol keeps its promises as far as it is simulated', () => {
  const told = quint('run', '--main=fenced', ...SIMULATION, '--max-samples=2000', MODEL);

  expect(told).toContain('No violation found');
});

it('without the fence a replica writes after the one that took over', () => {
  const run = () => quint('run', '--main=unfenced', ...SIMULATION, '--max-samples=2000', MODEL);

  expect(run).toThrow(/Invariant violated|Found an issue/);
});

it('every step of real replicas is one that the model allows, with the same outcome', async () => {
  const traces: string[] = [];
  for (let seed = 1; seed <= TRACES; seed += 1) traces.push(await traceOf(seed, true));

  expect(replayed(traces)).toContain(`${TRACES} passing`);
});

it('a program that does not ask the fence does what the model does not allow', async () => {
  const traces: string[] = [];
  for (let seed = 1; seed <= 20; seed += 1) traces.push(await traceOf(seed, false));

  expect(() => replayed(traces)).toThrow();
});

/** Each trace as a test of the model. */
function replayed(traces: readonly string[]): string {
  const directory = makeDirectory();
  copyFileSync(MODEL, join(directory, 'lease.qnt'));
  const runs = traces.map((trace, index) => `  run trace${index}Test = init\n${trace}`);
  const file = join(directory, 'traces.qnt');
  writeFileSync(
    file,
    `module traces {\n  import lease(FENCED = true).* from "./lease"\n${runs.join('\n')}}\n`,
  );
  return quint('test', '--backend=typescript', '--main=traces', '--max-samples=1', file);
}

/** One random trace of two replicas; what each step came to, and what there was after it. */
async function traceOf(seed: number, isFenced: boolean): Promise<string> {
  const random = randomFrom(seed);
  const repository = makeRepository();
  repository.commit('Begin', { 'flagkeel.yaml': 'workspace: Default\n' });
  const leases = new MemoryLeases();
  const replicas = ['a', 'b'].map((name) => new Replica(name, leases, repository, isFenced));
  const lines: string[] = [];
  while (lines.length < STEPS) {
    const replica = replicas[Math.floor(random() * replicas.length)];
    const step = await replica?.step(random());
    if (step === undefined) continue;
    const { term, holder } = leases.row('source') ?? { term: 0, holder: '' };
    const believes = replicas.map(({ name, term: own }) => `believed.get("${name}") == ${own}`);
    const now = [`term == ${term}`, `holder == "${holder}"`, `ref == ${commitsOf(repository)}`];
    lines.push(`    .then(${step})\n    .expect(${[...now, ...believes].join(' and ')})`);
  }
  for (const replica of replicas) await replica.end();
  return `${lines.join('\n')}\n`;
}

function commitsOf(repository: TestRepository): number {
  const refs = repository.git('for-each-ref', '--format=%(refname)', 'refs/flagkeel');
  return refs === '' ? 0 : Number(repository.git('rev-list', '--count', refs));
}

const PLACE = {
  workspace: { id: 'ws', name: 'Default', type: 'workspace', requiresTitleAndComments: false },
  environments: [],
} as const;
const ORIGIN = 'https://admin.example.com';

/** A run of a replica, from its reading of the state on. */
interface Begun {
  readonly home: StateHome;
  readonly fence: Fence;
  readonly closers: Disposables;
}

class Replica {
  readonly name: string;
  readonly #leases: MemoryLeases;
  readonly #keeper: LeaseKeeper;
  readonly #repository: TestRepository;
  readonly #isFenced: boolean;
  #held: HeldLease | null = null;
  #run: Begun | null = null;
  #saves = 0;

  constructor(name: string, leases: MemoryLeases, repository: TestRepository, isFenced: boolean) {
    this.name = name;
    this.#leases = leases;
    this.#keeper = leases.keeper(name);
    this.#repository = repository;
    this.#isFenced = isFenced;
  }

  /** The term that it believes to hold. */
  get term(): number {
    return this.#held?.term ?? 0;
  }

  /** Does something that can be done now. @returns the step of the model that it was. */
  async step(chance: number): Promise<string> {
    const isOver = this.#leases.row('source')?.isOver ?? true;
    if (!isOver && chance < 0.12) {
      this.#leases.expire();
      return 'expire';
    }
    if (!this.#held) return this.#take();
    if (chance < 0.25) return this.#renew();
    if (!this.#run) return this.#begin();
    if (chance < 0.6) return this.#write(this.#run);
    if (chance < 0.9) return this.#save(this.#run);
    await this.end();
    return this.#told('end');
  }

  #told(step: string): string {
    return `${step}("${this.name}")`;
  }

  async #take(): Promise<string> {
    this.#held = await this.#keeper.take('source');
    return this.#told(this.#held ? 'take' : 'takeInVain');
  }

  async #renew(): Promise<string> {
    await this.#keeper.renew();
    if (this.#held?.lost.aborted === true) {
      this.#held = null;
      await this.end();
    }
    return this.#told('renew');
  }

  async #begin(): Promise<string> {
    const lease = this.#held;
    if (!lease) throw new Error('a run without a lease');
    const doubt = new AbortController();
    const closers = new Disposables();
    const real = leaseFence(lease.name, lease, {
      keeper: this.#keeper,
      doubt,
      seenAtMs: performance.now(),
    });
    // One lease and one machine for each: what excludes runs besides is left out of the model.
    const enter: Fence['enter'] = async () => Promise.resolve(async () => Promise.resolve());
    const fence: Fence = { ...real, enter };
    const checkout = await openCheckout(this.#repository.directory);
    closers.add(async () => checkout.close());
    const place = { workspaceId: 'ws', origin: ORIGIN, directory: '' };
    const home = await openStateHome({ checkout, ...place });
    const wait = { timeoutMs: 0, signal: doubt.signal, note: () => undefined };
    const fenced = await fenceState(home, {
      place: PLACE,
      origin: ORIGIN,
      wait,
      fence,
      closers,
    });
    if (!fenced) throw new Error('there is no home');
    await fenced.read();
    this.#run = { home: fenced, fence, closers };
    return this.#told('begin');
  }

  async #write({ fence }: Begun): Promise<string> {
    if (!this.#isFenced) return this.#told('write');
    const isRefused = await fence.check({ isUrgent: false }).then(
      () => false,
      () => true,
    );
    return this.#told(isRefused ? 'refused' : 'write');
  }

  async #save({ home }: Begun): Promise<string> {
    this.#saves += 1;
    const name = `${this.name}${this.#saves}`;
    const entry = { kind: 'flag' as const, name, environments: {} };
    const state: State = new Map([[`flag/${name}`, entry]]);
    const isRefused = await home.write(state, { head: null, message: name }).then(
      () => false,
      () => true,
    );
    return this.#told(isRefused ? 'saveInVain' : 'save');
  }

  async end(): Promise<void> {
    await this.#run?.closers[Symbol.asyncDispose]();
    this.#run = null;
  }
}
