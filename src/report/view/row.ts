import { requestText } from '../../model/change-request.js';
import type { Outcome } from '../../model/outcome.js';
import {
  type Action,
  type Change,
  type FieldChange,
  isKill,
  noteKey,
  type Reason,
  type Withheld,
} from '../../model/plan.js';
import { remedyOf } from '../../model/remedy.js';
import {
  ACTIONS,
  kindText,
  outcomeOf,
  phrasesOf,
  type PlanReport,
  REASON_WORDS,
  WHY_WORDS,
} from '../plan-report.js';
import { clean } from '../sanitize.js';
import { cut, type FieldLine, span, type Span, type Tone } from '../text/layout.js';
import { isRules, isTreatments, placeText, keysText, plural } from '../values.js';
import { contextOf, factText, identityLines, stayingLines } from './brief.js';
import { fieldLines, sideText, wholeLines } from './field.js';
import { impactLines } from './impact.js';
import { remedyText } from './verdict.js';
import type { FieldContext } from './rule.js';

const MESSAGE_COLUMNS = 400;

export interface Row {
  /** A symbol that says as much as its colour. */
  readonly mark: Span;
  readonly subject: string;
  readonly deed: Span;
  /** The size of the change in a few words; empty if that needs many words. */
  readonly fact?: string;
  readonly reason?: string;
  /** File and line of the spec, and the title of its writes, as far as they are known. */
  readonly origin: readonly string[];
  readonly lines: readonly FieldLine[];
}

export interface ChangeRow extends Row {
  readonly change: Change;
  readonly place: string;
  readonly title: string;
}

export function changeRow(change: Change, report: PlanReport, showKeys: boolean): ChangeRow {
  const outcome = outcomeOf(report, change.id);
  const impact = report.impacts?.get(change.id);
  const { symbol, tone } = markOf(change.action, outcome);
  const isFactShown = outcome === undefined || outcome.status === 'applied';
  return {
    ...originOf(change, report),
    change,
    mark: span(symbol, tone),
    subject: clean(change.id),
    deed: span(ending(change, outcome), tone),
    fact: isFactShown ? factText(change, report) : '',
    reason: reasonText(change),
    lines: [
      ...kindLines(change, outcome, { ...contextOf(change, report, { showKeys }), isFactShown }),
      ...(impact ? impactLines(change, impact, showKeys) : []),
      ...renameLines(change),
    ],
  };
}

export function withheldRow(withheld: Withheld, report: PlanReport, showKeys: boolean): ChangeRow {
  const context = { ...contextOf(withheld, report, { showKeys }), isFactShown: false };
  const { why, request } = withheld;
  const because = request?.mark && requestText(request, report.nowMs);
  const remedy = remedyText(remedyOf({ ...withheld, ...(because !== undefined && { because }) }));
  return {
    ...originOf(withheld, report),
    change: withheld,
    mark: span('!', 'change'),
    subject: clean(withheld.id),
    deed: span(withheldDeed(withheld)),
    lines: [
      ...(why === 'stays-on-service'
        ? stayingLines(withheld, showKeys)
        : kindLines(withheld, undefined, context)),
      ...renameLines(withheld),
      // All changes that a suspension holds have one common remedy, which is at the end of the report.
      ...(why === 'suspended' ? [] : [[span(`→ ${clean(remedy)}`)]]),
    ],
  };
}

function kindLines(
  change: Change,
  outcome: Outcome | undefined,
  context: DetailContext,
): FieldLine[] {
  return kindText(change.ref.kind).details === 'identities'
    ? identityLines(change, outcome, context)
    : detailLines(change, context);
}

function withheldDeed(withheld: Withheld): string {
  const { why } = withheld;
  if (why === 'stays-on-service') return WHY_WORDS[why];
  if (why === 'not-remembered') return `would be written: ${WHY_WORDS[why]}`;
  return `would be ${phrasesOf(withheld).done}: ${WHY_WORDS[why]}`;
}

function renameLines({ rename, ref }: Change): FieldLine[] {
  if (!rename) return [];
  const text =
    'to' in rename
      ? `looks like a rename to ${clean(rename.to)}: this one stays until it is pruned`
      : `looks like a rename of ${clean(rename.from)}: ${kindText(ref.kind).renameCost}`;
  return [[span(text, 'faint')]];
}

/** Identities cannot be read: for them `unknown` means that `--identities` asks for the write. */
function reasonText({ reason, ref }: Change): string {
  if (reason === 'commit') return '';
  return reason === 'unknown' ? kindText(ref.kind).unknown : REASON_WORDS[reason];
}

function markOf(action: Action, outcome: Outcome | undefined): { symbol: string; tone: Tone } {
  if (outcome?.status === 'failed') return { symbol: '✗', tone: 'alarm' };
  if (outcome?.status === 'skipped') return { symbol: '○', tone: 'faint' };
  return ACTIONS[action];
}

