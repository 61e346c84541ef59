import type { BoundDesired } from '../../model/bound-desired.js';
import { ownMember } from '../../model/collections.js';
import type { DesiredDefinition } from '../../model/desired.js';
import type {
  AfterStanding,
  DesiredRamp,
  Ladder,
  RampAfter,
  RampSignal,
  RampStanding,
  StepStanding,
} from '../../model/flag/ramp.js';
import { byCodeUnits } from '../../model/json.js';
import { momentText } from '../../platform/zoned-time.js';
import { truncateNote } from '../../model/audit-note.js';
import { noteKey, type Plan, type PlanNotes } from '../../model/plan.js';
import { objectId, refOfId, type ObjectId } from '../../model/ref.js';
import type { Moments } from '../../model/state.js';
import { rampStart, type RampStart } from '../../history/ramp-starts.js';
import type { PlanInput } from '../../plan/input.js';
import { isKillOrdered } from '../../plan/kills/orders.js';
import type { PlanPolicy } from '../../plan/policy.js';
import type { Ladders } from '../../plan/ramps.js';
import { calendarsOf, dueMoments, stepAt } from '../../timing/ladder.js';
import { historyOf, type RunContext } from '../context.js';
import { reachedKey, waitingRamps } from './signals.js';
import { calendarOf } from '../windows.js';

/** Where every ramp stands at the moment of the run. */
export async function laddersNow(
  context: RunContext,
  desired: BoundDesired,
  { environments, moments }: Pick<PlanPolicy, 'environments'> & { readonly moments: Moments },
): Promise<Ladders> {
  const ladders = new Map<ObjectId, readonly Ladder[]>();
  for (const { name, environments: definitions } of desired.flags.values()) {
    for (const place of environments) {
      const environment = place.name;
      const definition = definitions.get(environment);
      if (!definition?.ramps) continue;
      const of = { flag: name, environment, definition, desired };
      const signal = signalIn(moments, waitingRamps(definition.ramps, name, place));
      const preceding = precedingIn(moments, of, environments);
      const start = await startOf(context, of);
      const from = { start, signal, preceding, nowMs: context.now() };
      const calendar = calendarOf(desired, environment);
      const own = definition.ramps.map((ramp) =>
        ladderOf(ramp, from, calendarsOf(ramp, desired.config, calendar)),
      );
      ladders.set(objectId({ kind: 'flag', name, environment }), own);
    }
  }
  return ladders;
}

function signalIn(
  moments: Moments,
  waiting: ReturnType<typeof waitingRamps>,
): RampSignal | undefined {
  if (waiting === undefined) return undefined;
  const { key, ...signal } = waiting;
  return { ...signal, at: ownMember(moments, key) ?? null };
}

/** What the ramps of a definition start after; undefined: none does. */
function precedingIn(
  moments: Moments,
  {
    flag,
    definition,
    desired,
  }: { flag: string; definition: DesiredDefinition; desired: BoundDesired },
  environments: PlanPolicy['environments'],
): AfterStanding | undefined {
  const ramp = definition.ramps?.find(({ after }) => after);
  if (!ramp?.after) return undefined;
  const { percent, environment: word } = ramp.after;
  const environment = desired.environmentNames.get(word) ?? word;
  const id = environments.find(({ name }) => name === environment)?.id ?? '';
  const key = reachedKey(flag, { environment: id, percent, treatment: ramp.treatment });
  return { environment, percent, since: ownMember(moments, key) ?? null };
}

/**
 * In a review the ramps that it is about begin now: they begin with the merge, which nobody knows yet. Null: nobody can tell, or
 * all have moments of their own.
 */
