import { startFlagkeel, type CliResult } from '../../support/cli.js';
import { patiently } from '../../support/patience.js';
import {
  FAULTS,
  INTERRUPTS,
  SIGNALS,
  type AnswerFault,
  type Interrupt,
  type Signal,
} from './faults.js';
import type { Moment } from './front.js';
import { inLanes, Worlds } from '../lanes.js';
import { rawState } from '../live-world.js';
import { READS, WRITES, type RequestKind } from './requests.js';
import { makeWorld, type Place, type World } from './world.js';

/** One cell of the matrix: what goes wrong, with which request, and when. */
export interface Cell {
  readonly kind: RequestKind;
  readonly moment: Moment;
  readonly what: AnswerFault | Signal;
  /** What the run gets while it waits for the answer that goes wrong. */
  readonly interrupt?: Interrupt;
}

/** Words for what goes wrong: `connection reset, SIGINT`. */
export function nameOf({ what, interrupt }: Omit<Cell, 'kind' | 'moment'>): string {
  const name = typeof what === 'string' ? what : what.name;
  return interrupt === undefined ? name : `${name}, ${interrupt}`;
}

/** What came of a cell. */
export interface CellResult {
  readonly cell: Cell;
  /** Exit code of the run that met the fault; null: it was killed. */
  readonly code: number | null;
  /** Undisturbed runs until one ended with 0. */
  readonly runsAfter: number;
  /** Something is left that the story without the fault deletes: the service had said that it is gone. */
  readonly leaves: boolean;
  /** Must be empty. */
  readonly violations: readonly string[];
}

/** The story without a fault: what every cell has to end as. */
export interface Reference {
  readonly state: string;
  readonly deletions: ReadonlySet<string>;
}

/** No run of these takes a tenth of it where nothing goes wrong. */
const DEADLINE_MS = 90_000;
const MOST_RUNS_AFTER = 3;

/** A store that has just become well, on a loaded machine, may still refuse a single read. */
export async function stateOf(place: Place): Promise<string> {
  return patiently(async () => rawState(place), { tries: 60, everyMs: 1_000 });
}

export async function undisturbed(world: World): Promise<Reference> {
  const place = await world.copy();
  try {
    const { code, stdout, stderr } = await place.run();
    if (code !== 0) throw new Error(`the story does not end well: ${stdout}${stderr}`);
    return { state: await stateOf(place), deletions: deletionsIn(world.front.passed) };
  } finally {
    await place.dispose();
  }
}

export async function playCell(
  world: World,
  cell: Cell,
  reference: Reference,
): Promise<CellResult> {
  const place = await world.copy();
  const violations: string[] = [];
  try {
    const first = await inTime(struckRun(world, place, cell), violations);
    if (!world.front.endPlan()) violations.push('no request of this kind came');
    const isClaim = /\bIn sync\b/.test(first.stdout);
    if (isClaim && (await stateOf(place)) !== reference.state) {
      violations.push(`it said in sync, and the service is not as the specs say: ${first.stdout}`);
    }
    const { runs, last, end } = await settled(world, place, reference, violations);
    const leaves = end !== reference.state && isLie(cell) && holdsAll(end, reference.state);
    if (end !== reference.state && !leaves) {
      violations.push(`another end than without the fault: ${last.stdout}`);
    }
    if ([first, last].some(({ stdout, stderr }) => `${stdout}${stderr}`.includes(place.key)))
      violations.push('the key was printed');
    const runsAfter = first.code === 0 ? 0 : runs;
    return { cell, code: first.code, runsAfter, leaves, violations };
  } finally {
    await place.dispose();
  }
}

/** No program can tell a service that says it has nothing from one that has nothing. */
function isLie({ what }: Cell): boolean {
  return typeof what === 'object' && what.name === '200 that lies';
}

/** Whether everything of one state is in another, which may hold more objects. */
function holdsAll(state: string, wanted: string): boolean {
  const [own, other] = [state, wanted].map((text) => JSON.parse(text) as Record<string, unknown>);
  return Object.entries(other ?? {}).every(([name, objects]) => {
    const there = new Set(
      (own?.[name] as unknown[] | undefined)?.map((each) => JSON.stringify(each)),
    );
    return (objects as unknown[]).every((each) => there.has(JSON.stringify(each)));
  });
}

