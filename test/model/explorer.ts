import { EMPTY_WORLD, type World } from '../support/service-model.js';
import type { Commit } from './memory-git.js';
import { NOTHING_REMEMBERED } from './memory-home.js';
import { Places } from './places.js';
import { RunMemo, type Result } from './run-memo.js';
import {
  afterCommit,
  afterHand,
  afterRun,
  breachesOfRun,
  NOTHING_WATCHED,
  textOfWatch,
  unsettled,
  type Watch,
} from './small-laws.js';
import { actOnce, runOnce, type Durable, type Planted, type RunWay } from './small-run.js';
import {
  committed,
  COUNTS,
  editedByHand,
  FIRST,
  isRight,
  killedByHand,
  liveOf,
  removedByHand,
  valuesAt,
  type Editable,
  type Field,
  type Values,
} from './small-world.js';
import { Interned } from './tables.js';

/** Which part of a small world is explored. */
export interface Part {
  /** Fields that commits change. */
  readonly commits: readonly Field[];
  /** Fields that somebody changes by hand. */
  readonly edits: readonly Editable[];
  /** What somebody else does by hand. */
  readonly acts: readonly Act[];
}

export type Act =
  'kill' | 'restore' | 'remove' | 'lose the state' | 'roll back' | 'stop' | 'overtake';

export interface Limits {
  readonly depth: number;
  readonly seconds: number;
  readonly transitions?: number;
  /** Of the memory of the process. */
  readonly megabytes?: number;
  /** Called every few seconds with what was found so far. */
  readonly onProgress?: (found: Explored) => void;
}

export interface Explored {
  readonly states: number;
  readonly transitions: number;
  /** Of these transitions those that are a run, a part of one, or a command. */
  readonly runs: number;
  /** Results of runs that were asked for, for transitions and to see whether states come to rest. */
  readonly asked: number;
  /** Runs of the real pipeline: each reads something that no other reads. */
  readonly evaluations: number;
  /** Events from the beginning, at most, up to which every state was expanded. */
  readonly depth: number;
  /** States of which everything was tried that may happen next. */
  readonly expanded: number;
  /** Nothing new can be reached. */
  readonly isClosed: boolean;
  readonly seconds: number;
  /** Of the time of a core. */
  readonly coreSeconds: number;
  /** The shortest story that breaks a law; null: none was found. */
  readonly broken: {
    readonly story: readonly string[];
    readonly breaches: readonly string[];
  } | null;
}

interface State extends Durable {
  readonly watch: Watch;
}

/** What one event leads to, and what is wrong with that. */
interface Step {
  readonly label: string;
  readonly next: State;
  readonly breaches: readonly string[];
  readonly isRun: boolean;
}

/** Runs are stopped and overtaken before each of so many first writes. */
const WRITES_CUT = 3;
const RUNS_TO_SETTLE = 3;
/** Runs until what is remembered stays as it is: corrections of drift are counted for a while. */
const RUNS_TO_REST = 5;

interface Following {
  readonly label: string;
  readonly next: Commit;
}

/** Time between two reports of progress. */
const REPORTED_MS = 5_000;
/** More sets of what is watched than there can be. */
const MOST_WATCHED = 512;

/** Explores a part of a small world, breadth first: whoever is found to break a law is found by a shortest story. */
export class Explorer {
  readonly #part: Part;
  readonly #planted: Planted;
  readonly #isExact: boolean;
  readonly #places: Places;
  readonly #memo: RunMemo;
  readonly #watches = new Interned(textOfWatch);
  readonly #commitsAfter = new WeakMap<Commit, readonly Following[]>();
  readonly #byHandOf = new WeakMap<World, Map<string, World | null>>();
  readonly #settling = new Map<number, readonly string[]>();

  /**
   * @param options `isExact`: no commit is left out, and nothing is remembered but of runs that began in the very same place; to
   *   see that this makes no difference.
   */
  constructor(part: Part, planted: Planted = {}, options: { isExact?: boolean } = {}) {
    this.#part = part;
    this.#planted = planted;
    this.#isExact = options.isExact === true;
    this.#places = new Places(this.#isExact);
    this.#memo = new RunMemo(this.#places, this.#isExact);
  }

