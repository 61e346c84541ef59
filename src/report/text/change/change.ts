import {
  noteKey,
  type Action,
  type Change,
  type Reason,
  type Withheld,
  type WithheldWhy,
} from '../../../model/plan.js';
import type { Outcome } from '../../../model/outcome.js';
import { clean } from '../../sanitize.js';
import type { FieldContext, FieldLine } from './field-context.js';
import { factText } from './fact.js';
import { fieldLines, sideText } from './field.js';
import { identityLines, stayingLines } from '../identities.js';
import { impactLines } from '../impact.js';
import { KIND_TEXTS } from '../kinds.js';
import { keysText } from '../../masked-keys.js';
import { span, type Line, type Span, type Tone, cut } from '../layout.js';
import { outcomeOf, type PlanReport } from '../../plan-report.js';
import { wholeLines } from './change-whole.js';

const HEADLINE_INDENT = 2;
const FIELD_INDENT = 6;
/** Columns of the service's own message: enough for any that is meant to be read. */
const MESSAGE_COLUMNS = 400;
const SHORT_SHA = 7;

/** How an action is shown. The symbol says as much as the colour. */
interface ActionPhrases {
  readonly symbol: string;
  readonly tone: Tone;
  readonly done: string;
}

const ACTIONS: Readonly<Record<Action, ActionPhrases>> = {
  create: { symbol: '+', tone: 'add', done: 'created' },
  activate: { symbol: '+', tone: 'add', done: 'activated' },
  update: { symbol: '~', tone: 'change', done: 'updated' },
  delete: { symbol: '-', tone: 'remove', done: 'deleted' },
  deactivate: { symbol: '-', tone: 'remove', done: 'deactivated' },
};

function phrasesOf({ action, archive }: Pick<Change, 'action' | 'archive'>): ActionPhrases {
  return archive ? { ...ACTIONS[action], done: 'archived' } : ACTIONS[action];
}

/** Why a change is made. A commit is the usual reason, and is not said. */
const REASON_WORDS: Readonly<Record<Exclude<Reason, 'commit' | 'unknown'>, string>> = {
  kill: 'kill: ordered in git',
  restore: 'restore: the kill was taken back in git',
  conflict: 'conflict: changed in git and outside git',
  prune: 'prune: no longer in git',
  ramp: 'ramp: a planned step of the rollout',
  drift: 'drift: changed outside git',
  adopt: 'adopt: exists, and no run remembers it here',
};

/** Why a change is held back. */
export const WHY_WORDS: Readonly<Record<WithheldWhy, string>> = {
  'prune-off': 'no longer in git, and pruning is off',
  protected: 'no longer in git, and protected from deletion',
  'no-witness': 'no longer in git, but no ancestor of HEAD is seen to have declared it',
  'not-ours': 'no longer in git, and what has its name now was made by somebody else',
  'cooling-down': 'no longer in git, and to go after the cool-down',
  'still-in-use': 'no longer in git, but still in use',
  'drift-reported': 'changed outside git, which is reported here and not reverted',
  contested: 'corrected three times within an hour, and somebody else keeps writing it',
  'conflict-held': 'changed in git and outside git, which is held here',
  'adopt-needed': 'exists and differs, and no run remembers it here',
  immutable: 'the service sets this at creation only',
  'live-kill': 'killed on the service, and git did not order it',
  'approval-needed': 'the service wants an approval first',
  suspended: 'nothing is written while the run is suspended',
  'ramp-held': 'the share was changed on the service, and the ramp waits',
  'window-closed': 'changes go here at another time',
  'needs-withheld': 'needs something that is withheld',
  'not-reviewed': 'not in the reviewed plan',
  'not-remembered': 'nothing is remembered that would tell whether it was written',
  'stays-on-service': 'no longer in git, and stays on the service',
};

/** What the headline of a change is given by what stands around it. */
export interface Headline {
  /** What the change is about, cleaned. */
  readonly subject: string;
  /** What nothing above the headline says yet of where the change comes from, cleaned. */
  readonly origin: readonly string[];
}

/**
 * Headline and fields of one change, in the tense of the report: what will be done, or what was
 * done.
 *
 * @param head absent: the headline stands by itself, with the id of the change.
 */
