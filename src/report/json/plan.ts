import type { RampStanding } from '../../model/flag/ramp.js';
import type { FlagImpact, Impact, Move, Risk } from '../../model/impact.js';
import type { Json } from '../../model/json.js';
import type { Kind, ObjectId } from '../../model/ref.js';
import {
  noteKey,
  type Action,
  type AllowedFinding,
  type Change,
  type FieldChange,
  type LiveKill,
  type NotCompared,
  type Plan,
  type Reason,
  type Reminder,
  type Rename,
  type WithheldWhy,
  type GuardFinding,
} from '../../model/plan.js';
import type { Outcome, OutcomeError, Revision, Unknown } from '../../model/outcome.js';
import type { ClosedEnvironment } from '../../model/run.js';
import { ordered } from '../json-value.js';
import { keyCounts, maskKeys, type KeyCounts } from '../masked-keys.js';
import { refusals, type Refusal } from '../text/identities.js';
import { countActions, outcomeOf, type ActionCounts, type PlanReport } from '../plan-report.js';

/**
 * What a change does to the users that are served. `impact` and `risks` are absent where a change
 * reaches nobody by itself, `afterRestore` where the plan does not leave the flag killed.
 */
interface ImpactMembers {
  /** One entry for each flag that the change reaches. */
  readonly impact?: readonly FlagImpactDocument[];
  readonly risks?: readonly Risk[];
  /** Whom a restore would reach after the plan. */
  readonly afterRestore?: FlagImpactDocument;
}

/** Whom a change reaches through one flag. The environment is the change's own. */
export interface FlagImpactDocument extends Omit<FlagImpact, 'environment' | 'moves'> {
  readonly moves: readonly MoveDocument[];
}

/**
 * Users that go from one treatment to another. `names` are keys, and stand there only where keys
 * are to be shown.
 */
export type MoveDocument = Omit<Move, 'names'> & Partial<Pick<Move, 'names'>>;

function impactMembers(
  impact: Impact | undefined,
  { showKeys }: { readonly showKeys: boolean },
): ImpactMembers {
  if (!impact) return {};
  const { flags, risks, afterRestore } = impact;
  return {
    impact: flags.map((each) => flagImpactDocument(each, showKeys)),
    risks,
    ...(afterRestore && { afterRestore: flagImpactDocument(afterRestore, showKeys) }),
  };
}

function flagImpactDocument(
  { flag, traffic, keys, listed, moves, bounded }: FlagImpact,
  showKeys: boolean,
): FlagImpactDocument {
  return {
    flag,
    traffic,
    keys,
    listed,
    moves: moves.map(({ names, ...move }) => ({ ...move, ...(showKeys && { names }) })),
    bounded,
  };
}

/** The plan for programs. `schemas/plan.schema.json` describes the same members one by one. */
export interface PlanDocument {
  readonly formatVersion: 1;
  readonly planHash: string;
  /** Only where a guard or a window holds something back. */
  readonly heldHash?: string;
  readonly origin: string;
  readonly workspace: { readonly id: string; readonly name: string };
  readonly revision: Revision;
  readonly stateless: boolean;
  /** Only after an apply: whether a second look found nothing left to do. */
  readonly converged?: boolean;
  readonly summary: PlanSummary;
  readonly changes: readonly ChangeDocument[];
  readonly withheld: readonly WithheldDocument[];
  readonly observed: Plan['observed'];
  /** Only after an apply that left differences. */
  readonly left?: readonly LeftDocument[];
  /** Only where a guard stands against the plan. */
  readonly guards?: readonly GuardFinding[];
  /** Only where the specs let the plan pass a guard. */
  readonly allowed?: readonly AllowedFinding[];
  /** Only where something could not be known. */
  readonly unknowns?: readonly Unknown[];
  /** `KIND/NAME` of objects whose specs are invalid, sorted; absent where there are none. */
  readonly held?: readonly string[];
  /** How far ramps have come, sorted by id; absent where there are none. */
  readonly ramps?: readonly RampStanding[];
  /** What the specs wanted looked at again by now, sorted by id; absent where there is nothing. */
  readonly reminders?: readonly Reminder[];
  /** Where changes go at another time; absent where they go everywhere. */
  readonly closed?: readonly Omit<ClosedEnvironment, 'untilText'>[];
  readonly unmanaged: Plan['unmanaged'];
  /** Sorted by id; plans that older versions kept lack it. */
  readonly liveKills?: readonly LiveKillDocument[];
  /** Sorted by id; plans that older versions kept lack it. */
  readonly notCompared?: readonly NotCompared[];
}

