import type { WireDefinition, WireMatcher, WireRule, WireTreatment } from '../../admin-api/wire.js';
import type { Definition } from '../../model/flag/flag.js';
import { definitionFromWire } from '../../model/flag/wire.js';
import { sortedSet } from '../../model/json.js';
import { operandOfType } from '../../model/matcher/matchers.js';
import { Conversion, jsonOrText, notOfTool, type ConvertSource } from './source.js';
import { isRecord, listIn, numberIn, recordsIn, resourcesIn, textIn } from './terraform-json.js';
import type { Members, Resource } from './terraform-json.js';

/**
 * Converts a Terraform state with resources of the providers of Split (`split_*`) and Harness (`harness_fme_*`): the
 * state file, or the output of `terraform show -json`. Skips resources of other kinds silently.
 */
export const convertTerraformState: ConvertSource = ({ path, text }, { trafficType }) => {
  const document = jsonOrText(text);
  const resources = isRecord(document) ? resourcesIn(document) : undefined;
  if (!resources) {
    throw notOfTool(
      path,
      'it is neither a state of Terraform nor the output of terraform show -json',
    );
  }
  const conversion = new Conversion();
  const state: State = { conversion, resources, trafficType };
  const readers = Object.entries(READERS);
  // Reads by type, because a definition may stand before the flag and environment that it names.
  for (const [suffix, read] of readers) {
    for (const each of resources) if (suffixOf(each) === suffix) read(each, state);
  }
  for (const each of resources) {
    const suffix = suffixOf(each);
    const isRead = suffix === undefined || suffix in READERS || SAID_ELSEWHERE.has(suffix);
    if (!isRead && each.isManaged) conversion.depart(each.address, 'is not carried over');
  }
  const workspace = resources.find((each) => suffixOf(each) === 'workspace');
  return conversion.result(textIn(workspace?.values, 'name') || undefined);
};

interface State {
  readonly conversion: Conversion;
  readonly resources: readonly Resource[];
  readonly trafficType: string;
}

/** The type of a resource without its provider; undefined for another provider. */
function suffixOf({ type }: Resource): string | undefined {
  return /^(?:split|harness_fme)_(.+)$/.exec(type)?.[1];
}

/** Types that are only named by other resources, and give no object themselves. */
const SAID_ELSEWHERE = new Set(['workspace', 'traffic_type']);

/** Readers of each type, in the order of reading. */
const READERS: Readonly<Record<string, (resource: Resource, state: State) => void>> = {
  environment: ({ values }, { conversion }) => {
    const name = textIn(values, 'name');
    if (name !== '') conversion.addEnvironment(name, values['production'] === true);
  },
  split: readFlag,
  feature_flag: readFlag,
  split_definition: readDefinition,
  feature_flag_definition: readDefinition,
  segment: readSegment,
  segment_environment_association: (resource, state) => {
    readActivation(resource, state, null);
  },
  environment_segment_keys: (resource, state) => {
    const keys = listIn(resource.values, 'keys').filter((key) => typeof key === 'string');
    readActivation(resource, state, sortedSet(keys));
  },
};

function readFlag({ address, values }: Resource, state: State): void {
  const tags = listIn(values, 'tags').filter((tag) => typeof tag === 'string');
  state.conversion.flag({
    name: textIn(values, 'name'),
    trafficType: trafficTypeOf(address, values, state),
    fields: { description: textIn(values, 'description'), tags: sortedSet(tags) },
  });
}

function readSegment({ address, values }: Resource, state: State): void {
  state.conversion.segment({
    name: textIn(values, 'name'),
    trafficType: trafficTypeOf(address, values, state),
    description: textIn(values, 'description'),
  });
}

function trafficTypeOf(address: string, values: Members, state: State): string {
  const id = textIn(values, 'traffic_type_id');
  const found = nameOf(state, 'traffic_type', id);
  if (found !== undefined) return found;
  const what = `traffic type ${id} has no name in this state; "${state.trafficType}" is written`;
  state.conversion.depart(address, what);
  return state.trafficType;
}