  /** The first commit, applied to a service that has nothing. */
  async start(): Promise<State> {
    const commit = committed(null, FIRST);
    const empty = { world: EMPTY_WORLD, commit, remembered: NOTHING_REMEMBERED };
    const { end, error } = await runOnce(empty, { way: 'whole' });
    if (error !== null) throw new Error(`the first run ended with ${error}`);
    return this.#canonical({ ...end, watch: NOTHING_WATCHED });
  }

  async explore(limits: Limits): Promise<Explored> {
    const startedAt = performance.now();
    const startedWith = process.cpuUsage();
    const found = new Found();
    found.add(this.#idOf(await this.start()), null);
    let [depth, levelEnd, reportedAt] = [0, found.states, startedAt];
    let isFull = false;
    const isOver = (): boolean =>
      found.broken !== null ||
      found.transitions >= (limits.transitions ?? Infinity) ||
      performance.now() - startedAt > limits.seconds * 1_000 ||
      isFull;
    const soFar = (): Explored => ({
      ...{ states: found.states, transitions: found.transitions, runs: found.runs, depth },
      ...{ asked: this.#memo.asked, evaluations: this.#memo.made, broken: found.broken },
      expanded: found.expanded,
      isClosed: found.expanded === found.states,
      seconds: (performance.now() - startedAt) / 1_000,
      coreSeconds:
        (process.cpuUsage(startedWith).user + process.cpuUsage(startedWith).system) / 1e6,
    });
    while (found.expanded < found.states && depth < limits.depth && !isOver()) {
      await this.#expand(found);
      if (found.expanded === levelEnd) {
        depth += 1;
        levelEnd = found.states;
      }
      if (performance.now() - reportedAt < REPORTED_MS) continue;
      reportedAt = performance.now();
      isFull = process.memoryUsage.rss() / 2 ** 20 > (limits.megabytes ?? Infinity);
      limits.onProgress?.(soFar());
    }
    return soFar();
  }

  /** Tries all that may happen in the next state. */
  async #expand(found: Found): Promise<void> {
    const at = found.expanded;
    const state = this.#stateAt(found.idAt(at));
    const restless = await this.neverSettles(state);
    if (restless.length > 0) found.broken = { story: found.storyTo(at), breaches: restless };
    for (const { label, next, breaches, isRun } of found.broken ? [] : await this.steps(state)) {
      found.transitions += 1;
      if (isRun) found.runs += 1;
      if (breaches.length > 0) {
        found.broken = { story: [...found.storyTo(at), label], breaches };
        return;
      }
      found.add(this.#idOf(next), { from: at, label });
    }
    if (!found.broken) found.expanded += 1;
  }

  /** All that may happen next. */
  async steps(state: State): Promise<Step[]> {
    const byHand = [...this.#commits(state), ...this.#edits(state), ...this.#acts(state)];
    return [...byHand, ...(await this.#commands(state)), ...(await this.#runs(state))];
  }

  #commits(state: State): Step[] {
    const { commit } = state;
    const now = valuesAt(commit);
    const known = this.#commitsAfter.get(commit) ?? this.#commitsFrom(commit);
    this.#commitsAfter.set(commit, known);
    return known.map(({ label, next }) => {
      const watch = afterCommit(state.watch, now, valuesAt(next));
      return this.#step(label, { ...state, commit: next, watch });
    });
  }

  #commitsFrom(commit: Commit): Following[] {
    const now = valuesAt(commit);
    const says = (values: Values, label: string) =>
      isRight(values) ? [{ label, next: committed(commit, values) }] : [];
    const changes = this.#part.commits.flatMap((field) =>
      Array.from({ length: COUNTS[field] }, (_, value) => value)
        .filter((value) => value !== now[field])
        .flatMap((value) => says({ ...now, [field]: value }, `commit ${field} ${value}`)),
    );
    const before = commit.parent && valuesAt(commit.parent);
    return [...changes, ...(before ? says(before, 'revert') : [])];
  }

  #edits(state: State): Step[] {
    return this.#part.edits.flatMap((field) =>
      Array.from({ length: COUNTS[field] }, (_, value) => value).flatMap((value) =>
        this.#byHand(state, `edit ${field} ${value}`, (world) => editedByHand(world, field, value)),
      ),
    );
  }