async function startOf(
  context: RunContext,
  of: Parameters<typeof rampStart>[1],
): Promise<RampStart | null> {
  const { ramps = [] } = of.definition;
  if (ramps.every(({ startMs }) => startMs !== undefined)) return null;
  const { source, options, memory } = context;
  const { commit: head } = source.revision;
  const history = historyOf(context, of.desired);
  const nowMs = context.now();
  const known = await memory.rampStarts.of(head, of, async () =>
    rampStart({ checkout: source.checkout, head, history }, of, nowMs),
  );
  if (options.since === undefined || known === null || head === null) return known;
  const parted = await history.mergeBaseWith(options.since);
  const then = await rampStart({ checkout: source.checkout, head: parted, history }, of, nowMs);
  return (then?.by ?? null) === null ? { ...known, ms: nowMs } : known;
}

const NO_START =
  'no commit here tells when it began; fetch the whole history, or give it a `start`';

/** What a ramp begins with that has no moment of its own. */
export interface Beginning {
  /** The commit that brought it; null: nobody can tell. */
  readonly start: RampStart | null;
  /** Undefined: none of the definition's ramps waits for one. */
  readonly signal: RampSignal | undefined;
  /** Undefined: none of them starts after another environment. */
  readonly preceding?: AfterStanding | undefined;
  readonly nowMs: number;
}

/** Where a ramp stands. @param calendars of the environment, and of the ramp itself. */
export function ladderOf(
  ramp: DesiredRamp,
  from: Beginning,
  calendars: ReturnType<typeof calendarsOf>,
): Ladder {
  const [calendar, within] = calendars;
  const zone = [...within.windows, ...calendar.windows][0]?.zone ?? 'UTC';
  const { startMs, held, ...begun } = beginningOf(ramp, from);
  const known = { ramp, zone, ...begun };
  if (startMs === undefined) return { ...known, held, step: -1, dueMs: ramp.steps.map(() => null) };
  const dueMs = dueMoments(ramp, startMs, calendars);
  return { ...known, held, dueMs, step: stepAt(dueMs, from.nowMs) };
}

type Begun = Pick<Ladder, 'held' | 'startedBy' | 'signal' | 'after' | 'againMs'> & {
  readonly startMs?: number;
};

/** A kill that was taken back begins a ramp anew with its commit, whatever it had started with. */
function beginningOf(ramp: DesiredRamp, from: Beginning): Begun {
  const held = ramp.hold ? 'its spec says `hold: true`' : null;
  if (ramp.startMs !== undefined) return { held, startedBy: null, startMs: ramp.startMs };
  const { start, signal, preceding } = from;
  const by = start?.by ?? null;
  if (ramp.signal && signal) return { ...signalled(signal, start), ...(held !== null && { held }) };
  if (ramp.after && preceding) {
    return { ...following(ramp.after, preceding, from), ...(held !== null && { held }) };
  }
  if (start === null) return { held: NO_START, startedBy: null };
  return { held, startedBy: by, startMs: start.ms };
}

function signalled(signal: RampSignal, start: RampStart | null): Begun {
  const { at, ramp } = signal;
  if (at === null) {
    const how = `POST /ramps/${ramp}/start or --start-ramp ${ramp}`;
    return { signal, startedBy: null, held: `its signal has not come (${how})` };
  }
  const startMs = Math.max(Date.parse(at), start?.ms ?? 0);
  const startedBy = `${start?.by ?? 'the spec'}, started by a signal at ${at}`;
  return { signal, held: null, startMs, startedBy };
}

function following({ forMs }: RampAfter, after: AfterStanding, { start, nowMs }: Beginning): Begun {
  const { environment, percent, since } = after;
  const there = `${environment} at ${percent} %`;
  if (since === null) {
    const held = `no run has seen ${there} yet`;
    // This run may be the first that does.
    return { after, startedBy: null, held, againMs: nowMs + forMs };
  }
  const startMs = Math.max(Date.parse(since) + forMs, start?.ms ?? 0);
  const startedBy = `${start?.by ?? 'the spec'}, started after ${there} since ${since}`;
  return { after, held: null, startMs, startedBy };
}

