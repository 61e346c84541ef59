import { EMPTY_WORLD, type World } from '../support/service-model.js';
import { NOTHING_REMEMBERED, rememberedText, type Remembered } from './memory-home.js';
import type { Commit } from './memory-git.js';
import {
  afterCommit,
  afterHand,
  afterRun,
  breachesOfRun,
  NOTHING_WATCHED,
  textOfWatch,
  unsettled,
  untold,
  type Watch,
} from './small-laws.js';
import {
  actOnce,
  runOnce,
  type Durable,
  type Planted,
  type Ran,
  type RunWay,
} from './small-run.js';
import {
  committed,
  COUNTS,
  editedByHand,
  FIRST,
  isRight,
  killedByHand,
  removedByHand,
  textOf,
  valuesAt,
  type Editable,
  type Field,
  type Values,
} from './small-world.js';

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
}

export interface Explored {
  readonly states: number;
  readonly transitions: number;
  /** Of these transitions those that are a run, a part of one, or a command. */
  readonly runs: number;
  /** Runs of the real pipeline: each from another place than all others. */
  readonly evaluations: number;
  /** Events from the beginning, at most, up to which every state was expanded. */
  readonly depth: number;
  /** Nothing new can be reached. */
  readonly isClosed: boolean;
  readonly seconds: number;
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

/** What is kept of a run: all but its end are moments at which it may be cut off. */
interface Result extends Pick<Ran, 'end' | 'error' | 'guards' | 'planHash' | 'withheld'> {
  readonly moments: readonly Durable[];
  /** Ids of what was written, in order. */
  readonly writes: readonly string[];
  readonly breaches: readonly string[];
}

/** Explores a part of a small world, breadth first: whoever is found to break a law is found by a shortest story. */
export class Explorer {
  readonly #part: Part;
  readonly #planted: Planted;
  readonly #keepsHistory: boolean;
  readonly #worlds = new Interned(textOf);
  readonly #memories = new Interned(rememberedText);
  readonly #heads = new Interned<Commit>(({ id }) => id);
  readonly #histories = new Map<string, Pick<Durable, 'commit' | 'remembered'>>();
  readonly #withheld = new Map<string, ReadonlySet<string>>();
  readonly #ran = new Map<string, Result>();
  readonly #settling = new Map<string, readonly string[]>();
  #evaluations = 0;

  /** @param options `keepsHistory`: no commit is left out; to see that this makes no difference. */
  constructor(part: Part, planted: Planted = {}, options: { keepsHistory?: boolean } = {}) {
    this.#part = part;
    this.#planted = planted;
    this.#keepsHistory = options.keepsHistory === true;
  }

  /** The first commit, applied to a service that has nothing. */
  async start(): Promise<State> {
    const commit = committed(null, FIRST);
    const empty = { world: EMPTY_WORLD, commit, remembered: NOTHING_REMEMBERED };
    const { end, error } = await runOnce(empty, { way: 'whole' });
    if (error !== null) throw new Error(`the first run ended with ${error}`);
    return this.#canonical({ ...end, watch: NOTHING_WATCHED });
  }

