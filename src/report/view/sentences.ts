import { grouped } from '../../model/collections.js';
import type { RampStanding, StepStanding } from '../../model/flag/ramp.js';
import {
  isNotLookedAt,
  withdrawStepId,
  type LeftToPeople,
  type LiveKill,
  type NotCompared,
  type Reminder,
} from '../../model/plan.js';
import { keyOfId } from '../../model/ref.js';
import { killRemedy } from '../../model/remedy.js';
import type { ClosedEnvironment, LeftOut, Suspension } from '../../model/run.js';
import {
  byEnvironment,
  type PlanReport,
  refusingFindings,
  shownEnvironments,
} from '../plan-report.js';
import { clean } from '../sanitize.js';
import { span } from '../text/layout.js';
import { shortSha, namesText, plural } from '../values.js';
import { commandText, remedyText } from './verdict.js';
import type { Row } from './row.js';

const TOUCHED_TEXT =
  'Only what changed in git, or was open before, was looked at; drift elsewhere was not.';

/** A sentence names this many flags; a service that hides them may have hundreds. */
const MAX_UNSEEN = 5;

export interface Caveats {
  readonly serious: readonly string[];
  readonly ramps: readonly string[];
  readonly reminders: readonly string[];
  /** Parts that were not compared, or not closely. */
  readonly limits: readonly string[];
}

export function caveatsOf(report: PlanReport): Caveats {
  const { plan, stateless, suspended = null, closed = [], held = [], leftOut } = report;
  const places = shownEnvironments(report);
  const inOrder = closed.toSorted(
    (a, b) => places.indexOf(a.environment) - places.indexOf(b.environment),
  );
  return {
    serious: [
      ...(suspended === null ? [] : [suspendedText(suspended)]),
      ...inOrder.map(closedText),
      ...passTexts(report),
      ...withdrawalTexts(report),
      ...thatApply(
        held.length > 0 &&
          `Left as they are, because their specs or what they name are invalid: ${held.map(clean).join(', ')}.`,
        stateless && 'Stateless: drift cannot be told from a change in git, and nothing is pruned.',
      ),
    ],
    ramps: byEnvironment(openRamps(report.ramps), places).map(rampText),
    reminders: byEnvironment(report.reminders ?? [], places).map(reminderText),
    limits: [
      ...thatApply(leftOut && leftOutText(leftOut), plan.observed === 'touched' && TOUCHED_TEXT),
      ...notComparedTexts(plan.notCompared),
      ...leftToPeopleTexts(report.leftToPeople),
      ...thatApply(
        plan.unmanaged !== null &&
          plan.unmanaged.flags + plan.unmanaged.segments > 0 &&
          `Not managed here: ${plural(plan.unmanaged.flags, 'flag')}, ${plural(plan.unmanaged.segments, 'segment')}.`,
      ),
    ],
  };
}

/** The caveats of changed objects. A report that finds all in sync, or writes nothing, has all those not compared. */
export function caveatsOfChanges(report: PlanReport): Caveats {
  const { plan, closed = [], ramps = [], reminders = [], leftToPeople = [], leftOut } = report;
  const named = [...plan.changes, ...plan.withheld.filter(({ why }) => why !== 'not-reviewed')];
  const keys = new Set<string>(named.map(({ id }) => keyOfId(id)));
  const places = new Set(named.map(({ ref }) => ref.environment));
  const isNamed = ({ id }: { readonly id: string }): boolean => keys.has(keyOfId(id));
  const isWhole = report.outcomes !== undefined || plan.changes.length === 0;
  const { objects = [], environments = [] } = leftOut ?? {};
  return caveatsOf({
    ...report,
    closed: closed.filter(({ environment }) => places.has(environment)),
    ramps: ramps.filter(isNamed),
    reminders: reminders.filter(isNamed),
    leftToPeople: leftToPeople.filter(isNamed),
    leftOut: objects.length + environments.length === 0 ? undefined : leftOut,
    plan: {
      ...plan,
      unmanaged: null,
      notCompared: isWhole ? plan.notCompared : plan.notCompared.filter(isNamed),
    },
  });
}

