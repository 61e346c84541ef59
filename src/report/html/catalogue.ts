import { html, htmlOf, type Html } from '../../platform/html.js';
import type { Bucket, Rule } from '../../model/flag/flag.js';
import { clean } from '../sanitize.js';
import { bucketsText } from '../view/buckets.js';
import { conditionText } from '../view/matcher.js';
import { plural } from '../values.js';

/** The flags and segments of the specs, for people who look something up. */
export interface Catalogue {
  readonly workspace: string;
  /** The commit of the specs; null if there is none, or if files on disk differ from it. */
  readonly commit: string | null;
  /** In the order in which changes are applied. */
  readonly environments: readonly string[];
  /** Sorted by name, like the segments. */
  readonly flags: readonly CataloguedFlag[];
  readonly segments: readonly CataloguedSegment[];
}

export interface CataloguedFlag {
  readonly name: string;
  readonly file: string;
  readonly description?: string;
  readonly owner?: string;
  /** Day, `YYYY-MM-DD`. */
  readonly expires?: string;
  /** Days of the first and the newest commit of its files; left out if there is none. */
  readonly addedOn?: string;
  readonly changedOn?: string;
  readonly tags: readonly string[];
  /** The environments that the flag is declared for. */
  readonly environments: readonly CataloguedDefinition[];
}

export interface CataloguedDefinition {
  readonly environment: string;
  /** Killed by the specs: `killed: true`, or an entry of the break-glass list. */
  readonly killed: boolean;
  readonly defaultTreatment: string;
  /** In whole per cent. */
  readonly trafficAllocation: number;
  /** Number of keys that are targeted one by one. */
  readonly targets: number;
  readonly rules: readonly Rule[];
  /** Serves the users for whom no rule matches. */
  readonly defaultRule: readonly Bucket[];
}

export interface CataloguedSegment {
  readonly name: string;
  readonly file: string;
  /** Environment → number of keys; null if git does not hold the keys. */
  readonly environments: Readonly<Record<string, number | null>>;
}

/**
 * A page that needs no server and loads nothing: it contains its style and its script. Texts of the specs are escaped;
 * keys are counted and never shown.
 *
 * @param today UTC day; earlier expiry dates are marked.
 */