export function changeLines(
  change: Change,
  report: PlanReport,
  showKeys: boolean,
  head: Headline = { subject: clean(change.id), origin: originTexts(change, report) },
): Line[] {
  const context = contextOf(change, report, showKeys);
  const outcome = outcomeOf(report, change.id);
  const lines = kindLines(change, outcome, context);
  const impact = report.impacts?.get(change.id);
  const reached = impact ? impactLines(change, impact, showKeys) : [];
  return [
    headline(change, report, head),
    ...[...lines, ...reached].map(fieldParagraph),
    ...renameLines(change),
  ];
}

/** Headline and fields of a change that is held back, with the reason and the way out. */
export function withheldLines(withheld: Withheld, report: PlanReport, showKeys: boolean): Line[] {
  const context = contextOf(withheld, report, showKeys);
  const lines = withheldDetails(withheld, context);
  return [
    {
      indent: HEADLINE_INDENT,
      spans: [
        span('! ', 'change'),
        span(clean(withheld.id), 'strong'),
        span(outcomeText(withheld)),
        ...originSpans(originTexts(withheld, report)),
      ],
    },
    ...lines.map(fieldParagraph),
    ...renameLines(withheld),
    ...wayOutLines(withheld),
  ];
}

/** A suspension has one way out for all that it holds back; the end of the report says it. */
function wayOutLines({ why, wayOut }: Withheld): Line[] {
  if (why === 'suspended') return [];
  return [fieldParagraph([span(`→ ${cut(clean(wayOut), MESSAGE_COLUMNS)}`)])];
}

/** The fields of a change that is held back. */
function withheldDetails(withheld: Withheld, context: FieldContext): FieldLine[] {
  if (withheld.why === 'stays-on-service') return stayingLines(withheld, context.showKeys);
  return kindLines(withheld, undefined, context);
}

function kindLines(
  change: Change,
  outcome: Outcome | undefined,
  context: FieldContext,
): FieldLine[] {
  switch (KIND_TEXTS[change.ref.kind].details) {
    case 'fields':
      return detailLines(change, outcome, context);
    case 'identities':
      return identityLines(change, outcome, context.showKeys);
  }
}

/**
 * What would happen if the change were not held back. Some objects are never deleted, so that
 * nothing would happen to them.
 */
function outcomeText(withheld: Withheld): string {
  const { why } = withheld;
  if (why === 'stays-on-service') return ` ${WHY_WORDS[why]}`;
  if (why === 'not-remembered') return ` would be written: ${WHY_WORDS[why]}`;
  return ` would be ${phrasesOf(withheld).done}: ${WHY_WORDS[why]}`;
}

/** The service has no renames: whoever expects one learns here what happens instead. */
function renameLines({ rename, ref }: Change): Line[] {
  if (!rename) return [];
  if ('to' in rename) {
    const text = `looks like a rename to ${clean(rename.to)}: this one stays until it is pruned`;
    return [fieldParagraph([span(text, 'faint')])];
  }
  const cost = KIND_TEXTS[ref.kind].renameCost;
  return [fieldParagraph([span(`looks like a rename of ${clean(rename.from)}: ${cost}`, 'faint')])];
}

/** Mark, subject, what becomes of it and by how much, why, and where it comes from. */
function headline(change: Change, report: PlanReport, { subject, origin }: Headline): Line {
  const outcome = outcomeOf(report, change.id);
  const { symbol, tone } = markOf(change.action, outcome);
  const fact = hasFact(change, outcome) ? factText(change, report) : '';
  const reason = change.reason === 'commit' ? [] : [span(` · ${reasonText(change)}`, 'change')];
  return {
    indent: HEADLINE_INDENT,
    spans: [
      span(`${symbol} `, tone),
      span(subject, 'strong'),
      span(` ${ending(change, outcome)}`, tone),
      ...(fact === '' ? [] : [span(':', tone), span(` ${fact}`, 'strong')]),
      ...reason,
      ...originSpans(origin),
    ],
  };
}

/**
 * The reason in words. Identities cannot be read, so for them `unknown` is what `--identities` asks
 * for.
 */
