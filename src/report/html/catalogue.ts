import { html, type Html } from '../../platform/html.js';
import { documentOf, lookOf } from '../../platform/page.js';
import type { Bucket, Rule } from '../../model/flag/flag.js';
import { clean } from '../sanitize.js';
import { plural } from '../values.js';
import { definitionBlock, ruleTexts } from './definition.js';

const LOOK = lookOf('report', { hasScript: true });

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
  return documentOf(
    LOOK,
    title,
    html`<main>
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
    </main>`,
  );
}

/** @param kind of the objects in the rows, in the singular. */
function tableOf(kind: string, environments: readonly string[], rows: readonly Html[]): Html {
  return html`<div class="wide" role="region" aria-label="${kind}s" tabindex="0">
    <table>
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
    </table>
  </div>`;
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
      <p class="soft">${clean(facts.join(' · '))}</p>
      <p class="soft">${clean(file)}</p>
    </th>
    ${cells}
  </tr>`;
}

function definitionCell(definition: CataloguedDefinition): Html {
  return html`<td>${definitionBlock({ ...definition, rules: ruleTexts(definition.rules) })}</td>`;
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
      <p class="soft">${clean(segment.file)}</p>
    </th>
    ${cells}
  </tr>`;
}
