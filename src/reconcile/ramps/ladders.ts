import type { BoundDesired } from '../../model/bound-desired.js';
import { ownMember } from '../../model/collections.js';
import {
  bucketsOn,
  rampId,
  shareOf,
  type DesiredRamp,
  type Ladder,
  type RampStanding,
  type StepStanding,
} from '../../model/flag/ramp.js';
import { definitionFromWire } from '../../model/flag/wire.js';
import { byCodeUnits } from '../../model/json.js';
import { momentText } from '../../platform/zoned-time.js';
import { truncateNote } from '../../model/audit-note.js';
import { noteKey, type Plan, type PlanNotes } from '../../model/plan.js';
import { objectId, refOfId, type ObjectId } from '../../model/ref.js';
import type { RampRecords } from '../../model/state.js';
import type { PlanInput } from '../../plan/input.js';
import { isKillOrdered } from '../../plan/kills/orders.js';
import type { PlanPolicy } from '../../plan/policy.js';
import type { Ladders } from '../../plan/ramps.js';
import { calendarsOf, formOf, ladderOf } from '../../timing/ladder.js';
import type { Remembered, RunContext } from '../context.js';
import { calendarIn } from '../../timing/windows.js';

/**
 * The standing of every ramp at the time of the run.
 *
 * @param remembered if its state is kept and shared, ramps that it does not know begin now.
 */
export function laddersNow(
  { source, now }: Pick<RunContext, 'source' | 'now'>,
  desired: BoundDesired,
  { environments }: Pick<PlanPolicy, 'environments'>,
  { home, ramps: records }: Pick<Remembered, 'home' | 'ramps'>,
): Ladders {
  const ladders = new Map<ObjectId, readonly Ladder[]>();
  const run = { unkept: unkeptIn(home), nowMs: now(), head: source.revision.commit };
  for (const { name, environments: definitions } of desired.flags.values()) {
    for (const { name: environment, id } of environments) {
      const { ramps } = definitions.get(environment) ?? {};
      if (ramps === undefined) continue;
      const isKilled = isKillOrdered(desired, name, environment);
      const calendar = calendarIn(desired, environment);
      const left = leftIn(records, rampId(name, id, ''), ramps);
      const own = ramps.map((ramp) => {
        const record = ownMember(records, rampId(name, id, ramp.key));
        const facts = { ...run, record, isKilled };
        const ladder = ladderOf(ramp, facts, calendarsOf(ramp, desired.config, calendar));
        const heirOf = record === undefined ? left.get(ramp.key) : undefined;
        return heirOf === undefined ? ladder : { ...ladder, heirOf };
      });
      ladders.set(objectId({ kind: 'flag', name, environment }), own);
    }
  }
  return ladders;
}

/** Why ramps cannot be remembered, if so: a ramp that begins with this run would begin again with the next one. */
function unkeptIn(home: Remembered['home']): string | null {
  const only = 'so that only ramps with a `start`, and steps with `at`, move';
  if (home === null) return `no state is kept here, ${only}`;
  const missing = home.notShared();
  return missing && `the state cannot be shared (${missing.why}), ${only}`;
}

/**
 * Finds renamed ramps. A ramp of a rule without a name is known by its condition, which may have changed: maps a new
 * ramp to the one with equal steps that left the specs, if there is just one of each.
 */
function leftIn(
  records: RampRecords,
  prefix: string,
  ramps: readonly DesiredRamp[],
): ReadonlyMap<string, string> {
  const isNameless = (key: string): boolean => key.startsWith('if ');
  const keys = new Set(ramps.map(({ key }) => key));
  const left = Object.entries(records).flatMap(([id, { ladder }]) => {
    const key = id.slice(prefix.length);
    const isLeft = id.startsWith(prefix) && isNameless(key) && !keys.has(key);
    return isLeft ? [{ key, ladder }] : [];
  });
  const come = ramps.filter(({ key }) => isNameless(key) && !Object.hasOwn(records, prefix + key));
  return new Map(
    come.flatMap(({ key, ...ramp }): [string, string][] => {
      const form = formOf(ramp);
      const [one, ...more] = left.filter(({ ladder }) => ladder === form);
      const isAlone = come.filter((each) => formOf(each) === form).length === 1;
      return one && more.length === 0 && isAlone ? [[key, one.key]] : [];
    }),
  );
}

/** When the next step of any ramp is due, ISO 8601 in UTC; null if there is none. */
export function nextStepDue({ policy }: PlanInput): string | null {
  const ladders = [...(policy.ladders?.values() ?? [])].flat();
  const moments = ladders.flatMap(({ dueMs, step, held, againMs }) => {
    const next = held === null ? dueMs[step + 1] : againMs;
    return next === null || next === undefined ? [] : [next];
  });
  return moments.length === 0 ? null : new Date(Math.min(...moments)).toISOString();
}

/** The standing of the ramps within the operator's filters. */
export function rampsOf({ policy, actual }: PlanInput, { withheld }: Plan): RampStanding[] {
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
      const back = withheld.find((each) => each.id === id && each.why === 'ramp-held');
      const held =
        ladder.held ??
        (ladder.isKilled
          ? 'the flag is killed'
          : back
            ? 'its share was changed on the service'
            : null);
      return {
        id,
        rule,
        treatment,
        steps,
        step,
        held,
        served: servedOf(actual, id, ramp),
        ...(ladder.checks && { checks: ladder.checks }),
      };
    }),
  );
  return found.sort((a, b) => byCodeUnits(a.id, b.id) || (a.rule ?? -1) - (b.rule ?? -1));
}

function servedOf(actual: PlanInput['actual'], id: ObjectId, ramp: DesiredRamp): number | null {
  const { name = '', environment } = refOfId(id) ?? {};
  const live = environment && actual.flags.get(name)?.definitions.get(environment);
  const buckets = live ? bucketsOn(definitionFromWire(live), ramp) : undefined;
  return buckets ? shareOf(buckets, ramp.treatment) : null;
}

/** Adds a title and a comment for each step of a ramp, because no commit makes it. */
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

function reasonText({ dueMs, step, anchors }: Ladder): string {
  const due = dueMs[step];
  const when = due === null || due === undefined ? '' : `due ${new Date(due).toISOString()}`;
  if (anchors === null) return when;
  const { since, commit } = anchors.alive;
  const from = commit === null ? '' : ` (${commit.slice(0, 8)})`;
  return `${when} by the ramp that began ${since}${from}`;
}
