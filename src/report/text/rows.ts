import { clean } from '../sanitize.js';
import { itemText } from '../values.js';
import { countText, namesOf, type Fold } from '../view/plan-view.js';
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
 */
export function foldLines(
  fold: Fold,
  {
    commit = '',
    shownNames = SHOWN_NAMES,
  }: { readonly commit?: string; readonly shownNames?: number },
): Line[] {
  const { keys, rows, place } = fold;
  const [key = ''] = keys;
  const origin = [place, fold.commit === commit ? '' : fold.commit].filter((text) => text !== '');
  const more = keys.length > shownNames ? ' (--verbose lists them)' : '';
  const heading =
    keys.length === 1
      ? [span(clean(key), 'strong'), ...originSpans(origin)]
      : [span(countText(fold), 'strong'), span(`: ${itemText(namesOf(fold), shownNames)}${more}`)];
  return [{ indent: 0, spans: heading }, ...rows.flatMap(rowLines)];
}

function originSpans(origin: readonly string[]): Span[] {
  return origin.map((text) => span(` · ${text}`, 'faint'));
}
