import type { BoundDesired } from '../model/bound-desired.js';
import { truncateNote } from '../model/audit-note.js';
import { pathOf, type Ladder, type RampStanding, type StepStanding } from '../model/flag/ramp.js';
import { byCodeUnits } from '../model/json.js';
import { noteKey, takesKillBack, type Plan, type PlanNotes, type Reminder } from '../model/plan.js';
import { objectId, refOfId, type ObjectId } from '../model/ref.js';
import type { Outcomes } from '../model/outcome.js';
import { momentText } from '../platform/zoned-time.js';
import type { Moment } from './desired-at.js';
import { hasGrown, previousShare, reachedOn, shareOn, sidesOf, type Known } from './shares.js';

/** @param outcomes of the apply, whose writes the live shares of the moment do not have yet. */
export function standingsOf(
  { ladders: all, facts }: Moment,
  { changes, withheld }: Pick<Plan, 'changes' | 'withheld'>,
  outcomes: Outcomes = new Map(),
): RampStanding[] {
  const restored = new Set(changes.filter(takesKillBack).map(({ id }) => id));
  const written = new Map(
    changes
      .filter(({ id }) => outcomes.get(id)?.status === 'applied')
      .map(({ id, fields }) => [id, new Map(fields.map(({ path, after }) => [path, after]))]),
  );
  const found = [...all].flatMap(([id, ladders]) =>
    ladders.map((ladder): RampStanding => {
      const { ramp, zone } = ladder;
      const { rule, treatment } = ramp;
      const sent = written.get(id)?.get(pathOf(ramp));
      const after = sent !== undefined && { [pathOf(ramp).slice(1)]: sent };
      const served = after ? (shareOn(after, ramp) ?? null) : servedOf(facts, id, ladder);
      // Its next wait begins when the kill or the hold ends, so until then no further step is due.
      const isStopped = ramp.hold || (ladder.isKilled && !restored.has(id));
      const reached = ramp.steps.findLastIndex(({ percent }) => percent <= (served ?? 0));
      const step = isStopped ? reached : ladder.step;
      const steps = ramp.steps.map(({ percent }, at): StepStanding => {
        const due = isStopped && at > step ? null : (ladder.dueMs[at] ?? null);
        if (due === null) return { percent, due, dueText: null };
        const dueText = `${momentText(due, zone)} (${zone})`;
        return { percent, due: new Date(due).toISOString(), dueText };
      });
      const kept = withheld
        .filter((each) => each.id === id && each.why === 'ramp-held')
        .filter(({ because }) => !ladders.some(({ held }) => held === because))
        .find(({ fields }) => fields.some(({ path }) => path === pathOf(ramp)))?.because;
      const held = ladder.held ?? killText(ladder, restored.has(id)) ?? kept ?? null;
      const checked = ladder.checks && { checks: ladder.checks, ...failureOf(ladder) };
      return { id, rule, treatment, steps, step, held, served, ...checked };
    }),
  );
  return found.sort((a, b) => byCodeUnits(a.id, b.id) || (a.rule ?? -1) - (b.rule ?? -1));
}

function killText({ isKilled }: Ladder, isRestored: boolean): string | null {
  if (!isKilled) return null;
  return isRestored
    ? 'the kill is taken back here, and the next wait counts from this run'
    : 'the flag is killed';
}

/** What a failure of the checks would do, while the step is to be taken. */
function failureOf({ ramp, record, held }: Ladder): Pick<RampStanding, 'onFail' | 'backTo'> {
  const { onFail } = ramp;
  if (onFail === undefined || held !== null || !record || !hasGrown(ramp, record)) return {};
  return { onFail, ...(onFail === 'previous' && { backTo: previousShare(ramp, record.reached) }) };
}

/** The share that was last found equal, where the run did not look at the definition. */
function servedOf(facts: Known, id: ObjectId, ladder: Ladder): number | null {
  const { name = '', environment = '' } = refOfId(id) ?? {};
  const { live, base } = sidesOf(facts, name, environment ?? '');
  const isSeen = facts.actual?.flags.get(name)?.definitions.has(environment ?? '');
  if (isSeen !== true) return reachedOn(ladder, base) ?? null;
  return (live && shareOn(live, ladder.ramp)) ?? 0;
}