/** What a second look found to differ: what was wanted and what was found, field by field. */
export interface LeftDocument {
  readonly id: ObjectId;
  readonly action: Action;
  readonly fields: readonly {
    readonly path: string;
    /** Absent member: the side has no such value. */
    readonly wanted?: Json;
    readonly found?: Json;
    readonly keys?: KeyCounts;
  }[];
  /** Keys that are still to be added and removed. */
  readonly keys?: KeyCounts;
}

/** A kill on the service that git does not order; members are those of `LiveKill`. */
export type LiveKillDocument = Omit<LiveKill, 'ref' | 'location'>;

/** Numbers of changes, of objects without a change, and of requests. */
export interface PlanSummary extends ActionCounts {
  readonly unchanged: number;
  readonly withheld: number;
  readonly requests: number;
}

/** One change. Members that are null have no value; members that are absent do not apply. */
export interface ChangeDocument extends ImpactMembers {
  readonly id: ObjectId;
  readonly kind: Kind;
  readonly name: string;
  readonly environment: string | null;
  readonly action: Action;
  readonly reason: Reason;
  readonly file: string | null;
  readonly line: number | null;
  readonly title: string | null;
  readonly comment: string | null;
  readonly fields: readonly FieldDocument[];
  readonly keys?: KeyCounts;
  /** Only where the service keeps what goes. */
  readonly archive?: true;
  /** Only where the change looks like one half of a rename. */
  readonly rename?: Rename;
  readonly dependsOn: readonly ObjectId[];
  /** Only after an apply. */
  readonly outcome?: Outcome['status'];
  /** Only where `outcome` is `failed`. */
  readonly error?: OutcomeError & { readonly refused?: readonly Refusal[] };
}

/** A change that is held back: why, and what a person can do about it. */
export interface WithheldDocument extends ChangeDocument {
  readonly why: WithheldWhy;
  readonly wayOut: string;
  /** When it goes by itself, ISO 8601 in UTC; absent where it does not. */
  readonly until?: string;
}

/**
 * One field of a change. `base` is the remembered value, `before` that on the service, `after` that
 * in the specs. A member is absent where its side has no such value.
 */
export interface FieldDocument {
  readonly path: string;
  readonly reason: Reason;
  readonly base?: Json;
  readonly before?: Json;
  readonly after?: Json;
  readonly keys?: KeyCounts;
}

export interface JsonOptions {
  /** Lists of keys in full; otherwise count and hash. */
  readonly showKeys: boolean;
}

/**
 * The document of a report. Changes are in the order of the plan. Equal reports give equal
 * documents, with members in the same order.
 */
export function planDocument(
  report: PlanReport,
  options: JsonOptions = { showKeys: false },
): PlanDocument {
  const { plan, revision, workspace, converged } = report;
  return {
    formatVersion: 1,
    planHash: report.planHash,
    ...(report.heldHash === undefined ? {} : { heldHash: report.heldHash }),
    origin: report.origin,
    workspace: { id: workspace.id, name: workspace.name },
    revision: { commit: revision.commit, dirty: revision.dirty },
    stateless: report.stateless,
    ...(converged === undefined ? {} : { converged }),
    summary: {
      ...countActions(plan.changes),
      unchanged: plan.unchanged.length,
      withheld: plan.withheld.length,
      requests: plan.steps.length,
    },
    changes: plan.changes.map((change) => ({
      ...changeDocument(change, report, options),
      ...impactMembers(report.impacts?.get(change.id), options),
      ...outcomeMembers(outcomeOf(report, change.id), options),
    })),
    withheld: plan.withheld.map((withheld) => ({
      ...changeDocument(withheld, report, options),
      why: withheld.why,
      wayOut: withheld.wayOut,
      ...(withheld.until === undefined ? {} : { until: withheld.until }),
    })),
    ...(report.left?.length
      ? { left: report.left.map((each) => leftDocument(each, options)) }
      : {}),
    ...(report.guardFindings?.length ? { guards: report.guardFindings } : {}),
    ...(report.allowed?.length ? { allowed: report.allowed } : {}),
    ...(report.unknowns?.length ? { unknowns: report.unknowns } : {}),
    ...(report.held?.length ? { held: report.held } : {}),
    ...momentMembers(report),
    observed: plan.observed,
    unmanaged: plan.unmanaged && {
      flags: plan.unmanaged.flags,
      segments: plan.unmanaged.segments,
    },
    liveKills: plan.liveKills.map(({ ref, location, ...kill }) => kill),
    notCompared: plan.notCompared.map(({ id, what, why }) => ({ id, what, why })),
  };
}

