import { html, type Html } from '../../platform/html.js';
import { cut, type FieldLine, type Span } from '../text/layout.js';
import type { Row } from '../view/row.js';

const TEXT_COLUMNS = 400;
const HEADING_COLUMNS = 120;

/** In the words of the text report; `subject` may be a link. */
export function rowHtml({ mark, deed, fact = '', reason = '', lines }: Row, subject: Html): Html {
  return html`<span aria-hidden="true">${spanHtml(mark)}</span>
    <strong>${subject}</strong>
    ${spanHtml(deed)}${fact === '' ? [] : html`: ${spanHtml({ text: fact, tone: 'strong' })}`}${
      reason === '' ? [] : html` · ${spanHtml({ text: reason, tone: 'change' })}`
    }
    ${lines.map((line) => html`<div>${lineHtml(line)}</div>`)}`;
}

export function lineHtml(line: FieldLine, columns = TEXT_COLUMNS): Html {
  return html`${line.map((each) => spanHtml(each, columns))}`;
}

/** Where the line is long, its beginning is the heading of a fold. */
export function foldedHtml(line: FieldLine): Html {
  const whole = lineHtml(line, Infinity);
  if (line.every(({ text }) => text === cut(text, TEXT_COLUMNS))) return whole;
  return html`<details>
    <summary>${lineHtml(line, HEADING_COLUMNS)}</summary>
    ${whole}
  </details>`;
}

/** Text of one tone. `bdi` keeps the direction of others' text from reaching beyond it. */
function spanHtml({ text, tone }: Span, columns = TEXT_COLUMNS): Html {
  const shown = cut(text, columns);
  return tone === 'plain' ? html`<bdi>${shown}</bdi>` : html`<bdi class="${tone}">${shown}</bdi>`;
}
