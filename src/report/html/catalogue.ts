import { grouped } from '../../model/collections.js';
import { html, type Html } from '../../platform/html.js';
import { documentOf, lookOf } from '../../platform/page.js';
import type { Rule } from '../../model/flag/flag.js';
import type { DesiredRamp, RampStep } from '../../model/flag/ramp.js';
import { clean } from '../sanitize.js';
import { mostProtectedFirst, type DesiredDefinition } from '../../model/desired.js';
import { plural } from '../values.js';
import {
  definitionBlock,
  matrixOf,
  placeCell,
  rampSteps,
  ruleTexts,
  type ShownDefinition,
} from './parts.js';

const LOOK = lookOf('report', { hasScript: true });

export interface Catalogue {
  readonly workspace: string;
  /** The commit of the specs; null if there is none, or if files on disk differ from it. */
  readonly commit: string | null;
  readonly environments: readonly string[];
  readonly protectedEnvironments: readonly string[];
  readonly flags: readonly CataloguedFlag[];
  readonly segments: readonly CataloguedSegment[];
}

export interface CataloguedFlag {
  readonly name: string;
  readonly file: string;
  readonly description?: string;
  readonly owner?: string;
  readonly expires?: string;
  /** Days of the first and the newest commit of its files; left out if there is none. */
  readonly addedOn?: string;
  readonly changedOn?: string;
  readonly tags: readonly string[];
  readonly uses: readonly CataloguedUse[];
  readonly environments: readonly CataloguedDefinition[];
}

export interface CataloguedUse {
  readonly kind: 'flag' | 'segment';
  readonly name: string;
  readonly environments: readonly string[];
}

interface CataloguedRamp extends Pick<DesiredRamp, 'treatment' | 'rule'> {
  /** The share from each step on, in whole per cent, and the time of the step in words. */
  readonly steps: readonly { readonly percent: number; readonly when: string }[];
}

/** Killed by the specs: `killed: true`, or an entry of the break-glass list. */
interface CataloguedDefinition extends Omit<ShownDefinition, 'rules'> {
  readonly environment: string;
  readonly rules: readonly Rule[];
  readonly ramps: readonly CataloguedRamp[];
}

export function cataloguedDefinition(
  environment: string,
  { creation, unmanaged, ramps = [] }: DesiredDefinition,
  isKillListed: boolean,
): CataloguedDefinition {
  const { defaultTreatment, trafficAllocation, rules, defaultRule } = creation;
  return {
    environment,
    killed: creation.killed || isKillListed,
    defaultTreatment,
    trafficAllocation,
    targets: Object.values(creation.targets).flat().length,
    rules,
    defaultRule,
    ramps: ramps.map(({ treatment, rule, steps }) => ({
      treatment,
      rule,
      steps: steps.map((step) => ({ percent: step.percent, when: whenText(step) })),
    })),
    ...(unmanaged && { unmanaged }),
  };
}

function whenText({ atMs, afterMs }: RampStep): string {
  if (atMs !== undefined)
    return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const unit = UNITS.find(({ ms }) => afterMs % ms === 0);
  if (afterMs === 0 || unit === undefined) return 'at once';
  return `after ${String(afterMs / unit.ms)} ${unit.word}`;
}

const UNITS = [
  { ms: 86_400_000, word: 'd' },
  { ms: 3_600_000, word: 'h' },
  { ms: 60_000, word: 'min' },
  { ms: 1, word: 'ms' },
];

export interface CataloguedSegment {
  readonly name: string;
  readonly file: string;
  /** Environment → number of keys; null if git does not hold the keys. */
  readonly environments: Readonly<Record<string, number | null>>;
}

/** Needs no server and loads nothing. Counts keys and never shows one. @param today UTC day. */
export function cataloguePage(catalogue: Catalogue, today: string): string {
  const { workspace, commit, flags, segments } = catalogue;
  const title = `Flags of ${clean(workspace)}`;
  const origin = commit === null ? 'the files on disk' : `commit ${commit.slice(0, 8)}`;
  const view = viewOf(catalogue, today);
  const flagRows = flags.map((flag) => flagRow(flag, view));
  const segmentRows = segments.map((segment) => segmentRow(segment, view));
  return documentOf(
    LOOK,
    title,
    html`<main>
      <h1>${title}</h1>
      <p>
        What the specs say, by ${origin}, on ${today}: ${plural(flags.length, 'flag')},
        ${plural(segments.length, 'segment')}.
      </p>
      ${filterBar(flags, today)}
      <ul class="legend soft" aria-label="Legend">
        <li><i class="key tone0" aria-hidden="true"></i>share of a treatment</li>
        <li><i class="key off" aria-hidden="true"></i>share of the default treatment</li>
        <li><strong class="killed">⊘</strong> killed: everybody gets the default treatment</li>
      </ul>
      ${sectionOf('Flag', view, flagRows)} ${sectionOf('Segment', view, segmentRows)}
    </main>`,
  );
}

interface View {
  /** The protected ones first, and within each group the one that is applied last. */
  readonly environments: readonly string[];
  readonly today: string;
  readonly users: ReadonlyMap<string, readonly Linked[]>;
  readonly anchors: ReadonlySet<string>;
}

function viewOf(catalogue: Catalogue, today: string): View {
  const { environments, protectedEnvironments, flags, segments } = catalogue;
  const uses = flags.flatMap(({ name, uses: used }) =>
    used.map((use) => ({ kind: 'flag' as const, name, anchor: anchorOf(use) })),
  );
  return {
    environments: mostProtectedFirst(
      environments.map((name) => ({ name, protected: protectedEnvironments.includes(name) })),
    ),
    today,
    users: grouped(uses, ({ anchor }) => anchor),
    anchors: new Set([
      ...flags.map(({ name }) => anchorOf({ kind: 'flag', name })),
      ...segments.map(({ name }) => anchorOf({ kind: 'segment', name })),
    ]),
  };
}

