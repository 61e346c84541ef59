import { truncateNote } from '../model/audit-note.js';
import type { BoundDesired } from '../model/bound-desired.js';
import { noteKey, type Change, type Plan, type PlanNotes } from '../model/plan.js';
import { approvalText } from '../model/run.js';
import type { PlanInput } from '../plan/input.js';
import { planChanges, planHash } from '../plan/plan.js';
import { asIfOpen, closedFor, type Closed, type PlanPolicy } from '../plan/policy.js';
import { calendarIn, closingAt, openingText, type Calendar } from '../timing/windows.js';
import type { RunContext } from './context.js';
import type { PlanFromBases } from './inferred-bases.js';

/** A policy as windows and freezes have it at a moment. @param ms since the epoch. */
export function policyAt(policy: PlanPolicy, desired: BoundDesired, ms: number): PlanPolicy {
  return {
    ...policy,
    environments: policy.environments.map((each) => {
      const { closed: before, ...open } = each;
      const closing = closingAt(calendarOf(desired, each.name), ms);
      if (!closing) return open;
      const { why, untilMs } = closing;
      const until = untilMs === null ? null : new Date(untilMs).toISOString();
      return { ...open, closed: { why, until, untilText: openingText(closing) } };
    }),
  };
}

/** When an environment may be changed. @param name as the service has it. */
export function calendarOf({ config, configNames }: BoundDesired, name: string): Calendar {
  return calendarIn(config, name, configNames.get(name));
}

/** A plan with the hash that it has at any time: that of what would be written if every window were open. */
export interface HashedPlan extends PlanFromBases {
  readonly hash: string;
  /** The hash that is left of it once everything is written that may go now; null: that is nothing. */
  readonly heldHash: string | null;
}

/**
 * The plan as windows and freezes leave it, or all of it where the operator approved the plan with this hash: the hash covers
 * what is held back until a window opens, so that it is the same before and after.
 */
export function planForNow(
  { options, originName }: RunContext,
  { input, changes }: PlanFromBases,
  workspaceId: string,
): HashedPlan {
  const { policy } = input;
  const place = { origin: originName(), workspaceId };
  const isHeld = changes.withheld.some(({ why }) => why === 'window-closed');
  if (!isHeld) {
    return { input, changes, hash: planHash(changes, place, policy.reviewed), heldHash: null };
  }
  const open = planChanges({ ...input, policy: asIfOpen(policy) }, changes.observed);
  const hash = planHash(open, place, policy.reviewed);
  const approval = options.approvals?.find((each) => each.hash === hash);
  if (!approval) {
    const held = { changes: heldIn(open, changes) };
    return { input, changes, hash, heldHash: planHash(held, place, policy.reviewed) };
  }
  const windowOverride = approvalText(approval);
  const obeying = { ...input, policy: { ...policy, windowOverride } };
  return { input: obeying, changes: open, hash, heldHash: null };
}

/** What is left of a plan once another one is written that has a part of it: kills, for example, go at any time. */
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

/** The notes with the reason why a change goes although its environment is closed, where it does. */
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

/** Why a change that was planned may not be written any more by now; undefined: it may. */
export function closedByNow(
  { desired, policy }: PlanInput,
  now: () => number,
): (change: Change) => Closed | undefined {
  return (change) => closedFor(policyAt(policy, desired, now()), change);
}
