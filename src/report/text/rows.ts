import { clean } from '../sanitize.js';
import { itemText } from '../values.js';
import { countText, namesOf, type Fold } from '../view/plan-view.js';
import { freshWords } from '../view/fresh.js';
import type { Row } from '../view/row.js';
import { span, type Line, type Span } from './layout.js';

/** A headline and the lines below it. */
export function rowLines({
  mark,
  subject,
  deed,
  fact = '',
  reason = '',
  origin,
  lines,
}: Row): Line[] {
  const headline: Line = {
    indent: 2,
    spans: [
      span(`${mark.text} `, mark.tone),
      span(subject, 'strong'),
      span(` ${deed.text}`, deed.tone),
      ...(fact === '' ? [] : [span(':', deed.tone), span(` ${fact}`, 'strong')]),
      ...(reason === '' ? [] : [span(` · ${reason}`, 'change')]),
      ...originSpans(origin),
    ],
  };
  return [headline, ...lines.map((spans) => ({ indent: 6, spans }))];
}

/** A fold names this many objects and counts the others. */
const SHOWN_NAMES = 3;

/**
 * The lines of one object, or of several with equal changes.
 *
 * @param around.commit is printed above all objects, and not repeated here.
 * @param around.isWhole new objects have rows, and not one line.
 */
export function foldLines(
  fold: Fold,
  {
    commit = '',
    shownNames = SHOWN_NAMES,
    isWhole = false,
  }: { readonly commit?: string; readonly shownNames?: number; readonly isWhole?: boolean },
): Line[] {
  const { keys, rows } = fold;
  const [key = ''] = keys;
  const isShort = fold.fresh !== '' && !isWhole;
  // A line that stands for all rows has the place of the object itself, which is the last of them.
  const place = fold.place || (isShort ? (rows.at(-1)?.place ?? '') : '');
  const origin = [place, fold.commit === commit ? '' : fold.commit].filter((text) => text !== '');
  if (fold.members) return [folderLine(fold, shownNames)];
  if (isShort) return [freshLine(fold, origin), ...dangerLines(fold)];
  const more = keys.length > shownNames ? ' (--verbose lists them)' : '';
  const heading =
    keys.length === 1
      ? [span(clean(key), 'strong'), ...originSpans(origin)]
      : [span(countText(fold), 'strong'), span(`: ${itemText(namesOf(fold), shownNames)}${more}`)];
  return [{ indent: 0, spans: heading }, ...rows.flatMap(rowLines)];
}

/** `+ flag/search · new flag: production on 10 %, staging on 100 %`. */
function freshLine({ keys: [key = ''], kind, fresh, rows }: Fold, origin: readonly string[]): Line {
  const name = [span('+ ', 'add'), span(clean(key), 'strong')];
  const what = [span(` · ${freshWords(kind, rows)}`, 'add'), span(` ${fresh}`, 'strong')];
  return { indent: 0, spans: [...name, ...what, ...originSpans(origin)] };
}

/** `+ 7 new flags in flags/checkout: a, b, c, … 4 more · production 6, staging 7`. */
function folderLine(fold: Fold, shownNames: number): Line {
  const names = itemText(namesOf(fold), shownNames);
  const spans = [span('+ ', 'add'), span(countText(fold), 'strong'), span(`: ${names}`)];
  return { indent: 0, spans: [...spans, ...originSpans([fold.fresh])] };
}

/** What a reviewer should not overlook, if nothing else is shown of an object. */
function dangerLines({ rows }: Fold): Line[] {
  return rows
    .flatMap(({ lines }) => lines)
    .filter(([first]) => first?.tone === 'alarm')
    .map((spans) => ({ indent: 6, spans }));
}

function originSpans(origin: readonly string[]): Span[] {
  return origin.map((text) => span(` · ${text}`, 'faint'));
}
