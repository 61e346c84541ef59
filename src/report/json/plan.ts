import { FlagkeelError, messageOf } from '../../errors.js';
import type { Keys, Plan as WrittenPlan } from '../../generated/plan.schema.d.js';
import { requestFacts } from '../../model/change-request.js';
import type { FlagImpact } from '../../model/impact.js';
import { present } from '../../model/collections.js';
import { isDeeperThan, type Frozen, type Json } from '../../model/json.js';
import { killRemedy, remedyOf } from '../../model/remedy.js';
import { countsOf, type Standing } from '../../model/verdict.js';
import { noteKey, type Change, type FieldChange, type KeyChange } from '../../model/plan.js';
import type { ObjectId } from '../../model/ref.js';
import type { Outcome } from '../../model/outcome.js';
import { quoted } from '../sanitize.js';
import { maskKeys, withSortedMembers } from '../values.js';
import { guardTexts } from '../view/guards.js';
import { remedyText } from '../view/verdict.js';
import { refusals as refusedIdentities } from '../view/brief.js';
import { countDeeds, outcomeOf, type PlanReport } from '../plan-report.js';

const FORMAT_VERSION = 1;

export type PlanDocument = Frozen<WrittenPlan>;
export type ChangeDocument = PlanDocument['changes'][number];
type StandingDocument = NonNullable<PlanDocument['verdict']>['objects'][number];
type LeftDocument = NonNullable<PlanDocument['left']>[number];
type FieldDocument = ChangeDocument['fields'][number];
type FlagImpactDocument = NonNullable<ChangeDocument['afterRestore']>;

interface JsonOptions {
  readonly showKeys: boolean;
}

/** Equal reports give equal documents, with members in the same order. */
export function planDocument(
  report: PlanReport,
  options: JsonOptions = { showKeys: false },
): PlanDocument {
  const { plan, revision, workspace } = report;
  const deeds = countDeeds(plan.changes);
  return {
    formatVersion: FORMAT_VERSION,
    planHash: report.planHash,
    ...present({ heldHash: report.heldHash }),
    origin: report.origin,
    workspace: { id: workspace.id, name: workspace.name },
    revision: { commit: revision.commit, dirty: revision.dirty },
    stateless: report.stateless,
    ...judgement(report),
    summary: {
      create: deeds.create,
      update: deeds.update,
      delete: deeds.delete + deeds.archive,
      unchanged: plan.unchanged.length,
      withheld: plan.withheld.length,
      requests: plan.steps.length,
    },
    changes: plan.changes.map((change) => {
      const { flags, risks, afterRestore } = report.impacts?.get(change.id) ?? {};
      return {
        ...changeDocument(change, report, options),
        ...present({
          impact: flags?.map((each) => flagImpactDocument(each, options)),
          risks,
          afterRestore: afterRestore && flagImpactDocument(afterRestore, options),
        }),
        ...outcomeMembers(outcomeOf(report, change.id), options),
      };
    }),
    withheld: plan.withheld.map((withheld) => ({
      ...changeDocument(withheld, report, options),
      why: withheld.why,
      wayOut: remedyText(remedyOf(withheld)),
      ...present({
        until: withheld.until,
        request: withheld.request && requestFacts(withheld.request),
      }),
    })),
    ...circumstances(report, options),
    observed: plan.observed,
    unmanaged: plan.unmanaged,
    liveKills: plan.liveKills.map((kill) => {
      const { ref, location, place, ...known } = kill;
      return { ...known, wayOut: remedyText(killRemedy(kill)) };
    }),
    notCompared: plan.notCompared,
    ...present({ shown: some(report.shown) }),
  };
}

function circumstances(report: PlanReport, options: JsonOptions) {
  const { refusals, passed } = guardTexts(report);
  const said = [...refusals, ...passed].map((text) => text.replaceAll('\u00a0', ' '));
  return present({
    left: some(report.left?.map((each) => leftDocument(each, options))),
    guards: some(report.guardFindings?.map((each, at) => ({ ...each, says: said[at] ?? '' }))),
    leftToPeople: some(report.leftToPeople),
    withdrawals: some(
      report.plan.withdrawals?.map(({ id, request: { id: request } }) => ({ id, request })),
    ),
    allowed: some(report.allowed),
    unknowns: some(report.unknowns),
    held: some(report.held),
    leftOut: report.leftOut,
    ramps: some(
      report.ramps?.map(({ id, rule, treatment, step, steps, held, served, checks, onFail }) => ({
        id,
        rule,
        treatment,
        step,
        held,
        served,
        ...present({
          onFail,
          checks: checks?.map(({ name, result, why }) => ({ name, result, why })),
        }),
        steps,
      })),
    ),
    reminders: some(report.reminders),
    closed: some(
      report.closed?.map(({ environment, why, until }) => ({ environment, why, until })),
    ),
  });
}

/** Without an apply the verdict would only repeat the plan, unless a guard refused it. Live objects are counted alone. */
function judgement(report: PlanReport): Pick<PlanDocument, 'converged' | 'verdict'> {
  const { converged, verdict, guardFindings = [] } = report;
  if (converged === undefined && guardFindings.length === 0) return {};
  const objects = [...verdict.objects].flatMap(([id, standing]) =>
    standing.is === 'live' ? [] : [standingDocument(id, standing)],
  );
  return {
    ...present({ converged }),
    verdict: { whole: verdict.whole, counts: countsOf(verdict), objects },
  };
}

export function standingDocument(
  id: ObjectId,
  standing: Exclude<Standing, { is: 'live' }>,
): StandingDocument {
  const { is, why } = standing;
  const until = 'until' in standing ? standing.until : null;
  const remedy = 'remedy' in standing && standing.remedy ? remedyText(standing.remedy) : null;
  return { id, is, why, until, remedy };
}

