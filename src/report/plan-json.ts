import type { Json } from '../kinds/json.js';
import type { Kind, ObjectId } from '../model/object-id.js';
import type {
  Action,
  AllowedFinding,
  Change,
  FieldChange,
  Plan,
  Reason,
  Rename,
  WithheldWhy,
  GuardFinding,
} from '../model/plan.js';
import type { Outcome, OutcomeError, Revision, Unknown } from '../model/run.js';
import { impactMembers, type ImpactMembers } from './impact-json.js';
import { ordered } from './json-text.js';
import { keyCounts, maskKeys, type KeyCounts } from './listed-keys.js';
import { refusals, type Refusal } from './refused-identities.js';
import { countActions, outcomeOf, type ActionCounts, type PlanReport } from './plan-report.js';

/** The plan for programs; `schemas/plan.schema.json` says the same with a description on every field. */
export interface PlanDocument {
  readonly formatVersion: 1;
  readonly planHash: string;
  readonly origin: string;
  readonly workspace: { readonly id: string; readonly name: string };
  readonly revision: Revision;
  readonly stateless: boolean;
  /** Only after an apply. */
  readonly converged?: boolean;
  readonly summary: PlanSummary;
  readonly changes: readonly ChangeDocument[];
  readonly withheld: readonly WithheldDocument[];
  readonly observed: Plan['observed'];
  /** Only where a guard stands against the plan. */
  readonly guards?: readonly GuardFinding[];
  /** Only where the specs let the plan pass a guard. */
  readonly allowed?: readonly AllowedFinding[];
  /** Only where something could not be known. */
  readonly unknowns?: readonly Unknown[];
  /** Only where something is: `KIND/NAME`, sorted. */
  readonly held?: readonly string[];
  readonly unmanaged: Plan['unmanaged'];
}

export interface PlanSummary extends ActionCounts {
  readonly unchanged: number;
  readonly withheld: number;
  readonly requests: number;
}

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
  /** Only where it looks like one. */
  readonly rename?: Rename;
  readonly dependsOn: readonly ObjectId[];
  /** Only after an apply; likewise the two below. */
  readonly outcome?: Outcome['status'];
  /** Where `outcome` is `failed`. */
  readonly error?: OutcomeError & { readonly refused?: readonly Refusal[] };
}

export interface WithheldDocument extends ChangeDocument {
  readonly why: WithheldWhy;
  readonly wayOut: string;
}

/** An absent member of the three: that side has no such value. */
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

/** Order as in the plan. Equal inputs give equal documents, members in the same order. */
export function planDocument(
  report: PlanReport,
  options: JsonOptions = { showKeys: false },
): PlanDocument {
  const { plan, revision, workspace, converged } = report;
  return {
    formatVersion: 1,
    planHash: report.planHash,
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
    })),
    ...(report.guardFindings?.length ? { guards: report.guardFindings } : {}),
    ...(report.allowed?.length ? { allowed: report.allowed } : {}),
    ...(report.unknowns?.length ? { unknowns: report.unknowns } : {}),
    ...(report.held?.length ? { held: report.held } : {}),
    observed: plan.observed,
    unmanaged: plan.unmanaged && {
      flags: plan.unmanaged.flags,
      segments: plan.unmanaged.segments,
    },
  };
}

/** The document as text: two spaces of indent, a line feed at the end. Several make an array. */
export function planJson(documents: PlanDocument | readonly PlanDocument[]): string {
  return `${JSON.stringify(documents, null, 2)}\n`;
}

function changeDocument(change: Change, report: PlanReport, options: JsonOptions): ChangeDocument {
  const words = report.words.get(change.id);
  return {
    id: change.id,
    kind: change.ref.kind,
    name: change.ref.name,
    environment: change.ref.environment,
    action: change.action,
    reason: change.reason,
    file: change.location?.file ?? null,
    line: change.location?.line ?? null,
    title: words?.title ?? null,
    comment: words?.comment ?? null,
    fields: change.fields.map((field) => fieldDocument(field, options)),
    ...(change.keys ? { keys: keyCounts(change.keys, options.showKeys) } : {}),
    ...(change.rename ? { rename: change.rename } : {}),
    dependsOn: change.dependsOn,
  };
}

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