/** The name of the object with an id, from resources and data sources. */
function nameOf({ resources }: State, suffix: string, id: string): string | undefined {
  const found = resources.find(
    (each) => suffixOf(each) === suffix && textIn(each.values, 'id') === id,
  );
  return textIn(found?.values, 'name') || undefined;
}

/** The environment's name if the state has it; otherwise its id, which works as well. */
function environmentOf({ values }: Resource, state: State): string {
  const id = textIn(values, 'environment_id');
  const name = nameOf(state, 'environment', id) ?? id;
  state.conversion.addEnvironment(name);
  return name;
}

function readActivation(resource: Resource, state: State, keys: readonly string[] | null): void {
  const name = textIn(resource.values, 'segment_name');
  const { conversion, trafficType } = state;
  if (!conversion.hasSegment(name)) {
    conversion.depart(resource.address, `segment "${name}" itself is not in this state`);
  }
  const segment = conversion.segment({ name, trafficType, description: '' });
  segment.environments.set(environmentOf(resource, state), keys);
}

function readDefinition(resource: Resource, state: State): void {
  const { address, values } = resource;
  const { conversion, trafficType } = state;
  const name = textIn(values, 'split_name') || textIn(values, 'flag_name');
  const environment = environmentOf(resource, state);
  const payload = values['definition'];
  const written = typeof payload === 'string' ? jsonOrText(payload) : undefined;
  const definition = isRecord(written)
    ? fromPayload(written, resource, conversion)
    : fromBlocks(resource, conversion);
  if (definition === undefined) {
    conversion.depart(address, 'the definition has no treatments and is left out');
    return;
  }
  if (!conversion.hasFlag(name)) {
    conversion.depart(address, `flag "${name}" itself is not in this state`);
  }
  conversion.flag({ name, trafficType, fields: {} }).environments.set(environment, definition);
}

/** The blocks of `split_split_definition`. */
function fromBlocks(
  { address, values }: Resource,
  conversion: Conversion,
): Required<Definition> | undefined {
  const fallback = textIn(values, 'default_treatment');
  const sizes = { address, fallback, conversion };
  return wholeDefinition(
    {
      treatments: recordsIn(values, 'treatment'),
      defaultTreatment: fallback,
      baselineTreatment: textIn(values, 'baseline_treatment') || fallback,
      trafficAllocation: allocationOf(values),
      killed: values['killed'] === true,
      rules: recordsIn(values, 'rule').flatMap((rule) => rulesOf(rule, sizes)),
      defaultRule: bucketsOf(values, 'default_rule', sizes),
    },
    { address, conversion },
  );
}

/** One rule, or one per matcher if any of them suffices. */
function rulesOf(rule: Members, sizes: Sizes): WireRule[] {
  const [condition] = recordsIn(rule, 'condition');
  const matchers = recordsIn(condition, 'matcher').map(matcherOf);
  const buckets = bucketsOf(rule, 'bucket', sizes);
  const isAny = textIn(condition, 'combiner') === 'OR';
  const groups = isAny ? matchers.map((matcher) => [matcher]) : [matchers];
  return groups.map((each) => ({ buckets, condition: { matchers: each } }));
}

/** The provider stores 0 if the value is not set. */
function allocationOf(values: Members): number {
  const allocation = numberIn(values, 'traffic_allocation');
  return allocation === undefined || allocation === 0 ? 100 : allocation;
}

/** The JSON of `harness_fme_feature_flag_definition`: the body of a definition. */
function fromPayload(
  body: Members,
  { address }: Resource,
  conversion: Conversion,
): Required<Definition> | undefined {
  const fallback = textIn(body, 'defaultTreatment');
  for (const name of Object.keys(body)) {
    if (!KNOWN_IN_PAYLOAD.has(name)) conversion.depart(address, `"${name}" is not carried over`);
  }
  const sizes = { address, fallback, conversion };
  return wholeDefinition(
    {
      treatments: recordsIn(body, 'treatments'),
      defaultTreatment: fallback,
      baselineTreatment: textIn(body, 'baselineTreatment') || fallback,
      trafficAllocation: numberIn(body, 'trafficAllocation') ?? 100,
      killed: body['killed'] === true,
      rules: recordsIn(body, 'rules').map((rule) => ({
        buckets: bucketsOf(rule, 'buckets', sizes),
        condition: { matchers: matchersIn(rule['condition']) },
      })),
      defaultRule: bucketsOf(body, 'defaultRule', sizes),
    },
    { address, conversion },
  );
}