/** The operator of the service needs code, status and transaction of a failure for questions. */
function ending(change: Change, outcome: Outcome | undefined): string {
  const { done } = phrasesOf(change);
  if (!outcome) return `will be ${done}`;
  switch (outcome.status) {
    case 'applied':
      return done;
    case 'skipped': {
      const skipped = outcome.partly ? 'partly applied, the rest skipped' : 'skipped';
      return `${skipped}: ${cut(clean(outcome.why), MESSAGE_COLUMNS)}`;
    }
    case 'failed': {
      const { code, message, status, transactionId } = outcome.error;
      const facts = [
        clean(code),
        ...(status === null ? [] : [`status ${String(status)}`]),
        ...(transactionId === null ? [] : [`transaction ${cut(clean(transactionId), 80)}`]),
      ];
      const partly = outcome.partly ? 'partly applied, then failed' : 'failed';
      return `${partly}: ${cut(clean(message), MESSAGE_COLUMNS)} (${facts.join(', ')})`;
    }
  }
}

function originOf(
  change: Change | Withheld,
  report: PlanReport,
): Pick<ChangeRow, 'place' | 'title' | 'origin'> {
  const place = change.location ? placeText(change.location) : '';
  const title = clean(report.notes.get(noteKey(change))?.title ?? '');
  return { place, title, origin: [place, title].filter((text) => text !== '') };
}

/** With a fact in the headline, the lines leave out the numbers of keys. */
type DetailContext = FieldContext & { readonly isFactShown: boolean };

/** A deleted object has everything that it had, because nothing else will show that any more. */
function detailLines(change: Change, context: DetailContext): FieldLine[] {
  switch (change.action) {
    case 'create':
    case 'activate':
      return wholeLines(change, 'after', context);
    case 'delete':
    case 'deactivate':
      return wholeLines(change, 'before', context).map((line) => [span('had ', 'remove'), ...line]);
    case 'update': {
      const lines = change.fields.flatMap((field) => notedLines(field, change.reason, context));
      if (!change.keys || (context.isFactShown && !context.showKeys)) return lines;
      return [...lines, [span(keysText(change.keys, context))]];
    }
  }
}

/**
 * Adds the field's reason if it differs from the change's, the base if both sides changed the field, and that nothing
 * saw the old value of a kill.
 */
function notedLines(
  field: Change['fields'][number],
  reason: Reason,
  context: FieldContext,
): readonly FieldLine[] {
  const lines = fieldLines(field, context);
  const isConflict = field.reason === 'conflict' && field.base !== undefined;
  const hasItems = isRules(field.base) || isTreatments(field.base);
  const notes = [
    ...(field.reason === reason ? [] : [field.reason]),
    ...(isKill(field) && field.before === undefined ? [UNSEEN] : []),
    ...(isConflict && !hasItems ? [`base: ${sideText(field.base, context)}`] : []),
  ];
  const note = notes.length === 0 ? [] : [span(` (${notes.join('; ')})`, 'faint')];
  const noted = lines.map((line, at) => (at === lines.length - 1 ? [...line, ...note] : line));
  return isConflict && hasItems ? [...noted, ...outsideLines(field, context)] : noted;
}

/** What the service changed in a list since the base. The names of rules belong to those of git. */
function outsideLines({ base, before, ...field }: FieldChange, context: FieldContext): FieldLine[] {
  const { ruleNames: _, ...unnamed } = context;
  const lines = fieldLines({ ...field, before: base, after: before }, unnamed);
  return lines.map((line) => [span('outside git: ', 'faint'), ...line]);
}

const UNSEEN = 'sent without a look; it may have been killed before';

export const LEFT_TITLE = 'Left after the apply';

/** The wanted and the found state of a whole object; the lines of an update lead from what was found. */
const WHOLE: Readonly<Record<Action, string>> = {
  create: 'wanted, and not found',
  activate: 'wanted active, found inactive',
  update: 'found → wanted',
  delete: 'found, and not wanted',
  deactivate: 'wanted inactive, found active',
};

export function leftRow(change: Change, showKeys: boolean): Row {
  return {
    mark: span('!', 'alarm'),
    subject: clean(change.id),
    deed: span(WHOLE[change.action]),
    origin: [],
    lines: leftLines(change, { showKeys }),
  };
}

function leftLines({ ref, action, fields, keys }: Change, context: FieldContext): FieldLine[] {
  if (kindText(ref.kind).details === 'identities') {
    const count = (keys?.added.length ?? 0) + (keys?.changed?.length ?? 0);
    return [[span(`${plural(count, 'key')} wanted, and not taken by the service`)]];
  }
  const lines = action === 'update' ? fields.flatMap((field) => fieldLines(field, context)) : [];
  return keys ? [...lines, [span(keysText(keys, context))]] : lines;
}
