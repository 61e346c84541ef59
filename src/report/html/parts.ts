import type { Definition, Rule } from '../../model/flag/flag.js';
import { html, type Html } from '../../platform/html.js';
import { clean } from '../sanitize.js';
import { plural } from '../values.js';
import { bucketsText, conditionText } from '../view/rule.js';
import { cut, type FieldLine, type Span } from '../text/layout.js';
import type { Row } from '../view/row.js';

export type Shares = Required<
  Pick<Definition, 'killed' | 'defaultTreatment' | 'trafficAllocation' | 'defaultRule'>
>;

export interface ShownDefinition extends Shares {
  readonly targets: number;
  readonly rules: readonly string[];
  /** Fields that people own: what is shown of them is what the creation sends. */
  readonly unmanaged?: readonly string[];
}

/** `in segment staff → on 50 %, off 50 %`; keys are counted. */
export function ruleTexts(rules: readonly Rule[]): string[] {
  return rules.map(({ matchers, buckets }) => {
    return `${conditionText(matchers, { showKeys: false })} → ${bucketsText(buckets)}`;
  });
}

export function definitionBlock(definition: ShownDefinition): Html {
  const { killed, defaultTreatment, trafficAllocation, targets, rules } = definition;
  const { unmanaged = [] } = definition;
  const lines = [
    ...(targets === 0 ? [] : [`${plural(targets, 'key')} by name`]),
    ...(trafficAllocation === 100 ? [] : [`traffic allocation ${String(trafficAllocation)} %`]),
    ...rules,
    ...(unmanaged.length === 0 ? [] : [`people own ${unmanaged.map(clean).join(', ')}`]),
  ];
  const rest = rules.length === 0 ? 'everybody' : 'others';
  const state = killed
    ? [
        html`<p class="killed">
          <span aria-hidden="true">⊘</span> killed: everybody gets ${clean(defaultTreatment)}
        </p>`,
      ]
    : [];
  return html`${state}${shareBar(definition)}
    <ul>
      ${lines.map((line) => html`<li>${line}</li>`)}
      <li>${rest} → ${shareTexts(definition)}</li>
    </ul>`;
}

const TONES = 5;

/** The default treatment is grey everywhere, whatever its place. */
function toneOf(treatment: string, { defaultRule, defaultTreatment }: Shares): string {
  if (treatment === defaultTreatment) return 'off';
  const others = defaultRule.filter((each) => each.treatment !== defaultTreatment);
  return `tone${String(others.findIndex((each) => each.treatment === treatment) % TONES)}`;
}

/** Pale if a kill keeps the shares from being served. Hidden from screen readers, because `shareTexts` says the same. */
export function shareBar(flag: Shares): Html {
  const { killed, defaultRule, trafficAllocation, defaultTreatment } = flag;
  let from = 0;
  const parts = defaultRule.flatMap(({ treatment, size }) => {
    const x = from;
    const width = (size * trafficAllocation) / 100;
    from += width;
    if (treatment === defaultTreatment || width === 0) return [];
    const at = html`x="${String(x)}" width="${String(width)}"`;
    return [html`<rect ${at} height="1" class="${toneOf(treatment, flag)}" />`];
  });
  const look = killed ? 'share unserved' : 'share';
  const box = html`viewBox="0 0 100 1" preserveAspectRatio="none"`;
  return html`<svg class="${look}" ${box} aria-hidden="true">${parts}</svg>`;
}

/** The shares in words, each with the colour that it has in the bar: `on 25 %, off 75 %`. */
export function shareTexts(flag: Shares): Html {
  if (flag.defaultRule.length === 0) return html`${bucketsText([])}`;
  const texts = flag.defaultRule.map((bucket, at) => {
    const comma = at === flag.defaultRule.length - 1 ? '' : ', ';
    // The style keeps the words of a part on one line.
    const words = bucketsText([bucket]).replaceAll('\u00a0', ' ');
    const tone = toneOf(bucket.treatment, flag);
    return html`<span class="part"><i class="key ${tone}" aria-hidden="true"></i>${words}</span
      >${comma}`;
  });
  return html`${texts}`;
}

/** The steps of a ramp as a staircase. Each has its share and its time in words, and a reached step is filled. */
export function rampSteps(
  label: string,
  steps: readonly { percent: number; words: string; isReached: boolean }[],
): Html {
  const items = steps.map(({ percent, words, isReached }) => {
    const height = String(percent);
    return html`<li>
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
        <rect
          x="0"
          y="${String(100 - percent)}"
          width="100"
          height="${height}"
          class="${isReached ? 'reached' : 'ahead'}"
        ></rect>
      </svg>
      <strong>${height} %</strong>
      <span class="soft">${clean(words)}</span>
    </li>`;
  });
  return html`<figure>
    <figcaption>${label}</figcaption>
    <ol class="ramp">
      ${items}
    </ol>
  </figure>`;
}

type Heads = readonly (string | Html)[];

export function tableOf(heads: Heads, rows: readonly Html[], attributes: Html = html``): Html {
  return html`<table ${attributes}>
    <thead>
      <tr>
        ${heads.map((head) => html`<th scope="col">${head}</th>`)}
      </tr>
    </thead>
    <tbody data-parts>
      ${rows}
    </tbody>
  </table>`;
}

/** More are laid out only when they come into sight. */
const MANY_ROWS = 100;

/** Objects by environment. */
export function matrixOf(heads: Heads, rows: readonly Html[], attributes?: Html): Html {
  const look = html`class="matrix ${rows.length > MANY_ROWS ? 'long' : ''}"`;
  return tableOf(heads, rows, html`${look} ${attributes ?? ''}`);
}

export function placeCell(environment: string, content: Html): Html {
  return html`<td data-place="${clean(environment)}">${content}</td>`;
}

const TEXT_COLUMNS = 400;
const HEADING_COLUMNS = 120;

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
