import type { Action, Change, Reason, Withheld, WithheldWhy } from '../model/plan.js';
import type { Outcome } from '../model/run.js';
import { clean } from './clean.js';
import type { FieldContext, FieldLine } from './field-line.js';
import { fieldLines, sideWords } from './field-lines.js';
import { identityLines, stayingLines } from './identity-lines.js';
import { impactLines } from './impact-lines.js';
import { keysWords } from './key-lines.js';
import { span, type Line, type Span, type Tone } from './layout.js';
import { outcomeOf, type PlanReport } from './plan-report.js';
import { cut } from './text-width.js';
import { wholeLines } from './whole-lines.js';

const HEADLINE_INDENT = 2;
const FIELD_INDENT = 6;
/** Of the service's own message: enough for any that is meant to be read. */
const MESSAGE_COLUMNS = 400;
const SHORT_SHA = 7;

interface ActionWords {
  readonly symbol: string;
  readonly tone: Tone;
  readonly done: string;
}

const ACTIONS: Readonly<Record<Action, ActionWords>> = {
  create: { symbol: '+', tone: 'add', done: 'created' },
  activate: { symbol: '+', tone: 'add', done: 'activated' },
  update: { symbol: '~', tone: 'change', done: 'updated' },
  delete: { symbol: '-', tone: 'remove', done: 'deleted' },
  deactivate: { symbol: '-', tone: 'remove', done: 'deactivated' },
};

const REASON_WORDS: Readonly<Record<Exclude<Reason, 'commit'>, string>> = {
  kill: 'kill: ordered in git',
  restore: 'restore: the kill was taken back in git',
  conflict: 'conflict: changed in git and outside git',
  prune: 'prune: no longer in git',
  ramp: 'ramp: a planned step of the rollout',
  drift: 'drift: changed outside git',
  adopt: 'adopt: exists and was never ours',
  unknown: 'unknown: nothing is remembered that would tell why',
};

export const WHY_WORDS: Readonly<Record<WithheldWhy, string>> = {
  'prune-off': 'no longer in git, and pruning is off',
  'no-witness': 'no longer in git, but no ancestor of HEAD is seen to have declared it',
  'still-in-use': 'no longer in git, but still in use',
  'drift-reported': 'changed outside git, which is reported here and not reverted',
  'conflict-held': 'changed in git and outside git, which is held here',
  'adopt-needed': 'exists, differs, and was never ours',
  immutable: 'the service sets this at creation only',
  'live-kill': 'killed on the service, and git did not order it',
  'approval-needed': 'the service wants an approval first',
  suspended: 'the config says suspend: true',
  'needs-withheld': 'needs something that is withheld',
  'not-reviewed': 'not in the reviewed plan',
  'not-remembered': 'nothing is remembered that would tell whether it was written',
  'stays-on-service': 'no longer in git, and stays on the service',
};

/** Headline and fields of one change, in the tense of the report. */
export function changeLines(change: Change, report: PlanReport, showKeys: boolean): Line[] {
  const context = contextOf(change, report, showKeys);
  const outcome = outcomeOf(report, change.id);
  const lines =
    change.ref.kind === 'identities'
      ? identityLines(change, outcome, showKeys)
      : detailLines(change, context);
  const impact = report.impacts?.get(change.id);
  const reached = impact ? impactLines(change, impact, showKeys) : [];
  return [
    headline(change, report),
    ...[...lines, ...reached].map(fieldParagraph),
    ...renameLines(change),
  ];
}

/** The same of something that is held back, with why, and the way out. */
export function withheldLines(withheld: Withheld, report: PlanReport, showKeys: boolean): Line[] {
  const context = contextOf(withheld, report, showKeys);
  const lines = withheldDetails(withheld, context);
  return [
    {
      indent: HEADLINE_INDENT,
      spans: [
        span('! ', 'change'),
        span(clean(withheld.id), 'strong'),
        span(verdict(withheld)),
        ...placeSpans(withheld, report),
      ],
    },
    ...lines.map(fieldParagraph),
    ...renameLines(withheld),
    fieldParagraph([span(`→ ${cut(clean(withheld.wayOut), MESSAGE_COLUMNS)}`)]),
  ];
}

function withheldDetails(withheld: Withheld, context: FieldContext): FieldLine[] {
  if (withheld.why === 'stays-on-service') return stayingLines(withheld, context.showKeys);
  if (withheld.ref.kind !== 'identities') return detailLines(withheld, context);
  return identityLines(withheld, undefined, context.showKeys);
}