function leftOutText({ objects, environments }: LeftOut): string {
  const parts = [
    ...(objects.length > 0
      ? [`${plural(objects.length, 'object')} (${namesText(objects, MAX_UNSEEN)})`]
      : []),
    ...environments.map((name) => `environment ${clean(name)}`),
  ];
  return parts.length === 0
    ? 'The filters leave nothing out.'
    : `Left out by filters, and not looked at: ${parts.join(', ')}.`;
}

/** The option that applies changes held by windows at once. Refusals of guards name an option of their own. */
function passTexts(report: PlanReport): string[] {
  const { heldHash, planOptions = [] } = report;
  if (heldHash === undefined || refusingFindings(report).length > 0) return [];
  const command = commandText(['reconcile', '--approve', heldHash, ...planOptions]);
  return [`Once reviewed, what waits for a window passes with ${clean(command)}.`];
}

function leftToPeopleTexts(all: readonly LeftToPeople[] = []): string[] {
  const groups = grouped(all, ({ fields }) =>
    fields.map((field) => OWNED_WORDS[field] ?? clean(field)).join(', '),
  );
  return [...groups].map(([owned, objects]) => {
    return `People own ${owned} of ${idsText(objects)}: no run compares or writes that.`;
  });
}

const OWNED_WORDS: Readonly<Record<string, string>> = {
  defaultRule: 'the percentages (defaultRule)',
};

function withdrawalTexts({ plan, outcomes }: PlanReport): string[] {
  return (plan.withdrawals ?? []).map((withdrawal) => {
    const id = clean(withdrawal.id);
    const request = clean(withdrawal.request.id);
    const outcome = outcomes?.get(withdrawStepId(withdrawal));
    if (outcome && outcome.status !== 'applied') {
      const why = outcome.status === 'failed' ? outcome.error.message : outcome.why;
      return `Change request ${request} for ${id} was not withdrawn: ${clean(why)}.`;
    }
    const verb = outcome?.status === 'applied' ? 'was' : 'will be';
    return `Change request ${request} for ${id} ${verb} withdrawn: git asks for something else by now.`;
  });
}

export function notComparedTexts(missing: readonly NotCompared[]): string[] {
  const counted = missing.filter(({ what }) => what === 'keys');
  const unseen = missing.filter(({ what }) => what === 'fields');
  const written = missing.filter(isNotLookedAt);
  return thatApply(
    counted.length > 0 &&
      `Keys were counted and not compared: ${idsText(counted, Infinity)} (--every-key compares them).`,
    unseen.length > 0 &&
      `This service does not show flags by themselves, so what their files say at the top was not compared: ${idsText(unseen)}.`,
    written.length > 0 &&
      `Not looked at since an interrupted run wrote them: ${plural(written.length, 'definition')} (${idsText(written)}); the next run looks.`,
  );
}

function idsText(objects: readonly { readonly id: string }[], limit = MAX_UNSEEN): string {
  const ids = objects.map(({ id }) => id);
  return namesText(ids, limit);
}

function thatApply(...sentences: readonly (string | false | undefined)[]): string[] {
  return sentences.filter((each) => typeof each === 'string');
}

function suspendedText({ reason, until }: Suspension): string {
  const [when, end] =
    until === null
      ? ['', 'take it out of the config']
      : [` until ${clean(until)}`, 'resume the source'];
  return `Suspended${when}: ${clean(reason)}. Nothing but kills is written; to end it, ${end}.`;
}

export function closedText({ environment, why, untilText, override }: ClosedEnvironment): string {
  const end = untilText === null ? 'until the config says otherwise' : `until ${clean(untilText)}`;
  const passes =
    override === undefined
      ? 'Kills and restores pass.'
      : `Changes go all the same: ${clean(override)}.`;
  return `${clean(environment)} is closed to changes ${end}: ${clean(why)}. ${passes}`;
}

function openRamps(ramps: readonly RampStanding[] = []): readonly RampStanding[] {
  return ramps.filter(
    ({ steps, step, held, checks }) => step < steps.length - 1 || held !== null || checks,
  );
}