  async explore({
    depth: most,
    seconds,
    transitions: enough = Infinity,
  }: Limits): Promise<Explored> {
    const startedAt = performance.now();
    const start = await this.start();
    const seen = new Map<string, { readonly from: string | null; readonly label: string }>();
    seen.set(this.#keyOf(start), { from: null, label: '' });
    let [transitions, runs, depth] = [0, 0, 0];
    let level = [start];
    let broken: Explored['broken'] = null;
    const isOver = (): boolean =>
      broken !== null || transitions >= enough || performance.now() - startedAt > seconds * 1_000;
    while (level.length > 0 && depth < most && !isOver()) {
      const next: State[] = [];
      for (const state of level) {
        if (isOver()) break;
        const from = this.#keyOf(state);
        const restless = await this.neverSettles(state);
        if (restless.length > 0) broken = { story: storyTo(seen, from), breaches: restless };
        for (const step of await this.steps(state)) {
          transitions += 1;
          if (step.isRun) runs += 1;
          if (broken) break;
          if (step.breaches.length > 0) {
            broken = { story: [...storyTo(seen, from), step.label], breaches: step.breaches };
            break;
          }
          const key = this.#keyOf(step.next);
          if (seen.has(key)) continue;
          seen.set(key, { from, label: step.label });
          next.push(step.next);
        }
      }
      if (!isOver() || next.length === 0) depth += 1;
      level = next;
    }
    return {
      ...{ states: seen.size, transitions, runs, depth, broken },
      evaluations: this.#evaluations,
      isClosed: level.length === 0,
      seconds: (performance.now() - startedAt) / 1_000,
    };
  }

  /** All that may happen next. */
  async steps(state: State): Promise<Step[]> {
    const byHand = [...this.#commits(state), ...this.#edits(state), ...this.#acts(state)];
    return [...byHand, ...(await this.#commands(state)), ...(await this.#runs(state))];
  }

  #commits(state: State): Step[] {
    const { commit } = state;
    const now = valuesAt(commit);
    const says = (values: Values, label: string): Step[] => {
      if (!isRight(values)) return [];
      const next = committed(commit, values);
      const watch = afterCommit(state.watch, now, values);
      return [this.#step(label, { ...state, commit: next, watch })];
    };
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
        this.#byHand(state, `edit ${field} ${value}`, editedByHand(state.world, field, value)),
      ),
    );
  }

  #byHand(state: State, label: string, world: World | null): Step[] {
    if (!world) return [];
    const next = { ...state, world };
    return [this.#step(label, { ...next, watch: afterHand(state.watch, state, next) })];
  }

  #acts(state: State): Step[] {
    const { acts } = this.#part;
    const { world, remembered, commit } = state;
    const lost = { ...state, remembered: NOTHING_REMEMBERED };
    return [
      ...(acts.includes('kill') ? this.#byHand(state, 'kill', killedByHand(world, true)) : []),
      ...(acts.includes('restore')
        ? this.#byHand(state, 'restore', killedByHand(world, false))
        : []),
      ...(acts.includes('remove') ? this.#byHand(state, 'remove', removedByHand(world)) : []),
      ...(acts.includes('roll back') && commit.parent
        ? this.#byHand(state, 'roll back', rolledBack(world, valuesAt(commit.parent)))
        : []),
      ...(acts.includes('lose the state') && remembered.exists
        ? [this.#step('lose the state', { ...lost, watch: afterHand(state.watch, state, lost) })]
        : []),
    ];
  }

  /** `flaghoist kill` and `flaghoist restore`. */
  async #commands(state: State): Promise<Step[]> {
    const steps: Step[] = [];
    for (const isKill of [true, false]) {
      const name = isKill ? 'kill' : 'restore';
      if (!this.#part.acts.includes(name)) continue;
      const ran = await this.#remember(`${this.#placeOf(state)} ${name}`, async () =>
        actOnce(state, isKill),
      );
      if (ran.writes.length === 0) continue;
      const watch = afterHand(state.watch, state, ran.end);
      const step = this.#step(`flaghoist ${name}`, { ...ran.end, watch });
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
    const place = this.#placeOf(state);
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
    return { ran, isSame: this.#placeOf(from) === this.#placeOf(ran.end) };
  }

  async #run(from: Durable, how: RunWay): Promise<Result> {
    const name = 'before' in how ? `${how.way} ${how.before}` : how.way;
    return this.#remember(`${this.#placeOf(from)} ${name}`, async () =>
      runOnce(from, how, this.#planted),
    );
  }

  /** Runs once what begins in the same place; of what it did is kept what laws ask for. */
  async #remember(key: string, run: () => Promise<Ran>): Promise<Result> {
    const known = this.#ran.get(key);
    if (known) return known;
    this.#evaluations += 1;
    const ran = await run();
    const { moments, end, writes, error, guards, planHash, withheld } = ran;
    const result = {
      moments: moments.slice(0, -1).map((each) => this.#canonicalDurable(each)),
      end: this.#canonicalDurable(end),
      writes: writes.map(({ id }) => id),
      breaches: untold(ran),
      withheld: this.#shared([...withheld].sort().join(';'), withheld),
      ...{ error, guards, planHash },
    };
    this.#ran.set(key, result);
    return result;
  }

  #shared(text: string, withheld: ReadonlySet<string>): ReadonlySet<string> {
    const found = this.#withheld.get(text) ?? withheld;
    this.#withheld.set(text, found);
    return found;
  }

  #step(label: string, next: State): Step {
    return { label, next: this.#canonical(next), breaches: [], isRun: false };
  }

  #canonical(state: State): State {
    return { ...this.#canonicalDurable(state), watch: state.watch };
  }

  /**
   * The same with the world, the memory and the history that stand for all that are equal to them. Of the history stay HEAD,
   * the commit before it, and those that the memory names, in their order: a run asks for no other.
   */
  #canonicalDurable(durable: Durable): Durable {
    const world = this.#worlds.canonical(durable.world);
    const known = this.#memories.canonical(durable.remembered);
    const key = `${this.#memories.idOf(known)} ${durable.commit.id}`;
    const found = this.#histories.get(key) ?? this.#shortened(durable.commit, known);
    this.#histories.set(key, found);
    return { world, ...found };
  }

  #shortened(commit: Commit, remembered: Remembered): Pick<Durable, 'commit' | 'remembered'> {
    if (this.#keepsHistory) return { commit, remembered };
    const short = withoutForgotten(commit, remembered);
    return { commit: short.commit, remembered: this.#memories.canonical(short.remembered) };
  }

  #placeOf({ world, commit, remembered }: Durable): string {
    const ids = [
      this.#worlds.idOf(world),
      this.#memories.idOf(remembered),
      this.#heads.idOf(commit),
    ];
    return ids.join(' ');
  }

  #keyOf(state: State): string {
    return `${this.#placeOf(state)} ${textOfWatch(state.watch)}`;
  }
}

/** One value for all that have the same text. */
class Interned<T extends object> {
  readonly #textOf: (value: T) => string;
  readonly #byText = new Map<string, { readonly id: number; readonly value: T }>();
  readonly #known = new WeakMap<T, { readonly id: number; readonly value: T }>();