/** Runs until one goes well: then nothing is left to do, and nothing was deleted that the story without the fault keeps. */
export async function settled(
  { front }: World,
  place: Place,
  { deletions }: Reference,
  violations: string[],
): Promise<{ readonly runs: number; readonly last: CliResult; readonly end: string }> {
  let last = await inTime(place.run(), violations);
  let runs = 1;
  for (; last.code !== 0 && runs < MOST_RUNS_AFTER; runs += 1) {
    last = await inTime(place.run(), violations);
  }
  if (last.code !== 0)
    violations.push(`not right after ${String(runs)} more runs: ${last.stdout}${last.stderr}`);
  const end = await stateOf(place);
  const after = await inTime(place.run('--dry-run', '--detailed-exitcode'), violations);
  if (after.code !== 0) violations.push(`something is left to do: ${after.stdout}`);
  for (const deletion of deletionsIn(front.passed)) {
    if (!deletions.has(deletion)) violations.push(`deleted because of it: ${deletion}`);
  }
  return { runs, last, end };
}

/** The run that meets the fault. A signal needs a process of its own. */
async function struckRun(world: World, place: Place, cell: Cell): Promise<CliResult> {
  const { what, kind, moment, interrupt } = cell;
  if (typeof what === 'object' && interrupt === undefined) {
    world.front.plan({ kind, moment, fault: what });
    return place.run();
  }
  const run = startFlagkeel(['reconcile', ...place.args], { env: place.env });
  const struckBy = (signal: Signal) => () => {
    run.child.kill(signal);
  };
  if (typeof what === 'string') world.front.plan({ kind, moment, strike: struckBy(what) });
  else if (interrupt) {
    world.front.plan({ kind, moment, fault: what, strike: struckBy(interrupt) });
  }
  return run.ended;
}

export async function inTime(
  run: Promise<CliResult>,
  violations: string[],
  deadlineMs = DEADLINE_MS,
): Promise<CliResult> {
  const late = new Promise<CliResult>((resolve) => {
    setTimeout(() => {
      resolve({ code: -1, stdout: '', stderr: '' });
    }, deadlineMs).unref();
  });
  const result = await Promise.race([run, late]);
  if (result.code === -1) violations.push(`no end within ${String(deadlineMs / 1_000)} s`);
  return result;
}

function deletionsIn(passed: readonly string[]): Set<string> {
  return new Set(passed.filter((each) => each.startsWith('DELETE ')));
}

const MOMENTS: readonly Moment[] = ['before', 'done', 'answered'];

/**
 * Every cell that means something. A read does nothing, so that it makes no difference when its answer is spoilt; pages
 * are those of lists that have more than one. Each fault comes by itself, and with each interrupt in the middle of it.
 */
export function allCells(): Cell[] {
  const kinds = [...READS, ...WRITES];
  const struck = kinds.flatMap((kind) =>
    SIGNALS.flatMap((what) => MOMENTS.map((moment) => ({ kind, what, moment }))),
  );
  const spoilt = FAULTS.flatMap((what) =>
    kinds.flatMap((kind): Cell[] => {
      const isRead = kind.method === 'GET';
      if (what.meets === 'pages') {
        return kind.isPaged === true ? [{ kind, what, moment: 'done' }] : [];
      }
      if (isRead) return what.meets === 'writes' ? [] : [{ kind, what, moment: 'done' }];
      const done: Cell = { kind, what, moment: 'done' };
      return what.meets === 'done' ? [done] : [{ kind, what, moment: 'before' }, done];
    }),
  );
  const interrupted = spoilt.flatMap((cell) =>
    INTERRUPTS.map((interrupt): Cell => ({ ...cell, interrupt })),
  );
  return [...spoilt, ...struck, ...interrupted];
}

/** Plays cells, `lanes` at a time, each lane with a world of its own. The results stand in the order of the cells. */
export async function playCells(
  cells: readonly Cell[],
  { lanes, tell }: { readonly lanes: number; readonly tell?: (result: CellResult) => void },
): Promise<CellResult[]> {
  const make = async (size: 'few' | 'many') => {
    const world = await makeWorld(size);
    return { world, reference: await undisturbed(world) };
  };
  return inLanes(
    cells,
    lanes,
    async () => Promise.resolve(new Worlds(make)),
    async (cell, worlds) => {
      const { world, reference } = await worlds.at(isOfPages(cell) ? 'many' : 'few');
      const result = await playCell(world, cell, reference);
      tell?.(result);
      return result;
    },
  );
}

const isOfPages = ({ what }: Cell): boolean => typeof what === 'object' && what.meets === 'pages';