/** The first step that is not due yet and raises the share. */
export function nextStep({ steps, step, served }: RampStanding): StepStanding | undefined {
  return steps.find(({ percent }, at) => at > step && percent > (served ?? 0));
}

/** The steps done, the current and the next one, a live share beyond them, and why the ramp waits. */
export function rampText(standing: RampStanding): string {
  const { id, rule, treatment, steps, step, held, served, checks = [], onFail, backTo } = standing;
  const where = rule === null ? '' : `, rule ${rule + 1}`;
  const share = served ?? 0;
  const next = nextStep(standing);
  const rungs = steps.map((each, at) => {
    const { percent, dueText } = each;
    // A due step is not served before a run has written it, and a waiting one not at all.
    if (at <= step && percent > share) return `${percent} % due`;
    if (at >= step && percent === share) return `${percent} % now`;
    if (percent <= share) return `${percent} % done`;
    const when = dueText === null ? '' : ` at ${clean(dueText)}`;
    return each === next && held === null
      ? `${percent} % next${when}`
      : `${percent} %${held === null ? when : ''}`;
  });
  // The ramp catches up with a share that was live before it, or was raised by hand.
  const isBeyond = share > (steps[Math.max(step, 0)]?.percent ?? 100);
  const isStep = steps.some(({ percent }) => percent === share);
  const ahead = isBeyond && !isStep ? ` The service has ${share} %.` : '';
  const waits = held === null ? '' : ` It waits: ${clean(held)}.`;
  const unasked = checks.filter(({ result }) => result === 'not-asked');
  const names = unasked.map(({ name }) => `"${clean(name)}"`).join(', ');
  const back = `${clean(treatment)} goes back to ${String(backTo ?? 0)} %`;
  const failure =
    onFail === undefined
      ? ''
      : ` (if it fails, ${onFail === 'kill' ? 'the flag is killed' : back})`;
  const asked =
    unasked.length === 0
      ? ''
      : ` Not asked here, and asked before it is written: check ${names}${failure}.`;
  return `Ramp of ${clean(treatment)} in ${clean(id)}${where}: ${rungs.join(', ')}.${ahead}${waits}${asked}`;
}

export const LIVE_KILLS_TITLE = 'Killed on the service, not ordered by git; they stay so';

export function sinceText(kill: Omit<LiveKill, 'ref' | 'location'>): string {
  const { seen, commit, wasOrdered, orderedIn, comesBack } = kill;
  if (comesBack) return 'it was killed when it went from the service, and comes back killed';
  if (orderedIn !== undefined) {
    const commit = clean(shortSha(orderedIn));
    return `git ordered it in commit ${commit} and took it back before a run came to its end`;
  }
  if (wasOrdered) return 'git ordered it until now, and HEAD does not take it back';
  const moment = seen === null ? undefined : `${seen.slice(0, 16).replace('T', ' ')} UTC`;
  const at = commit === null ? undefined : `commit ${shortSha(commit)}`;
  const known = [moment, at].filter((each) => each !== undefined).map((each) => clean(each));
  return known.length === 0 ? 'since when no run remembers' : `seen since ${known.join(', ')}`;
}

export function liveKillRow(kill: LiveKill): Row {
  return {
    mark: span('!', 'alarm'),
    subject: clean(kill.id),
    deed: span(sinceText(kill), 'faint'),
    origin: [],
    lines: [[span(`→ ${clean(remedyText(killRemedy(kill)))}`)]],
  };
}

export function reminderText({ id, what, due, reason, by }: Reminder): string {
  if (what === 'expiry')
    return `${clean(id)} was to be gone by ${clean(due)}; it stays until a commit removes it.`;
  const why = reason === undefined ? '' : `: ${clean(reason)}`;
  const who = by === undefined ? '' : `, by ${clean(by)}`;
  return `The kill of ${clean(id)} was to be reviewed by ${clean(due)}; it stays until a commit takes it back${why}${who}.`;
}