/** What is never deleted would not be deleted either, were it not held back. */
function verdict({ action, why }: Withheld): string {
  if (why === 'stays-on-service') return ` ${WHY_WORDS[why]}`;
  if (why === 'not-remembered') return ` would be written: ${WHY_WORDS[why]}`;
  return ` would be ${ACTIONS[action].done}: ${WHY_WORDS[why]}`;
}

/** The service knows no rename: whoever expects one learns here what it will be instead. */
function renameLines({ rename, ref }: Change): Line[] {
  if (!rename) return [];
  if ('to' in rename) {
    const text = `looks like a rename to ${clean(rename.to)}: this one stays until it is pruned`;
    return [fieldParagraph([span(text, 'faint')])];
  }
  const cost =
    ref.kind === 'flag'
      ? 'to the service another flag, so users are distributed anew'
      : 'to the service another segment, so rules have to name it';
  return [fieldParagraph([span(`looks like a rename of ${clean(rename.from)}: ${cost}`, 'faint')])];
}

function headline(change: Change, report: PlanReport): Line {
  const outcome = outcomeOf(report, change.id);
  const { symbol, tone } = markOf(change.action, outcome);
  const { kind, name } = change.ref;
  const reason = change.reason === 'commit' ? [] : [span(` · ${reasonWords(change)}`, 'change')];
  return {
    indent: HEADLINE_INDENT,
    spans: [
      span(`${symbol} `, tone),
      span(`${kind}/${clean(name)}`, 'strong'),
      span(` ${ending(change.action, outcome)}`, tone),
      ...reason,
      ...placeSpans(change, report),
    ],
  };
}

function reasonWords({ reason, ref }: Change): string {
  if (reason === 'commit') return '';
  const isAsked = ref.kind === 'identities' && reason === 'unknown';
  return isAsked ? 'unknown: --identities asks for all of them' : REASON_WORDS[reason];
}

function markOf(action: Action, outcome: Outcome | undefined): { symbol: string; tone: Tone } {
  if (outcome?.status === 'failed') return { symbol: '✗', tone: 'alarm' };
  if (outcome?.status === 'skipped') return { symbol: '○', tone: 'faint' };
  return ACTIONS[action];
}

/** What becomes, or became, of it. */
function ending(action: Action, outcome: Outcome | undefined): string {
  const { done } = ACTIONS[action];
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

/** Where the object stands and which commit brought the change. */
function placeSpans(change: Change, report: PlanReport): Span[] {
  const { location } = change;
  const commit = report.commits?.get(change.id)?.slice(0, SHORT_SHA);
  const title = report.words.get(change.id)?.title;
  const origin = [commit, title].filter((part) => part !== undefined).map(clean);
  return [
    ...(location ? [span(` · ${clean(location.file)}:${String(location.line)}`, 'faint')] : []),
    ...(origin.length > 0 ? [span(` · ${origin.join(' ')}`, 'faint')] : []),
  ];
}

function detailLines(change: Change, context: FieldContext): FieldLine[] {
  switch (change.action) {
    case 'create':
    case 'activate':
      return wholeLines(change, 'after', context);
    case 'delete':
    case 'deactivate':
      return wholeLines(change, 'before', context).map((line) => [span('had ', 'remove'), ...line]);
    case 'update': {
      const lines = change.fields.flatMap((field) => notedLines(field, change.reason, context));
      if (!change.keys) return lines;
      const keys = keysWords(change.keys, context.showKeys);
      return [...lines, [span(keys)]];
    }
  }
}

/** With the field's own reason where that is not the change's, and the base where both sides left it. */
function notedLines(
  field: Change['fields'][number],
  reason: Reason,
  context: FieldContext,
): readonly FieldLine[] {
  const lines = fieldLines(field, context);
  const base = field.reason === 'conflict' && field.base !== undefined && lines.length === 1;
  const notes = [
    ...(field.reason === reason ? [] : [field.reason]),
    ...(base ? [`base: ${sideWords(field.base, context)}`] : []),
  ];
  if (notes.length === 0) return lines;
  const note = span(` (${notes.join('; ')})`, 'faint');
  return lines.map((line, index) => (index === lines.length - 1 ? [...line, note] : line));
}

function fieldParagraph(spans: FieldLine): Line {
  return { indent: FIELD_INDENT, spans };
}

function contextOf(change: Change, report: PlanReport, showKeys: boolean): FieldContext {
  const ruleNames = report.ruleNames?.get(change.id);
  return ruleNames ? { showKeys, ruleNames } : { showKeys };
}