  /** @param change gives null where there is nothing to do; asked once for each world and label. */
  #byHand(state: State, label: string, change: (world: World) => World | null): Step[] {
    const known = this.#byHandOf.get(state.world) ?? new Map<string, World | null>();
    this.#byHandOf.set(state.world, known);
    const found = known.get(label);
    const world = found === undefined ? change(state.world) : found;
    if (found === undefined) known.set(label, world && this.#places.worlds.canonical(world));
    if (!world) return [];
    const next = { ...state, world };
    return [this.#step(label, { ...next, watch: afterHand(state.watch, state, next) })];
  }

  #acts(state: State): Step[] {
    const { acts } = this.#part;
    const { remembered, commit } = state;
    const lost = { ...state, remembered: NOTHING_REMEMBERED };
    const byHand = (act: Act, label: string, change: (world: World) => World | null): Step[] =>
      acts.includes(act) ? this.#byHand(state, label, change) : [];
    const before = commit.parent && valuesAt(commit.parent);
    return [
      ...byHand('kill', 'kill', (world) => killedByHand(world, true)),
      ...byHand('restore', 'restore', (world) => killedByHand(world, false)),
      ...byHand('remove', 'remove', removedByHand),
      ...(before
        ? byHand('roll back', labelOfRollBack(before), (world) => rolledBack(world, before))
        : []),
      ...(acts.includes('lose the state') && remembered.exists
        ? [this.#step('lose the state', { ...lost, watch: afterHand(state.watch, state, lost) })]
        : []),
    ];
  }

  /** `flagkeel kill` and `flagkeel restore`; the latter where there is something to restore. */
  async #commands(state: State): Promise<Step[]> {
    const steps: Step[] = [];
    const isKilled = liveOf(state.world)['a@production killed'] === 1;
    for (const isKill of isKilled || this.#isExact ? [true, false] : [true]) {
      const name = isKill ? 'kill' : 'restore';
      if (!this.#part.acts.includes(name)) continue;
      const run = async () => actOnce(state, isKill);
      const ran = await this.#memo.of(state, { name, run, isByFile: true });
      if (ran.writes.length === 0) continue;
      const watch = afterHand(state.watch, state, ran.end);
      const step = this.#step(`flagkeel ${name}`, { ...ran.end, watch });
      steps.push({ ...step, isRun: true, breaches: ran.breaches });
    }
    return steps;
  }

  async #runs(state: State): Promise<Step[]> {
    const whole = await this.#run(state, { way: 'whole' });
    const steps = [this.#ended(state, 'run', whole)];
    if (whole.guards.length > 0 && whole.planHash !== null) {
      const approved = await this.#run(state, { way: 'approved', hash: whole.planHash });
      steps.push(this.#ended(state, 'run approved', approved));
    }
    whole.moments.forEach((after, at) => {
      steps.push(this.#cut(state, `run cut after ${at + 1}`, after));
    });
    const { acts } = this.#part;
    for (let before = 0; before < Math.min(whole.writes.length, WRITES_CUT); before += 1) {
      if (acts.includes('stop')) {
        const stopped = await this.#run(state, { way: 'stopped', before });
        steps.push(this.#ended(state, `run stopped before write ${before}`, stopped, false));
      }
      if (acts.includes('overtake')) {
        const stale = await this.#run(state, { way: 'stale', before });
        steps.push(this.#ended(state, `run overtaken before write ${before}`, stale));
      }
    }
    return steps;
  }

  #ended(state: State, label: string, ran: Result, isWhole = true): Step {
    const breaches = [...breachesOfRun(state.watch, state, ran.end), ...ran.breaches];
    const isDone = isWhole && ran.error === null && ran.guards.length === 0;
    const watch = afterRun(state.watch, ran.end, isDone);
    return { ...this.#step(label, { ...ran.end, watch }), isRun: true, breaches };
  }

  #cut(state: State, label: string, after: Durable): Step {
    const breaches = breachesOfRun(state.watch, state, after);
    return {
      ...this.#step(label, { ...after, watch: afterRun(state.watch, after, false) }),
      ...{ isRun: true, breaches },
    };
  }

  /** What is not as it should be three runs from here, or is not at rest soon after. */
  async neverSettles(state: Durable): Promise<readonly string[]> {
    const place = this.#places.idOf(state);
    const known = this.#settling.get(place);
    if (known) return known;
    let now: Durable = state;
    const found: string[] = [];
    for (let run = 1; run <= RUNS_TO_SETTLE; run += 1) {
      const { ran, isSame } = await this.#approvedRun(now);
      now = ran.end;
      if (run === RUNS_TO_SETTLE || isSame) {
        found.push(...unsettled(now, ran));
        break;
      }
    }
    for (let run = 1; run <= RUNS_TO_REST; run += 1) {
      const { ran, isSame } = await this.#approvedRun(now);
      now = ran.end;
      if (ran.writes.length > 0) found.push(`wrote again: ${ran.writes.join()}`);
      if (isSame) break;
      if (run === RUNS_TO_REST) found.push('what is remembered does not come to rest');
    }
    this.#settling.set(place, found);
    return found;
  }

  async #approvedRun(from: Durable): Promise<{ readonly ran: Result; readonly isSame: boolean }> {
    const first = await this.#run(from, { way: 'whole' });
    const hash = first.guards.length > 0 ? first.planHash : null;
    const ran = hash === null ? first : await this.#run(from, { way: 'approved', hash });
    return { ran, isSame: this.#places.idOf(from) === this.#places.idOf(ran.end) };
  }

  async #run(from: Durable, how: RunWay): Promise<Result> {
    const name = 'before' in how ? `${how.way} ${how.before}` : how.way;
    return this.#memo.of(from, { name, run: async () => runOnce(from, how, this.#planted) });
  }

  #step(label: string, next: State): Step {
    return { label, next: this.#canonical(next), breaches: [], isRun: false };
  }

  #canonical(state: State): State {
    return { ...this.#places.canonical(state), watch: state.watch };
  }

  #idOf(state: State): number {
    return this.#places.idOf(state) * MOST_WATCHED + this.#watches.idOf(state.watch);
  }

  #stateAt(id: number): State {
    const watch = id % MOST_WATCHED;
    return {
      ...this.#places.at((id - watch) / MOST_WATCHED),
      watch: this.#watches.at(watch),
    };
  }
}

/** What an exploration has found: the states in the order in which they were, each with the event that led to it. */
class Found {
  transitions = 0;
  runs = 0;
  /** So many of the first states. */
  expanded = 0;
  broken: Explored['broken'] = null;
  readonly #known = new Set<number>();
  readonly #ids: number[] = [];
  readonly #from: number[] = [];
  readonly #labels: string[] = [];

