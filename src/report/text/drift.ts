import { present } from '../../model/collections.js';
import type { Change, FieldChange, KeyChange, NotCompared } from '../../model/plan.js';
import { clean } from '../sanitize.js';
import { fieldLines } from '../view/field.js';
import type { Row } from '../view/row.js';
import { notComparedTexts } from '../view/sentences.js';
import { asFarAsCompared } from '../view/verdict.js';
import { placeText, keysText, plural } from '../values.js';
import { paragraph, EMPTY_LINE, renderLines, span, type Layout } from './layout.js';
import { rowLines } from './plan.js';

interface DriftReport {
  readonly differences: readonly { readonly change: Change; readonly gone: boolean }[];
  /** Changes in git that the service does not have yet. */
  readonly pending: number;
  readonly unchanged: number;
  /** Objects with identities, which the service cannot show. */
  readonly unseen: number;
  readonly notCompared: readonly NotCompared[];
}

const WORDS: Readonly<Record<string, string>> = {
  drift: 'changed outside git',
  conflict: 'changed outside git, and in git too',
  adopt: 'differs, and no run remembers it here',
  unknown: 'differs, and nothing is remembered that would tell why',
};

/** The differences that the service has from git. Arrows lead from the value in git to the value on the service. */
export function driftText(
  { differences, pending, unchanged, unseen, notCompared }: DriftReport,
  { showKeys, ...layout }: Layout & { readonly showKeys: boolean },
): string {
  const lines = differences.flatMap((each) => rowLines(differenceRow(each, showKeys)));
  const [are, them] = pending === 1 ? ['is', 'it'] : ['are', 'them'];
  const git = `Not applied: ${plural(pending, 'change')} of git, which ${are} no drift (flagkeel plan shows ${them}).`;
  const unknown = `Of ${plural(unseen, 'object')} with identities nothing is known: the service cannot show them.`;
  const verdict =
    differences.length === 0
      ? `No drift${asFarAsCompared({ notCompared })}:`
      : `Drift: ${plural(differences.length, 'object')};`;
  return renderLines(
    [
      ...lines,
      ...(lines.length > 0 ? [EMPTY_LINE] : []),
      ...(pending > 0 ? [paragraph(git, 'strong')] : []),
      ...(unseen > 0 ? [paragraph(unknown, 'faint')] : []),
      ...notComparedTexts(notCompared).map((text) => paragraph(text, 'faint')),
      paragraph(`${verdict} ${plural(unchanged, 'object')} equal.`, 'strong'),
    ],
    layout,
  );
}

function differenceRow(
  { change, gone }: DriftReport['differences'][number],
  showKeys: boolean,
): Row {
  const { location, reason } = change;
  const isKill = change.fields.every(({ path }) => path === '/killed') && !change.keys;
  const words = isKill ? 'killed on the service, not ordered by git' : (WORDS[reason] ?? reason);
  const fields = change.fields.flatMap((field) => fieldLines(turned(field), { showKeys }));
  const keys = change.keys ? [[span(keysText(turnedKeys(change.keys), { showKeys }))]] : [];
  return {
    mark: gone ? span('-', 'remove') : span('~', 'change'),
    subject: clean(change.id),
    deed: span(gone ? 'gone from the service' : words),
    origin: location ? [placeText(location)] : [],
    lines: gone ? [] : [...fields, ...keys],
  };
}

/** Swaps both sides: plans lead from the service to git, and this report from git to the service. */
function turned({ path, reason, before, after, keys }: FieldChange): FieldChange {
  const sides = { before: after, after: before, keys: keys && turnedKeys(keys) };
  return { path, reason, ...present(sides) };
}

function turnedKeys({ added, removed, sha256 }: KeyChange): KeyChange {
  return { added: removed, removed: added, sha256 };
}
