import { setTimeout as pause } from 'node:timers/promises';
import type { StoreFault } from '../../support/store-faults.js';
import { inLanes, Worlds } from '../lanes.js';
import { inTime, settled, stateOf, undisturbed, type Reference } from '../matrix/cell.js';
import { READS, WRITES, type RequestKind } from '../matrix/requests.js';
import { makeStoreWorld, type Place, type Stage, type World } from '../matrix/world.js';
import type { GroundKind } from './grounds.js';
import { halfDone, missing } from './state.js';

/** What a run does when its store begins to fail. */
export interface Way {
  readonly name: string;
  readonly stage: Stage;
  /** The store fails before the service sees the first request of this kind. */
  readonly at: RequestKind;
  /** Milliseconds, and the run goes on; absent: until the run has ended. */
  readonly lastsMs?: number;
}

const kindOf = (name: string): RequestKind => {
  const kind = [...READS, ...WRITES].find((each) => each.name === name);
  if (kind === undefined) throw new Error(`bug: no request is called ${name}`);
  return kind;
};

export const WAYS: readonly Way[] = [
  { name: 'first apply, first write', stage: 'first apply', at: kindOf('create a segment') },
  { name: 'change, first read', stage: 'change', at: kindOf('list workspaces') },
  { name: 'change, a write', stage: 'change', at: kindOf('patch a definition') },
  { name: 'change, the kill', stage: 'change', at: kindOf('kill') },
  { name: 'full look in sync', stage: 'in sync', at: kindOf('list segments') },
  { name: 'change, for 3 s', stage: 'change', at: kindOf('patch a definition'), lastsMs: 3_000 },
];

export interface StoreCell {
  readonly fault: StoreFault<never>;
  readonly way: Way;
}

export interface StoreResult {
  readonly cell: StoreCell;
  /** Exit code of the run that met the fault. */
  readonly code: number | null;
  /** What `/health` answered while the store failed; undefined: it was mended before the run ended. */
  readonly health: string | undefined;
  readonly seconds: number;
  /** Milliseconds from the mended store until `/health` is well again, without a restart of the service. */
  readonly wellAfterMs: number;
  /** Undisturbed runs until one ended with 0. */
  readonly runsAfter: number;
  /** Must be empty. */
  readonly violations: readonly string[];
}

/** A run that meets a silent store waits for several requests in a row. */
const RUN_ENDS_WITHIN_MS = 600_000;
const WELL_WITHIN_MS = 30_000;

export interface Lanes {
  readonly lanes: number;
  readonly ways: readonly Way[];
  /** Which cells are played. */
  readonly plays: (ground: string, cell: StoreCell) => boolean;
  readonly tell?: (ground: string, result: StoreResult) => void;
}

/** Plays every fault of a ground with every way, each lane on a ground of its own. */
export async function playStores(
  { name, faults, open }: GroundKind,
  { lanes, ways, plays, tell }: Lanes,
): Promise<StoreResult[]> {
  const cells = ways.flatMap((way) => faults.map((fault): StoreCell => ({ fault, way })));
  const openLane = async (): Promise<Worlds<Stage>> => {
    const ground = await open();
    const make = async (stage: Stage) => {
      const world = await makeStoreWorld(ground, stage);
      return { world, reference: await undisturbed(world) };
    };
    return new Worlds(make, async () => ground.dispose());
  };
  const chosen = cells.filter((cell) => plays(name, cell));
  return inLanes(chosen, lanes, openLane, async (cell, worlds) => {
    const { world, reference } = await worlds.at(cell.way.stage);
    const result = await playStoreCell(world, cell, reference);
    tell?.(name, result);
    return result;
  });
}

async function playStoreCell(
  world: World,
  cell: StoreCell,
  reference: Reference,
): Promise<StoreResult> {
  const place = await world.copy();
  const violations: string[] = [];
  const complain = (text: string): unknown => violations.push(text);
  try {
    const before = await stateOf(place);
    const begun = performance.now();
    const struck = strikeAt(world, place, cell);
    const first = await inTime(place.run(), violations, RUN_ENDS_WITHIN_MS);
    const seconds = (performance.now() - begun) / 1_000;
    if (!world.front.endPlan()) complain('no request of this kind came');
    const acknowledged = [...place.acknowledged];
    const health = await struck.healthWhileItLasts();
    await struck.mend();
    const wellAfterMs = await wellAfter(place, violations);

    const state = await stateOf(place);
    const saysInSync = first.code === 0 || /\bIn sync\b/.test(first.stdout);
    if (saysInSync && state !== reference.state) complain(`a lie: ${first.stdout}`);
    const { message } = cell.fault;
    if (health !== undefined && health !== message && !(health === 'ok' && first.code === 0)) {
      complain(`/health said "${health}", and not "${message}"`);
    }
    violations.push(...halfDone(before, state, reference.state));
    violations.push(...missing(acknowledged, before, state));
    const { runs, last, end } = await settled(world, place, reference, violations);
    if (end !== reference.state) complain(`another end: ${last.stdout}`);
    const runsAfter = first.code === 0 ? 0 : runs;
    return { cell, code: first.code, health, seconds, wellAfterMs, runsAfter, violations };
  } finally {
    await place.dispose();
  }
}

interface Struck {
  /** Undefined where the store is well again already. */
  healthWhileItLasts(): Promise<string | undefined>;
  mend(): Promise<void>;
}

function strikeAt(world: World, place: Place, { fault, way }: StoreCell): Struck {
  let mending: (() => void | Promise<void>) | undefined;
  let passing: Promise<void> | undefined;
  const mend = async (): Promise<void> => {
    const work = mending;
    mending = undefined;
    await work?.();
  };
  world.front.plan({
    kind: way.at,
    happens: async () => {
      mending = await place.strike(fault.name);
      if (way.lastsMs !== undefined) passing = pause(way.lastsMs).then(mend);
    },
  });
  return {
    healthWhileItLasts: async () => {
      if (way.lastsMs !== undefined) return undefined;
      return healthOf(place);
    },
    mend: async () => {
      await passing;
      await mend();
    },
  };
}

async function healthOf({ origin }: Place): Promise<string> {
  const response = await fetch(`${origin}/health`);
  const body = (await response.json()) as { message?: string; status?: string };
  return body.message ?? body.status ?? '';
}

async function wellAfter(place: Place, violations: string[]): Promise<number> {
  const mended = performance.now();
  for (;;) {
    const health = await healthOf(place);
    const ms = performance.now() - mended;
    if (health === 'ok') return ms;
    if (ms > WELL_WITHIN_MS) {
      violations.push(`not well ${String(WELL_WITHIN_MS / 1_000)} s later: ${health}`);
      return ms;
    }
    await pause(50);
  }
}
