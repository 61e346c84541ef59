import { truncateNote } from '../model/audit-note.js';
import { noteKey, type Change, type Plan, type PlanNotes } from '../model/plan.js';
import { approvalText } from '../model/run.js';
import type { PlanInput } from '../plan/input.js';
import { planHash } from '../plan/hash.js';
import { planChanges } from '../plan/plan.js';
import { closedFor } from '../plan/policy.js';
import type { RunContext, TimedInput } from './context.js';

export interface PlanAndInput {
  readonly input: TimedInput;
  readonly changes: Plan;
}

/** A plan with a hash that does not depend on the time: it covers the changes with all windows open. */
export interface HashedPlan extends PlanAndInput {
  readonly hash: string;
  /** Hash of the rest after all changes that may go now; null if there is no rest. */
  readonly heldHash: string | null;
}

/**
 * The part of the plan that windows and freezes let pass, or the whole plan if the operator approved its hash. The hash
 * covers changes that wait for a window, so that it is equal before and after the window opens.
 */
export function planForNow(
  { options, originName }: RunContext,
  { input, changes }: PlanAndInput,
  workspaceId: string,
): HashedPlan {
  const { policy } = input;
  const place = { origin: originName(), workspaceId };
  const { reviewed, start } = policy;
  const hashOf = (plan: Pick<Plan, 'changes'>): string =>
    planHash(plan, place, { reviewed, start, ladders: input.moment.ladders });
  const isHeld = changes.withheld.some(({ why }) => why === 'window-closed');
  if (!isHeld) return { input, changes, hash: hashOf(changes), heldHash: null };
  const always = { ...input, policy: { ...policy, closed: new Map() } };
  const open = planChanges(always, changes.observed);
  const hash = hashOf(open);
  const approval = options.approvals?.find((each) => each.hash === hash);
  if (!approval) {
    return { input, changes, hash, heldHash: hashOf({ changes: heldIn(open, changes) }) };
  }
  const windowOverride = approvalText(approval);
  const obeying = { ...input, policy: { ...policy, windowOverride } };
  return { input: obeying, changes: open, hash, heldHash: null };
}

/** The rest of a plan once a part of it is written. Fields count singly, because kills, for example, always go. */
function heldIn(whole: Plan, part: Plan): Change[] {
  const goes = new Map(part.changes.map((each) => [each.id, each]));
  return whole.changes.flatMap((change) => {
    const now = goes.get(change.id);
    if (!now) return [change];
    const paths = new Set(now.fields.map(({ path }) => path));
    const fields = change.fields.filter(({ path }) => !paths.has(path));
    return fields.length === 0 ? [] : [{ ...change, fields }];
  });
}

/** Notes with the reason of the override, for changes that go although their environment is closed. */
export function withOverride(notes: PlanNotes, plan: Plan, { policy }: PlanInput): PlanNotes {
  const { windowOverride = '' } = policy;
  if (windowOverride === '') return notes;
  const { windowOverride: none, ...obeying } = policy;
  const said = new Map(notes);
  for (const change of plan.changes) {
    const closed = closedFor(obeying, change);
    const note = notes.get(noteKey(change));
    if (!closed || !note) continue;
    const comment = `Sent although ${closed.why}: ${windowOverride}\n\n${note.comment}`;
    said.set(noteKey(change), truncateNote({ ...note, comment }, note.title));
  }
  return said;
}