type Linked = Pick<CataloguedUse, 'kind' | 'name'> & Partial<CataloguedUse>;

function anchorOf({ kind, name }: Linked): string {
  return `${kind}/${clean(name)}`;
}

const SOON_DAYS = 30;

type Expiry = 'expired' | 'soon' | 'later' | 'never';

const EXPIRIES: Readonly<Record<Expiry, string>> = {
  expired: 'expired',
  soon: `within ${String(SOON_DAYS)} days`,
  later: 'later',
  never: 'no expiry',
};

function expiryOf({ expires }: CataloguedFlag, today: string): Expiry {
  if (expires === undefined) return 'never';
  if (expires < today) return 'expired';
  const soon = new Date(Date.parse(today) + SOON_DAYS * 86_400_000).toISOString();
  return expires <= soon.slice(0, 10) ? 'soon' : 'later';
}

function filterBar(flags: readonly CataloguedFlag[], today: string): Html {
  const owners = [...new Set(flags.flatMap(({ owner }) => owner ?? []))].sort();
  const found = new Set(flags.map((flag) => expiryOf(flag, today)));
  const expiries = Object.entries(EXPIRIES).filter(([each]) => found.has(each as Expiry));
  return html`<div class="filter" role="search">
    <label>Search <input name="search" type="search" autocomplete="off" /></label>
    <label
      >Owner
      <select name="owner">
        <option value="">all</option>
        ${owners.map((owner) => html`<option value="${clean(owner)}">${clean(owner)}</option>`)}
      </select></label
    >
    <label
      >Expiry
      <select name="expiry">
        <option value="">all</option>
        ${expiries.map(([each, words]) => html`<option value="${each}">${words}</option>`)}
      </select></label
    >
    <output class="soft"></output>
  </div>`;
}

function sectionOf(kind: string, { environments }: View, rows: readonly Html[]): Html {
  return html`<section class="sheet" aria-label="${kind}s">
    <h2>${kind}s</h2>
    ${matrixOf([kind, ...environments.map(clean)], rows)}
  </section>`;
}

function flagRow(flag: CataloguedFlag, view: View): Html {
  const { name, file, description = '', owner, expires, addedOn, changedOn, tags, uses } = flag;
  const expiry = expiryOf(flag, view.today);
  const facts = [
    owner === undefined ? 'no owner' : `owner ${owner}`,
    ...(expires === undefined || expiry === 'expired' ? [] : [`expires ${expires}`]),
    ...(addedOn === undefined ? [] : [`since ${addedOn}`]),
    ...(changedOn === undefined ? [] : [`changed ${changedOn}`]),
    ...tags.map((tag) => `#${tag}`),
  ];
  const cells = view.environments.map((environment) => {
    const found = flag.environments.find((each) => each.environment === environment);
    return placeCell(environment, found ? definitionOf(found) : html`not declared`);
  });
  const anchor = anchorOf({ kind: 'flag', name });
  return html`<tr id="${anchor}" data-owner="${clean(owner ?? '')}" data-expiry="${expiry}">
    <th scope="row">
      <strong>${clean(name)}</strong>
      <p>${clean(description)}</p>
      ${expiry === 'expired' ? html`<p class="wrong">expired ${clean(expires ?? '')}</p>` : []}
      <p class="soft">${clean(facts.join(' · '))}</p>
      ${linksTo('needs', uses, view)} ${linksTo('needed by', view.users.get(anchor) ?? [], view)}
      <p class="soft">${clean(file)}</p>
    </th>
    ${cells}
  </tr>`;
}

function definitionOf(definition: CataloguedDefinition): Html {
  const ramps = definition.ramps.map(({ treatment, rule, steps }) =>
    rampSteps(
      `Ramp of ${clean(treatment)}${rule === null ? '' : `, rule ${String(rule + 1)}`}`,
      steps.map(({ percent, when }) => ({ percent, words: when, isReached: false })),
    ),
  );
  const rules = ruleTexts(definition.rules);
  return html`${definitionBlock({ ...definition, rules })}${ramps}`;
}

function linksTo(word: string, uses: readonly Linked[], view: View): Html {
  if (uses.length === 0) return html``;
  const items = uses.map(({ kind, name, environments = [] }) => {
    const anchor = anchorOf({ kind, name });
    const words = `${kind} ${clean(name)}`;
    const link = view.anchors.has(anchor)
      ? html`<a href="#${encodeURI(anchor)}">${words}</a>`
      : words;
    const places = view.environments.filter((each) => environments.includes(each));
    const where = places.length === 0 ? '' : ` (${places.map(clean).join(', ')})`;
    return html`<li>${link}${where}</li>`;
  });
  return html`<ul class="uses">
    <li class="soft">${word}</li>
    ${items}
  </ul>`;
}

function segmentRow({ name, file, environments }: CataloguedSegment, view: View): Html {
  const cells = view.environments.map((environment) => {
    const count = environments[environment];
    const elsewhere = count === null ? 'keys elsewhere' : 'not declared';
    return placeCell(environment, html`${count == null ? elsewhere : plural(count, 'key')}`);
  });
  const anchor = anchorOf({ kind: 'segment', name });
  return html`<tr id="${anchor}">
    <th scope="row">
      <strong>${clean(name)}</strong>
      ${linksTo('needed by', view.users.get(anchor) ?? [], view)}
      <p class="soft">${clean(file)}</p>
    </th>
    ${cells}
  </tr>`;
}
