import { FlagkeelError } from '../errors.js';
import { withAllowances } from '../history/allowances.js';
import type { SentKills } from '../kill/first.js';
import { truncateNote } from '../model/audit-note.js';
import type { ChangeNote, Outcomes, Unknown } from '../model/outcome.js';
import {
  noteKey,
  FORCED_GUARDS,
  takesKillBack,
  type Plan,
  type Change,
  type PlanNotes,
  type GuardFinding,
  type WithheldWhy,
} from '../model/plan.js';
import { approvalText, type Approval } from '../model/run.js';
import {
  flipFindings,
  guardFindings,
  shiftFindings,
  strictestGuards,
} from '../plan/guards/guards.js';
import { planHash as hashOfPlan } from '../plan/reviewed.js';
import { planImpact } from '../plan/impact/impact.js';
import { hasUnremembered } from '../plan/inferred-bases.js';
import type { PlanInput } from '../plan/input.js';
import { planChanges } from '../plan/plan.js';
import { closedFor, unseenIn, type PlanPolicy } from '../plan/policy.js';
import { clean } from '../report/sanitize.js';
import { firstOf } from '../report/values.js';
import { quotedList } from '../specs/parse/suggest.js';
import type { OtherWorkspace } from '../state/open.js';
import { applyMessage } from '../state/run-log.js';
import type { StateHome } from '../state/store.js';
import { bucketsAtLast } from '../timing/desired-at.js';
import {
  historyOf,
  type Planned,
  type RunContext,
  type Remembered,
  type Applied,
} from './context.js';

export async function checkGuards(
  context: RunContext,
  { plan, input }: PlanAndInput,
  { applied, judged }: Pick<Remembered, 'applied' | 'judged'>,
  elsewhere: readonly OtherWorkspace[] = [],
): Promise<Pick<Planned, 'impacts' | 'guardFindings' | 'allowed'>> {
  const { source, options } = context;
  const { config } = input.desired;
  const history = historyOf(context, input.desired);
  const places = input.policy.environments.filter(({ selected }) => selected);
  // For each guard the strictest of HEAD and of these, where they are readable ancestors of HEAD.
  let guarding = config;
  for (const commit of new Set([applied, ...places.map(({ id }) => judged[id] ?? applied)])) {
    const isOther = commit !== null && commit !== source.revision.commit;
    const before = isOther ? await history.otherConfigAt(commit) : undefined;
    if (before) guarding = strictestGuards(guarding, before);
  }
  const impacts = planImpact(plan, input, bucketsAtLast(input.moment));
  const findings = [
    ...guardFindings(plan, input, guarding, elsewhere),
    ...flipFindings(plan, input, impacts),
    ...shiftFindings(plan, input, impacts, guarding),
  ];
  const { since } = options;
  return { impacts, ...(await withAllowances(findings, input, { history, applied, since })) };
}

/** Why changes wait that no guard has judged yet. */
const UNJUDGED: ReadonlySet<WithheldWhy> = new Set([
  'window-closed',
  'suspended',
  'approval-needed',
  'not-reviewed',
]);

/** What this run judged, so that what it leaves to later ones is compared with the commit before. @param open after it. */
export function judgedAfter(
  { plan, input: { policy }, remembered }: Planned,
  outcomes: Outcomes,
  open: readonly string[],
  head: string | null,
): Remembered['judged'] {
  const { only, quarantined, behind } = policy;
  const isLeftOut = only !== null && open.some((key) => !only.has(key));
  const isPart = isLeftOut || quarantined.size > 0 || behind === true;
  const left = [
    ...plan.withheld.filter(({ why }) => UNJUDGED.has(why)),
    ...plan.changes.filter((each) => {
      return takesKillBack(each) && outcomes.get(each.id)?.status !== 'applied';
    }),
  ];
  const places = policy.environments.flatMap(({ id, name, selected, unseen }) => {
    const isLeft = left.some(({ ref }) => [null, name].includes(ref.environment));
    const before = remembered.judged[id] ?? remembered.applied;
    const commit = selected && !isPart && !isLeft ? head : before;
    const hasId = unseen !== true || id in remembered.environments;
    return commit === null || !hasId ? [] : [[id, commit] as const];
  });
  return Object.fromEntries(places);
}

export type PlanAndInput = Pick<Planned, 'plan' | 'input'>;
export type PlanHashes = Pick<Planned, 'planHash' | 'heldHash' | 'refusedHash' | 'approval'>;

/**
 * The part of the plan that windows and freezes let pass, or the whole plan if the operator approved its hash. The hash
 * covers changes that wait for a window, so that it is equal before and after the window opens.
 */
export function planForNow(
  { options, originName }: RunContext,
  { input, plan }: PlanAndInput,
  { workspaceId, kills }: { readonly workspaceId: string; readonly kills: SentKills },
): PlanAndInput & PlanHashes {
  const { policy } = input;
  const place = { origin: originName(), workspaceId };
  const { reviewed, start } = policy;
  const hashOf = (changes: readonly Change[]): string =>
    hashOfPlan({ changes }, place, { reviewed, start, ladders: input.moment.ladders });
  const isHeld = plan.withheld.some(({ why }) => why === 'window-closed');
  const always = { ...input, policy: { ...policy, closed: new Map() } };
  const open = isHeld ? planChanges(always, plan.observed) : plan;
  const planHash = hashOf(open.changes);
  const refusedHash = kills.killed.size === 0 ? planHash : hashOf(kills.stillToWrite(open.changes));
  const approval = options.approvals?.find((each) => each.hash === planHash);
  const hashes = { planHash, refusedHash, approval };
  if (!isHeld) return { input, plan, ...hashes, heldHash: null };
  if (!approval) return { input, plan, ...hashes, heldHash: hashOf(heldIn(open, plan)) };
  const windowOverride = approvalText(approval);
  const obeying = { ...input, policy: { ...policy, windowOverride } };
  return { input: obeying, plan: open, ...hashes, heldHash: null };
}

