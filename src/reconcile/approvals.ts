import { FlagkeelError } from '../errors.js';
import { truncateNote } from '../model/audit-note.js';
import { FORCED_GUARDS, type GuardFinding, type PlanNotes } from '../model/plan.js';
import { approvalText, type Approval } from '../model/run.js';
import { clean } from '../report/sanitize.js';
import { applyMessage } from '../state/run-log.js';
import type { StateHome } from '../state/store.js';
import type { Planned, Remembered, RunContext } from './context.js';

/**
 * The context without approvals that an earlier run has used. A comment stays in place: after its plan was applied and
 * reverted, it would approve that plan again. Warns about each approval that does not count.
 */
export function withUnusedApprovals(
  context: RunContext,
  { home, approvals: used }: Pick<Remembered, 'home' | 'approvals'>,
): RunContext {
  const { options, note } = context;
  const approvals = options.approvals?.filter((approval) => {
    const why = whyUnusable(approval, home, used);
    if (why !== null) note(`warning: ${approvalOf(approval)} does not count: ${why}`);
    return why === null;
  });
  return { ...context, options: { ...options, approvals } };
}

/**
 * Records that a plan uses the approval of a comment, before any of its changes is sent.
 *
 * @throws FlagkeelError `GIT`, `IN_USE`: the record cannot be kept where later runs find it. Nothing may be sent then.
 */
export async function useApproval(
  { approval, plan, remembered }: Planned,
  nowMs: number,
): Promise<void> {
  if (approval?.comment === undefined || plan.changes.length === 0) return;
  const key = usedKey(approval);
  const { home, state, applied: head } = remembered;
  const approvals = { ...remembered.approvals, [key]: new Date(nowMs).toISOString() };
  const message = applyMessage(`Use approval ${key}`, head, []);
  await home?.write(state, { head, message, isRecord: true, approvals });
  const missing = home?.notShared() ?? null;
  if (missing === null) return;
  throw new FlagkeelError(
    'GIT',
    `cannot use ${approvalOf(approval)}: runs on other machines would use it again, because ${missing.why} (let runs push refs/flagkeel/* to origin, or approve with --approve)`,
  );
}

/** Plans that the operator lets pass. */
export interface GuardOverride {
  /** Lets the plan with this hash pass, in addition to those that the options of the run approve. */
  readonly approvedHash?: string | undefined;
  /**
   * Set with `--force`: an empty repository or another workspace may pass too, if this plan is approved or a person
   * says yes. Without it, those never pass.
   */
  readonly ask?: ((planned: Planned) => Promise<boolean>) | undefined;
}

export async function isApproved(
  planned: Planned,
  { approvedHash, ask }: GuardOverride = {},
): Promise<boolean> {
  const { guardFindings, planHash, approval } = planned;
  if (guardFindings.length === 0) return true;
  const forced = guardFindings.filter(({ guard }) => FORCED_GUARDS.has(guard));
  if (forced.length > 0 && !ask) return false;
  if (approval !== undefined || planHash === approvedHash) return true;
  // A yes on the terminal covers only the guards that need `--force`; the others need a review of the figures.
  return forced.length === guardFindings.length && ask !== undefined && (await ask(planned));
}

/** Nothing was written. */
export class PlanDiffersError extends FlagkeelError {
  readonly planned: Planned;

  constructor(planned: Planned, reviewed: string) {
    super(
      'PLAN_DIFFERS',
      `cannot apply: the plan is ${planned.planHash}, the reviewed one was ${reviewed} (review the plan of now)`,
    );
    this.planned = planned;
  }
}

/** @throws PlanDiffersError it is not the reviewed plan, by its hash, nor empty because HEAD is behind. */
export function refuseUnreviewed(planned: Planned, reviewed: string | undefined): void {
  if (reviewed === undefined || reviewed === planned.planHash) return;
  if (planned.input.policy.behind && planned.plan.changes.length === 0) return;
  throw new PlanDiffersError(planned, reviewed);
}

/** The comment of a write is short, and the plan has all of them. */
const SHOWN_FINDINGS = 3;

/** Adds to the notes the approval that let the plan pass its guards. */
export function withApproval(
  notes: PlanNotes,
  guardFindings: readonly GuardFinding[],
  approval: Approval | undefined,
): PlanNotes {
  if (guardFindings.length === 0 || !approval) return notes;
  const findings = guardFindings.map(({ guard, environment, id, found, limit }) => {
    const place = id ?? environment;
    return `${guard}${place === null ? '' : ` of ${place}`}, ${String(found)} over ${String(limit)}`;
  });
  const more = findings.length - SHOWN_FINDINGS;
  const guards = [
    ...findings.slice(0, SHOWN_FINDINGS),
    ...(more > 0 ? [`${String(more)} more`] : []),
  ].join('; ');
  const said = `Sent although a guard refused it (${guards}): ${approvalText(approval)}`;
  return new Map(
    [...notes].map(([key, { title, comment }]) => [
      key,
      truncateNote({ title, comment: `${said}\n\n${comment}` }, title),
    ]),
  );
}

function whyUnusable(
  approval: Approval,
  home: StateHome | null,
  used: Remembered['approvals'],
): string | null {
  if (approval.comment === undefined) return null;
  if (Object.hasOwn(used, usedKey(approval))) return 'it was used before (write a new comment)';
  const unread = 'that it was not used before is not known, because';
  if (home === null) return `${unread} no state is kept here (approve with --approve)`;
  const missing = home.notShared();
  return missing === null || missing.isRead ? null : `${unread} ${missing.why}`;
}

/** Key in the state for the time at which a comment let a plan pass. */
function usedKey({ comment = '', hash }: Approval): string {
  return `${comment} ${hash}`;
}

function approvalOf({ hash, by = '' }: Approval): string {
  return `the approval of ${hash} by ${clean(by)}`;
}