/** When the next step of any ramp is due, ISO 8601 in UTC; null: none is to come. */
export function nextStepDue({ policy }: PlanInput): string | null {
  const ladders = [...(policy.ladders?.values() ?? [])].flat();
  const moments = ladders.flatMap(({ dueMs, step, held, againMs }) => {
    const next = held === null ? dueMs[step + 1] : againMs;
    return next === null || next === undefined ? [] : [next];
  });
  return moments.length === 0 ? null : new Date(Math.min(...moments)).toISOString();
}

/** How far the ramps have come that the operator's filters leave to this run. */
export function rampsOf(
  { policy, desired, actual }: PlanInput,
  { withheld }: Plan,
): RampStanding[] {
  const found = [...(policy.ladders ?? [])].flatMap(([id, ladders]) =>
    ladders.map((ladder): RampStanding => {
      const { ramp, step, zone } = ladder;
      const { rule, treatment } = ramp;
      const steps = ramp.steps.map(({ percent }, at): StepStanding => {
        const due = ladder.dueMs[at] ?? null;
        if (due === null) return { percent, due, dueText: null };
        const dueText = `${momentText(due, zone)} (${zone})`;
        return { percent, due: new Date(due).toISOString(), dueText };
      });
      const isKilled = isKilledIn({ desired, actual }, id);
      const back = withheld.find((each) => each.id === id && each.why === 'ramp-held');
      const held =
        ladder.held ??
        (isKilled ? 'the flag is killed' : back ? 'its share was changed on the service' : null);
      return {
        id,
        rule,
        treatment,
        steps,
        step,
        held,
        ...(ladder.signal && { signal: ladder.signal }),
        ...(ladder.after && { after: ladder.after }),
        ...(ladder.checks && { checks: ladder.checks }),
      };
    }),
  );
  return found.sort((a, b) => byCodeUnits(a.id, b.id) || (a.rule ?? -1) - (b.rule ?? -1));
}

function isKilledIn(
  { desired, actual }: Pick<PlanInput, 'desired' | 'actual'>,
  id: ObjectId,
): boolean {
  const { name = '', environment } = refOfId(id) ?? {};
  if (!environment) return false;
  const live = actual.flags.get(name)?.definitions.get(environment);
  return isKillOrdered(desired, name, environment) || live?.killed === true;
}

/** The notes with a title and a comment of its own for each step of a ramp, which no commit makes. */
export function withSteps(
  notes: PlanNotes,
  { changes, withheld }: Pick<Plan, 'changes' | 'withheld'>,
  input: PlanInput,
): PlanNotes {
  const said = new Map(notes);
  for (const change of [...changes, ...withheld]) {
    const paths = change.fields.filter(({ reason }) => reason === 'ramp').map(({ path }) => path);
    const steps = (input.policy.ladders?.get(change.id) ?? []).filter(({ ramp, step }) => {
      return step >= 0 && paths.includes(ramp.rule === null ? '/defaultRule' : '/rules');
    });
    const note = notes.get(noteKey(change));
    if (steps.length === 0) continue;
    const title = `Ramp ${change.id}: ${steps.map(stepText).join('; ')}`;
    const words = steps.map((each) => `${stepText(each)}, ${reasonText(each)}.`).join('\n');
    const isAlone = change.reason === 'ramp';
    const comment = isAlone || !note ? words : `${note.comment}\n\n${words}`;
    said.set(
      noteKey(change),
      truncateNote({ title: isAlone || !note ? title : note.title, comment }, title),
    );
  }
  return said;
}

function stepText({ ramp, step }: Ladder): string {
  const { treatment, steps } = ramp;
  return `${treatment} to ${steps[step]?.percent ?? 0} %, step ${step + 1} of ${steps.length}`;
}

function reasonText({ dueMs, step, startedBy }: Ladder): string {
  const due = dueMs[step];
  const when = due === null || due === undefined ? '' : `due ${new Date(due).toISOString()}`;
  return startedBy === null ? when : `${when} by the ramp of ${startedBy}`;
}