/** The rest of a plan once a part of it is written. Fields count singly, because kills, for example, always go. */
function heldIn(whole: Plan, part: Pick<Plan, 'changes'>): Change[] {
  const goes = new Map(part.changes.map((each) => [each.id, each]));
  return whole.changes.flatMap((change) => {
    const now = goes.get(change.id);
    if (!now) return [change];
    const paths = new Set(now.fields.map(({ path }) => path));
    const fields = change.fields.filter(({ path }) => !paths.has(path));
    return fields.length === 0 ? [] : [{ ...change, fields }];
  });
}

/** Adds the reason of the override to changes that go although their environment is closed. */
export function withOverride(notes: PlanNotes, plan: Plan, { policy }: PlanInput): PlanNotes {
  const { windowOverride = '', ...obeying } = policy;
  if (windowOverride === '') return notes;
  const completed = new Map(notes);
  for (const change of plan.changes) {
    const closed = closedFor(obeying, change);
    const note = notes.get(noteKey(change));
    if (!closed || !note) continue;
    completed.set(
      noteKey(change),
      beginningWith(`Sent although ${closed.why}: ${windowOverride}`, note),
    );
  }
  return completed;
}

/**
 * Leaves out approvals that an earlier run has used, with a warning: a comment stays in place, and would approve its plan
 * again after that was applied and reverted.
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
  const why = `runs on other machines would use it again, because ${missing.why} (let runs push refs/flagkeel/* to origin, or approve with --approve)`;
  throw new FlagkeelError('GIT', `cannot use ${approvalOf(approval)}: ${why}`);
}

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

export function withApproval(
  notes: PlanNotes,
  guardFindings: readonly GuardFinding[],
  approval: Approval | undefined,
): PlanNotes {
  if (guardFindings.length === 0 || !approval) return notes;
  const findingText = ({ guard, environment, id, found, limit }: GuardFinding): string => {
    const place = id ?? environment;
    return `${guard}${place === null ? '' : ` of ${place}`}, ${String(found)} over ${String(limit)}`;
  };
  const rest = (more: number): string => `${String(more)} more`;
  const guards = firstOf(guardFindings, SHOWN_FINDINGS, findingText, rest).join('; ');
  const words = `Sent although a guard refused it (${guards}): ${approvalText(approval)}`;
  return new Map([...notes].map(([key, note]) => [key, beginningWith(words, note)]));
}

function beginningWith(words: string, { title, comment }: ChangeNote): ChangeNote {
  return truncateNote({ title, comment: `${words}\n\n${comment}` }, title);
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

/** To be shown before anything is applied. */
export function memoryUnknowns({ home, isWritten }: Remembered, plan: Plan): readonly Unknown[] {
  const isNothing = !isWritten && hasUnremembered(plan);
  return [...(isNothing ? [NOTHING_REMEMBERED] : []), ...notRead(home)];
}

/** A key that does not see all environments may not change what all of them share. */
export function placeUnknowns(policy: PlanPolicy, plan: Plan): readonly Unknown[] {
  const unseen = unseenIn(policy);
  const shared = plan.changes.find(({ ref }) => ref.environment === null);
  if (unseen.length === 0 || !shared) return [];
  const message = `the key does not see ${quotedList(unseen)}: the service may refuse it ${shared.id}, which all environments share (use a key that sees them all for it)`;
  return [{ code: 'environment-unseen', message }];
}

const NOTHING_REMEMBERED: Unknown = {
  code: 'nothing-remembered',
  message:
    'no earlier apply is recorded here: what differs may be our own work or a change by hand, and protected environments hold it (share the state over origin; or look at the values, and run once with --adopt)',
};

function notRead(home: StateHome | null): readonly Unknown[] {
  const missing = home?.notShared() ?? null;
  if (missing === null || missing.isRead) return [];
  const message = `what runs on other machines applied is not known here: ${missing.why}`;
  return [{ code: 'state-not-read', message }];
}

/** Warns if runs on other machines will not know of the writes. */
export function withSharing(done: Applied): Applied {
  const missing = done.remembered.home?.notShared() ?? null;
  if (missing === null || done.unsaved !== undefined || !wroteAny(done)) return done;
  const message = `what this run applied is remembered on this machine alone, because ${missing.why}; a fresh clone will apply what its own push changed and hold in protected environments whatever else differs (let runs push refs/flagkeel/* and refs/flagkeel-lock/* to origin, or say \`state: { push: false }\`)`;
  return { ...done, unknowns: [...done.unknowns, { code: 'state-not-shared', message }] };
}

function wroteAny({ outcomes }: Applied): boolean {
  return [...outcomes.values()].some(
    (outcome) => outcome.status === 'applied' || (outcome.status === 'failed' && outcome.partly),
  );
}
