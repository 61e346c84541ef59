import type { Plan } from '../model/plan.js';
import { isAmong, refOfId, type ObjectId } from '../model/ref.js';
import {
  countsOf,
  verdictIn,
  worstOf,
  type Standing,
  type StandingName,
  type UnknownWhy,
  type Verdict,
} from '../model/verdict.js';
import { byEnvironment } from '../report/plan-report.js';

type Counts = Readonly<Record<StandingName, number>>;

export interface StandingView {
  readonly id: ObjectId;
  readonly standing: Exclude<Standing, { is: 'live' }>;
  readonly asOf: string;
}

interface PlaceStandings {
  readonly name: string | null;
  readonly whole: StandingName;
  readonly counts: Counts;
}

/** Each object as of the last look at it. Plain data: replicas share it. */
export interface StandingsView extends Omit<PlaceStandings, 'name'> {
  /** ISO 8601 start of the last run that looked at everything; null if no run has. */
  readonly lookedAt: string | null;
  readonly doubt: Doubt | null;
  readonly environments: readonly PlaceStandings[];
  readonly objects: readonly StandingView[];
  /** Ids that stood in `objects` until they left git, the newest last. Earlier versions share none. */
  readonly gone?: readonly ObjectId[];
}

/** Most of `gone` beside those of the last run. Messages of a replica that missed runs ask for them. */
const MOST_GONE = 1_000;

type Found = ReadonlyMap<ObjectId, { readonly standing: Standing; readonly asOf: string }>;

export class ObjectStandings {
  #known: Found = new Map();
  /** Covers what is known of objects with invalid files, as long as the last run says that they are invalid. */
  #invalid: Found = new Map();
  #gone: readonly ObjectId[] = [];
  #lookedAt: string | null = null;
  /** What another replica found, while this one has not looked itself. */
  #shared: StandingsView | null = null;

  /** @param at ISO 8601 start of the run. */
  add(verdict: Verdict, plan: Pick<Plan, 'changes' | 'observed'>, at: string): void {
    const { objects: open = [], gone = [] } = this.view([]) ?? {};
    this.#shared = null;
    const all = [...verdict.objects].map(([id, standing]) => [id, { standing, asOf: at }] as const);
    const invalid = all.filter(([, { standing }]) => isInvalidFile(standing));
    const keys = new Set<string>(invalid.map(([id]) => id));
    // A run leaves objects of invalid files alone, so it says nothing about those that were known before.
    const kept = [...this.#known].filter(([id]) => isAmong(keys, id));
    const removed = new Set(plan.changes.map(({ id }) => id));
    // A run that looked at everything has found all objects that exist.
    const isFull = plan.observed === 'full';
    const others = isFull ? [] : [...this.#known].filter(([id]) => !removed.has(id));
    const found = all.filter(([, { standing }]) => !isInvalidFile(standing));
    this.#known = new Map([...others, ...kept, ...found]);
    this.#invalid = new Map([
      ...invalid,
      ...kept.map(([id, { standing, asOf }]) => {
        const since = standing.is === 'unknown' ? standing.since : asOf;
        return [id, { standing: { ...INVALID_FILE, since }, asOf }] as const;
      }),
    ]);
    const left = new Set([...gone.slice(-MOST_GONE), ...open.map(({ id }) => id)]);
    this.#gone = [...left].filter((id) => !this.#known.has(id) && !this.#invalid.has(id));
    if (isFull) this.#lookedAt = at;
  }

  share(view: StandingsView): void {
    this.#shared = view;
  }

  /** null before the first run with a plan. @param places the environments, the most protected first. */
  view(places: readonly string[]): StandingsView | null {
    if (this.#shared !== null) return this.#shared;
    const known = [...this.#known].filter(([id]) => !this.#invalid.has(id));
    const found = new Map([...this.#invalid, ...known]);
    if (found.size === 0 && this.#lookedAt === null) return null;
    const all = new Map([...found].map(([id, { standing }]) => [id, standing]));
    const used = new Set([...all.keys()].map(placeOf));
    const names = [...new Set([...places, ...used])].filter((name) => used.has(name));
    const environments = names.map((name) => {
      return { name, ...summary(verdictIn({ objects: all }, name).objects) };
    });
    const open = [...found].flatMap(([id, { standing, asOf }]) =>
      standing.is === 'live' ? [] : [{ id, standing, asOf }],
    );
    const objects = byEnvironment(open, places);
    const facts = { lookedAt: this.#lookedAt, gone: this.#gone };
    return { ...facts, doubt: null, ...summary(all), environments, objects };
  }
}

const INVALID_FILE = { is: 'unknown', why: 'invalid-file' } as const;

function isInvalidFile(standing: Standing): boolean {
  return standing.is === 'unknown' && standing.why === INVALID_FILE.why;
}

export function placeOf(id: ObjectId): string | null {
  return refOfId(id)?.environment ?? null;
}

function summary(objects: Verdict['objects']): Omit<PlaceStandings, 'name'> {
  return { whole: worstOf(objects.values()), counts: countsOf({ objects }) };
}

export interface Doubt {
  readonly why: Exclude<UnknownWhy, 'invalid-file' | 'unanswered'>;
  readonly since: string | null;
}

/** The standings as far as they are still known: under a doubt, none is. */
export function standingsUnder(view: StandingsView, doubt: Doubt | null): StandingsView {
  if (doubt === null) return view;
  const standing = { is: 'unknown', ...doubt } as const;
  return {
    lookedAt: view.lookedAt,
    doubt,
    ...unknown(view),
    environments: view.environments.map((each) => ({ name: each.name, ...unknown(each) })),
    objects: view.objects.map(({ id, asOf }) => ({ id, asOf, standing })),
  };
}

function unknown({ counts }: { counts: Counts }): Omit<PlaceStandings, 'name'> {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { whole: 'unknown', counts: { live: 0, waits: 0, held: 0, failed: 0, unknown: total } };
}
