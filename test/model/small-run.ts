import type { AdminWriter } from '../../src/admin-api/writer.js';
import type { LeaseKeeper } from '../../src/daemon/replicas/leases.js';
import { leaseFence } from '../../src/daemon/replicas/shared-leadership.js';
import { FlagkeelError } from '../../src/errors.js';
import { actLive } from '../../src/kill/now.js';
import type { Fence } from '../../src/model/run.js';
import { Disposables } from '../../src/platform/closers.js';
import {
  RunCache,
  type Applied,
  type Planned,
  type RunContext,
} from '../../src/reconcile/context.js';
import { recordAct } from '../../src/reconcile/record.js';
import { reconcile } from '../../src/reconcile/reconcile.js';
import { SpecCache } from '../../src/specs/cache.js';
import { fenceState } from '../../src/state/open.js';
import type { World } from '../support/service-model.js';
import { MemoryLeases } from '../support/memory-leases.js';
import { sourceAt, type Commit } from './memory-git.js';
import { MemoryRef, type Remembered } from './memory-home.js';
import { MemoryService, type Written } from './memory-service.js';

/** What outlives a process: the service, git, and the state ref. */
export interface Durable {
  readonly world: World;
  readonly commit: Commit;
  readonly remembered: Remembered;
}

/** How a run goes. */
export type RunWay =
  | { readonly way: 'whole' }
  /** What the guards hold back is approved. */
  | { readonly way: 'approved'; readonly hash: string }
  /** It is asked to end before it sends this write. */
  | { readonly way: 'stopped'; readonly before: number }
  /** Before it sends this write it loses its lease, and the one that takes over makes a whole run; then it goes on. */
  | { readonly way: 'stale'; readonly before: number };

/** What a run left, and what it did on the way. */
export interface Ran {
  /** What there was after each write and each commit of the state, in order: where a process may die. */
  readonly moments: readonly Durable[];
  readonly end: Durable;
  readonly writes: readonly Written[];
  /** Writes by the replica that had lost its lease. */
  readonly staleWrites: readonly Written[];
  readonly isOvertaken: boolean;
  readonly messages: readonly string[];
  /** Code of the error that ended it; null: none did. */
  readonly error: string | null;
  readonly guards: readonly string[];
  readonly planHash: string | null;
  /** `ID PATH` of what was held back; of keys, and of what would be made or taken away, `ID` as well. */
  readonly withheld: ReadonlySet<string>;
}

/** What of the real functions is wrapped by a wrong one. */
export interface Planted {
  readonly reads?: (world: World) => MemoryRef['reads'];
  readonly writes?: (world: World) => MemoryRef['writes'];
  readonly withoutFence?: boolean;
}

/** What a state says of where it belongs. */
const PLACE = {
  workspaceId: 'ws-1',
  workspaceName: 'Default',
  origin: 'https://admin.example.com',
  directory: '',
  environments: { 'env-staging': 'staging', 'env-production': 'production' },
};

/** No time passes in a small world. */
const NOW = Date.parse('2026-03-02T10:00:00Z');
const TIME = { now: () => NOW, sleep: async () => Promise.resolve(), random: () => 0 };
const specs = new SpecCache();

/** One run of the real pipeline between things that lie in memory. */
export async function runOnce(from: Durable, how: RunWay, planted: Planted = {}): Promise<Ran> {
  const world = new RunWorld(from, planted);
  const { commit } = from;
  const leases = new MemoryLeases();
  const ended = await world.run(commit, leases.keeper('a'), how, async () => {
    leases.expire();
    const other = new RunWorld(world.now(), planted);
    await other.run(commit, leases.keeper('b'), { way: 'whole' });
    world.takeOver(other);
  });
  return { ...world.ran(), ...ended };
}

type Ended = Pick<Ran, 'error' | 'guards' | 'planHash' | 'withheld'>;

class RunWorld {
  readonly #service: MemoryService;
  readonly #ref: MemoryRef;
  readonly #commit: Commit;
  readonly #planted: Planted;
  readonly #moments: Durable[] = [];
  readonly #writes: Written[] = [];
  readonly #stale: Written[] = [];
  #isStale = false;