function matchersIn(condition: unknown): WireMatcher[] {
  return isRecord(condition) ? recordsIn(condition, 'matchers').map(matcherOf) : [];
}

/** Members of a definition that are converted, or that only the service sets. */
const KNOWN_IN_PAYLOAD = new Set(
  (
    'treatments defaultTreatment baselineTreatment trafficAllocation killed rules defaultRule id name environment ' +
    'trafficType creationTime lastUpdateTime title comment'
  ).split(' '),
);

/** Parts common to both forms of a definition; treatments as in the state. */
interface Parts extends Omit<WireDefinition, keyof typeof UNSAID | 'treatments'> {
  readonly treatments: readonly Members[];
}

/** Members of the service's definition that specs do not have. */
const UNSAID = {
  id: '',
  name: '',
  environment: { id: '', name: '' },
  trafficType: { id: '', name: '' },
  creationTime: 0,
  lastUpdateTime: 0,
} as const;

function wholeDefinition(
  parts: Parts,
  { address, conversion }: { readonly address: string; readonly conversion: Conversion },
): Required<Definition> | undefined {
  if (parts.treatments.length === 0) return undefined;
  if (parts.treatments.some((each) => listIn(each, 'segments').length > 0)) {
    conversion.depart(address, 'segments that a treatment targets whole cannot be said in specs');
  }
  return definitionFromWire({
    ...UNSAID,
    ...parts,
    treatments: parts.treatments.map(treatmentOf),
  });
}

function treatmentOf(treatment: Members): WireTreatment {
  const configurations = textIn(treatment, 'configurations');
  return {
    name: textIn(treatment, 'name'),
    description: textIn(treatment, 'description'),
    ...(configurations !== '' && { configurations }),
    keys: listIn(treatment, 'keys').filter((key) => typeof key === 'string'),
  };
}

/** The state has all members of a block, even zeros and empty ones: only the operand of the matcher's type counts. */
function matcherOf(matcher: Members): WireMatcher {
  const type = textIn(matcher, 'type');
  const operand = operandOfType(type);
  const members = Object.entries(matcher).flatMap(([name, value]): [string, unknown][] => {
    const isMeant = operand === undefined || ['attribute', 'negate', operand].includes(name);
    if (name === 'type' || !isMeant) return [];
    // A nested block is a list of one.
    const [only] = Array.isArray(value) ? (value as unknown[]) : [];
    return [[name, isRecord(only) ? renamed(only) : value]];
  });
  return { ...Object.fromEntries(members), type };
}

function renamed(block: Members): Members {
  const { split_name: splitName, ...others } = block;
  return splitName === undefined ? block : { ...others, splitName };
}

interface Sizes {
  readonly address: string;
  /** The default treatment. */
  readonly fallback: string;
  readonly conversion: Conversion;
}

/** Gives the rest up to 100 to the default treatment, which is served wherever nothing else is. */
function bucketsOf(
  holder: Members,
  name: string,
  { address, fallback, conversion }: Sizes,
): { treatment: string; size: number }[] {
  const buckets = recordsIn(holder, name).map((bucket) => ({
    treatment: textIn(bucket, 'treatment'),
    size: numberIn(bucket, 'size') ?? 0,
  }));
  const rest = 100 - buckets.reduce((sum, { size }) => sum + size, 0);
  if (rest <= 0) return buckets;
  conversion.depart(address, `sizes sum to ${100 - rest}; "${fallback}" gets the rest`);
  const own = buckets.find(({ treatment }) => treatment === fallback);
  if (own) own.size += rest;
  else buckets.push({ treatment: fallback, size: rest });
  return buckets;
}
