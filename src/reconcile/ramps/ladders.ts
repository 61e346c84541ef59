import type { BoundDesired } from '../../model/bound-desired.js';
import type { DesiredRamp, Ladder, RampStanding, StepStanding } from '../../model/flag/ramp.js';
import { byCodeUnits } from '../../model/json.js';
import { momentText } from '../../platform/zoned-time.js';
import { truncateNote } from '../../model/audit-note.js';
import { noteKey, type Plan, type PlanNotes } from '../../model/plan.js';
import { objectId, refOfId, type ObjectId } from '../../model/ref.js';
import { rampStart, type RampStart } from '../../history/ramp-starts.js';
import type { PlanInput } from '../../plan/input.js';
import { isKillOrdered } from '../../plan/kills/orders.js';
import type { PlanPolicy } from '../../plan/policy.js';
import type { Ladders } from '../../plan/ramps.js';
import { calendarsOf, dueMoments, stepAt } from '../../timing/ladder.js';
import { historyOf, type RunContext } from '../context.js';
import { calendarOf } from '../windows.js';

/** Where every ramp stands at the moment of the run. */
export async function laddersNow(
  context: RunContext,
  desired: BoundDesired,
  { environments }: Pick<PlanPolicy, 'environments'>,
): Promise<Ladders> {
  const ladders = new Map<ObjectId, readonly Ladder[]>();
  for (const { name, environments: definitions } of desired.flags.values()) {
    for (const { name: environment } of environments) {
      const definition = definitions.get(environment);
      if (!definition?.ramps) continue;
      const of = { flag: name, environment, definition, desired };
      const start = await startOf(context, of);
      const from = { start, nowMs: context.now() };
      const calendar = calendarOf(desired, environment);
      const own = definition.ramps.map((ramp) =>
        ladderOf(ramp, from, calendarsOf(ramp, desired.config, calendar)),
      );
      ladders.set(objectId({ kind: 'flag', name, environment }), own);
    }
  }
  return ladders;
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
  const startMs = ramp.startMs ?? from.start?.ms;
  const startedBy = ramp.startMs === undefined ? (from.start?.by ?? null) : null;
  const known = { ramp, zone, startedBy };
  if (startMs === undefined) {
    return { ...known, held: NO_START, step: -1, dueMs: ramp.steps.map(() => null) };
  }
  const held = ramp.hold ? 'its spec says `hold: true`' : null;
  const dueMs = dueMoments(ramp, startMs, calendars);
  return { ...known, held, dueMs, step: stepAt(dueMs, from.nowMs) };
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