export function cataloguePage(catalogue: Catalogue, today: string): string {
  const { workspace, commit, environments, flags, segments } = catalogue;
  const title = `Flags of ${clean(workspace)}`;
  const origin = commit === null ? 'the files on disk' : `commit ${commit.slice(0, 8)}`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${htmlOf(`<style>${STYLE}</style>`)}
      </head>
      <body>
        <h1>${title}</h1>
        <p>
          What the specs say, by ${origin}, on ${today}: ${plural(flags.length, 'flag')},
          ${plural(segments.length, 'segment')}.
        </p>
        <label>Search <input id="search" type="search" autocomplete="off" /></label>
        ${tableOf(
          'Flag',
          environments,
          flags.map((flag) => flagRow(flag, environments, today)),
        )}
        ${tableOf(
          'Segment',
          environments,
          segments.map((segment) => segmentRow(segment, environments)),
        )}
        ${htmlOf(`<script>${SCRIPT}</script>`)}
      </body>
    </html> `.text;
}

/** @param kind of the objects in the rows, in the singular. */
function tableOf(kind: string, environments: readonly string[], rows: readonly Html[]): Html {
  return html`<table>
    <caption>
      ${kind}s
    </caption>
    <thead>
      <tr>
        <th scope="col">${kind}</th>
        ${environments.map((each) => html`<th scope="col">${clean(each)}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

function flagRow(flag: CataloguedFlag, environments: readonly string[], today: string): Html {
  const { name, file, description = '', owner, expires, addedOn, changedOn, tags } = flag;
  const isExpired = expires !== undefined && expires < today;
  const facts = [
    owner === undefined ? 'no owner' : `owner ${owner}`,
    ...(expires === undefined ? [] : [`${isExpired ? 'expired' : 'expires'} ${expires}`]),
    ...(addedOn === undefined ? [] : [`since ${addedOn}`]),
    ...(changedOn === undefined ? [] : [`changed ${changedOn}`]),
    ...tags.map((tag) => `#${tag}`),
  ];
  const cells = environments.map((environment) => {
    const found = flag.environments.find((each) => each.environment === environment);
    return found ? definitionCell(found) : html`<td>not declared</td>`;
  });
  return html`<tr>
    <th scope="row">
      ${clean(name)}
      <p>${clean(description)}</p>
      <p class="facts">${clean(facts.join(' · '))}</p>
      <p class="facts">${clean(file)}</p>
    </th>
    ${cells}
  </tr>`;
}

function definitionCell(definition: CataloguedDefinition): Html {
  return html`<td>${definitionBlock(definition)}</td>`;
}

/**
 * The effect of a flag in one environment: the shares as a bar, and the rules in words. Keys are counted and never
 * shown.
 */
export function definitionBlock(definition: Omit<CataloguedDefinition, 'environment'>): Html {
  const { killed, defaultTreatment, trafficAllocation, targets, rules, defaultRule } = definition;
  const lines = [
    ...(targets === 0 ? [] : [`${plural(targets, 'key')} by name`]),
    ...(trafficAllocation === 100 ? [] : [`traffic allocation ${String(trafficAllocation)} %`]),
    ...rules.map(
      ({ matchers, buckets }) =>
        `${conditionText(matchers, { showKeys: false })} → ${bucketsText(buckets)}`,
    ),
    `${rules.length === 0 ? 'everybody' : 'others'} → ${bucketsText(defaultRule)}`,
  ];
  const state = killed
    ? [html`<p class="killed">killed: everybody gets ${clean(defaultTreatment)}</p>`]
    : [];
  return html`${state}${barOf(defaultRule)}
    <ul>
      ${lines.map((line) => html`<li>${line}</li>`)}
    </ul>`;
}

/** Shares of the default rule, side by side. The words below repeat them. */
function barOf(buckets: readonly Bucket[]): Html {
  let from = 0;
  const parts = buckets.map(({ size }, at) => {
    const part = html`<rect
      x="${String(from)}"
      y="0"
      width="${String(size)}"
      height="8"
      class="share${String(at % 4)}"
    ></rect>`;
    from += size;
    return part;
  });
  return html`<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    ${parts}
  </svg>`;
}

function segmentRow(segment: CataloguedSegment, environments: readonly string[]): Html {
  const cells = environments.map((environment) => {
    const count = segment.environments[environment];
    const text =
      count === undefined
        ? 'not declared'
        : count === null
          ? 'keys elsewhere'
          : plural(count, 'key');
    return html`<td>${text}</td>`;
  });
  return html`<tr>
    <th scope="row">
      ${clean(segment.name)}
      <p class="facts">${clean(segment.file)}</p>
    </th>
    ${cells}
  </tr>`;
}

const STYLE = `:root{color-scheme:light dark;font:16px/1.4 system-ui,sans-serif}
table{border-collapse:collapse;margin:1rem 0;width:100%}caption{text-align:left;font-weight:bold}
th,td{border:1px solid;padding:.4rem;text-align:left;vertical-align:top}th p{font-weight:normal;margin:0}
.facts{font-size:.85rem}.killed{font-weight:bold;margin:0}svg{width:100%;height:.6rem}ul{margin:0;padding-left:1rem}
.share0{fill:#2563eb}.share1{fill:#9ca3af}.share2{fill:#d97706}.share3{fill:#059669}`;

const SCRIPT = `const search=document.getElementById('search');
search.addEventListener('input',()=>{const words=search.value.toLowerCase().split(/\\s+/);
for(const row of document.querySelectorAll('tbody tr')){const text=row.textContent.toLowerCase();
row.hidden=!words.every((word)=>text.includes(word));}});`;