  constructor(text: (value: T) => string) {
    this.#textOf = text;
  }

  canonical(value: T): T {
    return this.#find(value).value;
  }

  idOf(value: T): number {
    return this.#find(value).id;
  }

  #find(value: T): { readonly id: number; readonly value: T } {
    const known = this.#known.get(value);
    if (known) return known;
    const text = this.#textOf(value);
    const found = this.#byText.get(text) ?? { id: this.#byText.size, value };
    this.#byText.set(text, found);
    this.#known.set(value, found);
    return found;
  }
}

const COMMIT_ID = /[0-9a-f]{40}/g;

function withoutForgotten(
  head: Commit,
  remembered: Remembered,
): Pick<Durable, 'commit' | 'remembered'> {
  const { files } = remembered;
  const named = new Set(files.flatMap(([, text]) => text.match(COMMIT_ID) ?? []));
  if (remembered.head !== null) named.add(remembered.head);
  const line: Commit[] = [];
  for (let commit: Commit | null = head; commit; commit = commit.parent) {
    const isKept = commit === head || commit === head.parent || named.has(commit.id);
    if (isKept) line.unshift(commit);
  }
  const renamed = new Map<string, string>();
  let commit: Commit | null = null;
  for (const each of line) {
    commit = committed(commit, valuesAt(each));
    renamed.set(each.id, commit.id);
  }
  const idNow = (id: string): string => renamed.get(id) ?? id;
  const written = files.map(([path, text]) => [path, text.replace(COMMIT_ID, idNow)] as const);
  const last = remembered.head === null ? null : idNow(remembered.head);
  return { commit: commit ?? head, remembered: { ...remembered, files: written, head: last } };
}

function storyTo(
  seen: ReadonlyMap<string, { readonly from: string | null; readonly label: string }>,
  key: string,
): string[] {
  const story: string[] = [];
  for (let at: string | null = key; at !== null;) {
    const step: { readonly from: string | null; readonly label: string } | undefined = seen.get(at);
    if (!step) break;
    if (step.from !== null) story.unshift(step.label);
    at = step.from;
  }
  return story;
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