  constructor({ world, commit, remembered }: Durable, planted: Planted) {
    this.#service = new MemoryService(world);
    this.#ref = new MemoryRef(remembered);
    this.#commit = commit;
    this.#planted = planted;
    const { reads, writes } = planted;
    if (reads) {
      this.#ref.reads = (state, held) => reads(this.#service.world)(state, held);
    }
    if (writes) this.#ref.writes = (state) => writes(this.#service.world)(state);
    this.#service.onWritten = (written) => {
      this.#writes.push(written);
      if (this.#isStale) this.#stale.push(written);
      this.#moment();
    };
    this.#ref.onCommit = () => {
      this.#moment();
    };
  }

  now(): Durable {
    return { world: this.#service.world, commit: this.#commit, remembered: this.#ref.held };
  }

  ran(): Omit<Ran, keyof Ended> {
    return {
      moments: this.#moments,
      end: this.now(),
      writes: this.#writes,
      staleWrites: this.#stale,
      isOvertaken: this.#isStale,
      messages: this.#ref.messages,
    };
  }

  /** What another replica did is there for this one. */
  takeOver(other: RunWorld): void {
    this.#service.world = other.#service.world;
    this.#ref.held = other.#ref.held;
    this.#writes.push(...other.#writes);
    this.#ref.messages.push(...other.#ref.messages);
    this.#isStale = true;
  }

  #moment(): void {
    this.#moments.push(this.now());
  }

  async run(
    commit: Commit,
    keeper: LeaseKeeper,
    how: RunWay,
    takeOver: () => Promise<void> = async () => Promise.resolve(),
  ): Promise<Ended> {
    await using closers = new Disposables();
    const doubt = new AbortController();
    const lease = await keeper.take('source');
    if (!lease) throw new Error('the lease is free');
    const fence = leaseFence(lease.name, lease, { keeper, doubt, seenAtMs: performance.now() });
    const check: Fence['check'] = async (write) =>
      this.#planted.withoutFence === true ? Promise.resolve() : fence.check(write);
    this.#service.onWrite = async (write) => {
      if (how.way === 'stopped' && write === how.before) doubt.abort('SIGTERM');
      if (how.way === 'stale' && write === how.before) await takeOver();
    };
    const context = this.#context(commit, { fence: { ...fence, check }, closers, doubt }, how);
    try {
      const done = await reconcile(context, {
        openWriter: () => this.#service.writer(check),
        now: () => NOW,
        signal: doubt.signal,
        time: TIME,
        progress: {},
        note: {},
        onKill: () => undefined,
      });
      return endedAs(done);
    } catch (error) {
      if (!(error instanceof FlagkeelError)) throw error;
      return { error: error.code, guards: [], planHash: null, withheld: new Set() };
    }
  }

  /** Kills or restores as the command does, with its record in the state. */
  async act(commit: Commit, isKill: boolean): Promise<Ended> {
    await using closers = new Disposables();
    const doubt = new AbortController();
    const context = this.#context(commit, { closers, doubt }, null);
    const what = { flag: 'a', environment: 'production', isKill, reason: 'INC-2' };
    try {
      const openWriter = (): AdminWriter => this.#service.writer();
      const { place, environmentName, wasKilled, sent } = await actLive(
        { ...context, openWriter },
        what,
      );
      const done = { flag: 'a', environment: environmentName, isKill, wasKilled };
      if (sent) await recordAct(context, await place(), { ...done, note: sent });
      return { error: null, guards: [], planHash: null, withheld: new Set() };
    } catch (error) {
      if (!(error instanceof FlagkeelError)) throw error;
      return { error: error.code, guards: [], planHash: null, withheld: new Set() };
    }
  }

  #context(
    commit: Commit,
    {
      fence,
      closers,
      doubt,
    }: {
      readonly fence?: Fence;
      readonly closers: Disposables;
      readonly doubt: AbortController;
    },
    how: RunWay | null,
  ): RunContext {
    const note = (): void => undefined;
    const wait = { timeoutMs: 0, signal: doubt.signal, note };
    const open = async () => Promise.resolve(this.#ref.open());
    const reader = this.#service.reader();
    return {
      source: sourceAt(commit, how === null),
      memory: new RunCache(specs),
      note,
      options: {
        environments: [],
        only: [],
        prune: false,
        adopt: false,
        revertDrift: false,
        allowOlder: false,
        approvals: how?.way === 'approved' ? [{ hash: how.hash }] : [],
      },
      now: () => NOW,
      openReader: async () => Promise.resolve(reader),
      originName: () => reader.origin,
      peekState: open,
      flagIdsOf: async () => Promise.resolve(new Map()),
      openRecords: open,
      appliedToOthers: async () => Promise.resolve([]),
      usesServiceToo: async () => Promise.resolve(undefined),
      rememberedPlace: async () => Promise.resolve(this.#ref.held.exists ? PLACE : null),
      lockState: async () => Promise.resolve(),
      openState: async (place) =>
        fenceState(await open(), { place, origin: reader.origin, wait, fence, closers }),
    };
  }
}

/** @returns what the act left; see `RunWorld.act`. */
export async function actOnce(from: Durable, isKill: boolean): Promise<Ran> {
  const world = new RunWorld(from, {});
  const ended = await world.act(from.commit, isKill);
  return { ...world.ran(), ...ended };
}

function endedAs(done: Planned | Applied): Ended {
  const { plan, planHash, guardFindings } = done;
  const isSent = 'outcomes' in done;
  return {
    error: null,
    guards: isSent ? [] : guardFindings.map(({ guard }) => guard),
    planHash,
    withheld: new Set(
      plan.withheld.flatMap(({ id, action, fields, keys }) => [
        ...fields.map(({ path }) => `${id} ${path}`),
        ...(action !== 'update' || keys ? [id] : []),
      ]),
    ),
  };
}