function some<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list?.length ? list : undefined;
}

export function planJson(documents: PlanDocument | readonly PlanDocument[]): string {
  return `${JSON.stringify(documents, null, 2)}\n`;
}

function changeDocument(change: Change, report: PlanReport, options: JsonOptions): ChangeDocument {
  const { id, ref, action, reason, location, archive, rename } = change;
  const note = report.notes.get(noteKey(change));
  return {
    id,
    kind: ref.kind,
    name: ref.name,
    environment: ref.environment,
    action,
    reason,
    file: location?.file ?? null,
    line: location?.line ?? null,
    title: note?.title ?? null,
    comment: note?.comment ?? null,
    fields: change.fields.map((field) => fieldDocument(field, options)),
    ...present({ keys: keyCounts(change.keys, options), archive, rename }),
    dependsOn: change.dependsOn,
  };
}

function flagImpactDocument(
  { environment: _, moves, ...impact }: FlagImpact,
  { showKeys }: JsonOptions,
): FlagImpactDocument {
  return {
    ...impact,
    moves: moves.map(({ names, ...move }) => ({ ...move, ...(showKeys && { names }) })),
  };
}

function outcomeMembers(
  outcome: Outcome | undefined,
  options: JsonOptions,
): Pick<ChangeDocument, 'outcome' | 'error' | 'request'> {
  if (!outcome) return {};
  if (outcome.status !== 'failed') {
    const request = outcome.status === 'skipped' ? outcome.request : undefined;
    return { outcome: outcome.status, ...present({ request: request && requestFacts(request) }) };
  }
  const { code, message, status, transactionId } = outcome.error;
  const refused = some(refusedIdentities(outcome.identities?.failed ?? [], options));
  const error = { code, message, status, transactionId, ...present({ refused }) };
  return { outcome: outcome.status, error };
}

function leftDocument({ id, action, fields, keys }: Change, options: JsonOptions): LeftDocument {
  return {
    id,
    action,
    fields: fields.map((field) => {
      const { path, before, after, keys: listed } = fieldDocument(field, options);
      return { path, ...present({ wanted: after, found: before, keys: listed }) };
    }),
    ...present({ keys: keyCounts(keys, options) }),
  };
}

function fieldDocument(
  { path, reason, ...field }: FieldChange,
  options: JsonOptions,
): FieldDocument {
  const shown = options.showKeys ? withSortedMembers : maskKeys;
  const value = (side: unknown): Json | undefined => (side === undefined ? undefined : shown(side));
  const [base, before, after] = [field.base, field.before, field.after].map(value);
  return {
    path,
    reason,
    ...present({ base, before, after, keys: keyCounts(field.keys, options) }),
  };
}

function keyCounts(keys: KeyChange | undefined, { showKeys }: JsonOptions): Keys | undefined {
  if (!keys) return undefined;
  const { added, removed, changed, sha256 } = keys;
  return {
    added: added.length,
    removed: removed.length,
    ...present({ changed: changed?.length }),
    sha256,
    ...(showKeys && {
      addedKeys: [...added],
      removedKeys: [...removed],
      ...(changed && { changedKeys: [...changed] }),
    }),
  };
}

const HASH = /^sha256:[0-9a-f]{64}$/;
const MAX_DEPTH = 64;

/**
 * The plans in the JSON of an earlier dry run: one document, or an array of them. @param text untrusted, of limited size.
 * @throws FlagkeelError `USAGE` if it is not such a file.
 */
export async function parseReviewedPlans(
  text: string,
  file: string,
): Promise<readonly PlanDocument[]> {
  const { plan } = await import('../../generated/plan-validator.js');
  const isPlan = plan as PlanValidator;
  return [parsed(text, file)].flat().map((document) => {
    if (!isPlan(document)) throw noPlan(file, faultOf(document, isPlan.errors?.[0]));
    return document;
  });
}

interface PlanValidator {
  (value: unknown): value is PlanDocument;
  readonly errors?: readonly Fault[] | null;
}

interface Fault {
  readonly instancePath: string;
  readonly params: { readonly missingProperty?: string };
}

function faultOf(document: unknown, fault: Fault | undefined): string {
  const { formatVersion } = { ...(document as { readonly formatVersion?: unknown } | null) };
  if (typeof formatVersion === 'number' && formatVersion > FORMAT_VERSION) {
    return `it has format ${formatVersion}, which a newer flagkeel wrote; this version reads ${FORMAT_VERSION}`;
  }
  const pointer = `${fault?.instancePath ?? ''}/${fault?.params.missingProperty ?? ''}`;
  const member = pointer.replace(/^\/|\/$/g, '');
  return member === '' ? 'it is no plan document' : `${JSON.stringify(member)} is absent or wrong`;
}

/** @throws FlagkeelError `USAGE` if the text is no hash of a plan. */
export function reviewedHash(hash: string): string {
  if (HASH.test(hash)) return hash;
  const why = 'it is not "sha256:" and 64 hex digits';
  throw new FlagkeelError('USAGE', `cannot compare with plan hash ${quoted(hash)}: ${why}`);
}

function parsed(text: string, file: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (isDeeperThan(value, MAX_DEPTH)) throw new Error('it is nested too deeply');
    return value;
  } catch (error) {
    throw noPlan(file, messageOf(error), error);
  }
}

function noPlan(file: string, why: string, cause?: unknown): FlagkeelError {
  const wayOut = 'make one with reconcile --dry-run --format json';
  const message = `cannot read ${quoted(file)} as a plan: ${why} (${wayOut})`;
  return new FlagkeelError('USAGE', message, { cause });
}