function reasonText({ reason, ref }: Change): string {
  if (reason === 'commit') return '';
  return reason === 'unknown' ? KIND_TEXTS[ref.kind].unknown : REASON_WORDS[reason];
}

/** The mark of a change: that of its action, or of how it ended where it was not applied. */
function markOf(action: Action, outcome: Outcome | undefined): { symbol: string; tone: Tone } {
  if (outcome?.status === 'failed') return { symbol: '✗', tone: 'alarm' };
  if (outcome?.status === 'skipped') return { symbol: '○', tone: 'faint' };
  return ACTIONS[action];
}

/**
 * What will be done, or how the change ended. A failure names code, status and transaction, by
 * which it can be asked about.
 */
function ending(change: Change, outcome: Outcome | undefined): string {
  const { done } = phrasesOf(change);
  if (!outcome) return `will be ${done}`;
  switch (outcome.status) {
    case 'applied':
      return done;
    case 'skipped':
      return `skipped: ${cut(clean(outcome.why), MESSAGE_COLUMNS)}`;
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

/** Where the object is declared, and the commit that brought the change; cleaned. */
function originTexts(change: Change | Withheld, report: PlanReport): string[] {
  return [placeText(change), commitText(change, report)].filter((text) => text !== '');
}

/** File and line of the spec, cleaned; empty where the object no longer stands in the specs. */
export function placeText({ location }: Change): string {
  return location ? `${clean(location.file)}:${String(location.line)}` : '';
}

/** The newest commit behind a change and the title of its writes, cleaned; empty where neither is known. */
export function commitText(change: Change | Withheld, report: PlanReport): string {
  const commit = report.commits?.get(change.id)?.slice(0, SHORT_SHA);
  const title = report.notes.get(noteKey(change))?.title;
  return [commit, title]
    .filter((part) => part !== undefined)
    .map(clean)
    .join(' ');
}

export function originSpans(origin: readonly string[]): Span[] {
  return origin.map((text) => span(` · ${text}`, 'faint'));
}

/** Whether the headline says by how much; the words of a failure, or why a change is held back, stand in its place. */
function hasFact(change: Change | Withheld, outcome: Outcome | undefined): boolean {
  return !('why' in change) && (outcome === undefined || outcome.status === 'applied');
}

/**
 * What differs. An object that is deleted is shown with all it had, since nothing else shows that
 * any more.
 */
function detailLines(
  change: Change,
  outcome: Outcome | undefined,
  context: FieldContext,
): FieldLine[] {
  switch (change.action) {
    case 'create':
    case 'activate':
      return wholeLines(change, 'after', context);
    case 'delete':
    case 'deactivate':
      return wholeLines(change, 'before', context).map((line) => [span('had ', 'remove'), ...line]);
    case 'update': {
      const lines = change.fields.flatMap((field) => notedLines(field, change.reason, context));
      if (!change.keys || (hasFact(change, outcome) && !context.showKeys)) return lines;
      return [...lines, [span(keysText(change.keys, context.showKeys))]];
    }
  }
}

/**
 * The lines of a field, with the field's reason where that is not the change's, and with the base
 * where both sides changed it.
 */
function notedLines(
  field: Change['fields'][number],
  reason: Reason,
  context: FieldContext,
): readonly FieldLine[] {
  const lines = fieldLines(field, context);
  const base = field.reason === 'conflict' && field.base !== undefined && lines.length === 1;
  const notes = [
    ...(field.reason === reason ? [] : [field.reason]),
    ...(base ? [`base: ${sideText(field.base, context)}`] : []),
  ];
  if (notes.length === 0) return lines;
  const note = span(` (${notes.join('; ')})`, 'faint');
  return lines.map((line, index) => (index === lines.length - 1 ? [...line, note] : line));
}

function fieldParagraph(spans: FieldLine): Line {
  return { indent: FIELD_INDENT, spans };
}

/** What the lines about the fields of a change need to know. */
export function contextOf(change: Change, report: PlanReport, showKeys: boolean): FieldContext {
  const ruleNames = report.ruleNames?.get(change.id);
  return ruleNames ? { showKeys, ruleNames } : { showKeys };
}