  get states(): number {
    return this.#ids.length;
  }

  idAt(index: number): number {
    return this.#ids[index] ?? -1;
  }

  add(id: number, by: { readonly from: number; readonly label: string } | null): void {
    if (this.#known.has(id)) return;
    this.#known.add(id);
    this.#ids.push(id);
    this.#from.push(by?.from ?? -1);
    this.#labels.push(by?.label ?? '');
  }

  storyTo(index: number): string[] {
    const story: string[] = [];
    for (let at = index; at > 0; at = this.#from[at] ?? -1) story.unshift(this.#labels[at] ?? '');
    return story;
  }
}

/** Flag `a` in production as an earlier commit had it, as the page of a service takes it back. */
function rolledBack(world: World, before: Values): World | null {
  const first = editedByHand(world, 'a@production on', before['a@production on']);
  const both = editedByHand(
    first ?? world,
    'a@production allocation',
    before['a@production allocation'],
  );
  return both ?? first;
}

/** The same for what leads to the same. */
function labelOfRollBack(before: Values): string {
  return `roll back ${before['a@production on']} ${before['a@production allocation']}`;
}

/** Tells a story again, event by event. @returns what is wrong with it, with the event. */
export async function retold(
  part: Part,
  story: readonly string[],
  planted: Planted = {},
): Promise<string[]> {
  const explorer = new Explorer(part, planted);
  let state = await explorer.start();
  for (const label of story) {
    const step = (await explorer.steps(state)).find((each) => each.label === label);
    if (!step) throw new Error(`"${label}" cannot happen there`);
    if (step.breaches.length > 0) return step.breaches.map((each) => `${label}: ${each}`);
    state = step.next;
    const restless = await explorer.neverSettles(state);
    if (restless.length > 0) return restless.map((each) => `after ${label}: ${each}`);
  }
  return [];
}