/** What depends on the moment of the plan. */
function momentMembers({
  ramps = [],
  reminders = [],
  closed = [],
}: PlanReport): Pick<PlanDocument, 'ramps' | 'reminders' | 'closed'> {
  const ladders = ramps.map(({ id, rule, treatment, step, steps, held, served, checks }) => ({
    ...{ id, rule, treatment, step, held, served, ...(checks && { checks }) },
    steps: steps.map(({ percent, due, dueText }) => ({ percent, due, dueText })),
  }));
  const closings = closed.map(({ environment, why, until }) => ({ environment, why, until }));
  return {
    ...(ladders.length > 0 && { ramps: ladders }),
    ...(reminders.length > 0 && { reminders }),
    ...(closings.length > 0 && { closed: closings }),
  };
}

/**
 * Documents as text: two spaces of indent, and a line feed at the end. An array of documents is an
 * array in the text.
 */
export function planJson(documents: PlanDocument | readonly PlanDocument[]): string {
  return `${JSON.stringify(documents, null, 2)}\n`;
}

function changeDocument(change: Change, report: PlanReport, options: JsonOptions): ChangeDocument {
  const note = report.notes.get(noteKey(change));
  return {
    id: change.id,
    kind: change.ref.kind,
    name: change.ref.name,
    environment: change.ref.environment,
    action: change.action,
    reason: change.reason,
    file: change.location?.file ?? null,
    line: change.location?.line ?? null,
    title: note?.title ?? null,
    comment: note?.comment ?? null,
    fields: change.fields.map((field) => fieldDocument(field, options)),
    ...(change.keys ? { keys: keyCounts(change.keys, options.showKeys) } : {}),
    ...(change.archive ? { archive: true } : {}),
    ...(change.rename ? { rename: change.rename } : {}),
    dependsOn: change.dependsOn,
  };
}

function leftDocument({ id, action, fields, keys }: Change, options: JsonOptions): LeftDocument {
  return {
    id,
    action,
    fields: fields.map((field) => {
      const { path, before, after, keys: listed } = fieldDocument(field, options);
      return {
        path,
        ...(after === undefined ? {} : { wanted: after }),
        ...(before === undefined ? {} : { found: before }),
        ...(listed ? { keys: listed } : {}),
      };
    }),
    ...(keys ? { keys: keyCounts(keys, options.showKeys) } : {}),
  };
}

/** Without `showKeys` lists of keys in a value are replaced by their number and hash. */
function fieldDocument(field: FieldChange, { showKeys }: JsonOptions): FieldDocument {
  const value = (side: unknown): Json => (showKeys ? ordered(side) : maskKeys(side));
  return {
    path: field.path,
    reason: field.reason,
    ...(field.base === undefined ? {} : { base: value(field.base) }),
    ...(field.before === undefined ? {} : { before: value(field.before) }),
    ...(field.after === undefined ? {} : { after: value(field.after) }),
    ...(field.keys ? { keys: keyCounts(field.keys, showKeys) } : {}),
  };
}

/** How a change ended; nothing in the document of a plan that was not applied. */
function outcomeMembers(
  outcome: Outcome | undefined,
  options: JsonOptions,
): Pick<ChangeDocument, 'outcome' | 'error'> {
  if (!outcome) return {};
  if (outcome.status !== 'failed') return { outcome: outcome.status };
  const { code, message, status, transactionId } = outcome.error;
  const refused = refusals(outcome.identities?.failed ?? [], options);
  const error = { code, message, status, transactionId };
  return {
    outcome: outcome.status,
    error: refused.length > 0 ? { ...error, refused } : error,
  };
}