/** Adds a title and a comment for each step of a ramp and each setback, because no commit makes them. */
export function withSteps(
  notes: PlanNotes,
  { changes, withheld }: Pick<Plan, 'changes' | 'withheld'>,
  { ladders }: Moment,
): PlanNotes {
  const completed = new Map(notes);
  for (const change of [...changes, ...withheld]) {
    const moved = (ladders.get(change.id) ?? []).flatMap((ladder) => {
      const { ramp, step, setback, isBeyond } = ladder;
      const path = setback?.act === 'kill' ? '/killed' : pathOf(ramp);
      const named = change.fields.find((each) => each.path === path);
      const field = isBeyond || named?.reason === 'ramp' ? named : undefined;
      const [was, is] = [field?.before, field?.after].map((value) =>
        path === '/killed' ? value : shareOn({ [path.slice(1)]: value }, ramp),
      );
      // A field may have several ramps, of which others take no step.
      if (step < 0 || was === is) return [];
      // From beyond the last step, a share goes back to that one, whichever is due.
      const to = setback ? -1 : ramp.steps.findIndex(({ percent }) => percent === is);
      return [to < 0 ? ladder : { ...ladder, step: to }];
    });
    const back = 'why' in change ? [] : moved.filter(({ setback }) => setback?.begun);
    const steps = moved.filter((each) => !back.includes(each));
    const note = notes.get(noteKey(change));
    if (moved.length === 0) continue;
    const title = [
      ...back.map((each) => setbackTitle(change.id, each)),
      ...(steps.length > 0 ? [`Ramp ${change.id}: ${steps.map(stepText).join('; ')}`] : []),
    ].join('; ');
    const words = [
      ...back.map(setbackWords),
      ...steps.map((each) => `${stepText(each)}, ${reasonText(each)}.`),
    ].join('\n');
    const isAlone = change.reason === 'ramp' || !note || moved.some(({ isBeyond }) => isBeyond);
    const isOwn = isAlone || back.length > 0;
    const comment = isAlone ? words : `${note.comment}\n\n${words}`;
    completed.set(
      noteKey(change),
      truncateNote({ title: isOwn ? title : note.title, comment }, title),
    );
  }
  return completed;
}

function setbackTitle(id: ObjectId, { ramp, record, setback }: Ladder): string {
  const share = `Ramp ${id}: ${ramp.treatment} back to ${previousShare(ramp, record?.reached ?? 0)} %`;
  return `${setback?.act === 'kill' ? `Kill ${id}` : share}: ${setback?.why ?? ''}`;
}

function setbackWords({ ramp, step, record, setback }: Ladder): string {
  const { steps, treatment } = ramp;
  const from = record?.reached ?? 0;
  const next = `before step ${step + 1} of ${steps.length}, ${steps[step]?.percent ?? 0} %`;
  const effect =
    setback?.act === 'kill'
      ? `The flag is killed with ${treatment} at ${from} %`
      : `${treatment} goes back from ${from} to ${previousShare(ramp, from)} %`;
  return `${setback?.why ?? ''} (${setback?.at ?? ''}, ${next}).\n${effect}, and the ramp takes no step until a commit changes it.`;
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

/** Kills past their `review` and flags past their `expires`, sorted by id. A day ends when it ends in UTC. */
export function remindersAt(specs: Pick<BoundDesired, 'kills' | 'flags'>, ms: number): Reminder[] {
  const { kills, flags } = specs;
  const reviews = kills.flatMap(({ flag: name, environment, review, reason, by }): Reminder[] => {
    if (review === undefined || !isOver(review, ms)) return [];
    const id = objectId({ kind: 'flag', name, environment });
    return [{ id, what: 'review', due: review, reason, ...(by !== undefined && { by }) }];
  });
  const expiries = [...flags.values()].flatMap(({ name, expires }): Reminder[] => {
    if (expires === undefined || !isOver(expires, ms)) return [];
    const id = objectId({ kind: 'flag', name, environment: null });
    return [{ id, what: 'expiry', due: expires }];
  });
  return [...reviews, ...expiries].sort((a, b) => byCodeUnits(a.id, b.id));
}

/** @param due a day, or a moment with its offset. */
function isOver(due: string, ms: number): boolean {
  if (due.includes('T')) return Date.parse(due) <= ms;
  return due < new Date(ms).toISOString().slice(0, 10);
}
