import type { WireDefinition, WireMatcher, WireTreatment } from '../../admin-api/wire.js';
import { grouped } from '../../model/collections.js';
import type { Definition } from '../../model/flag/flag.js';
import { isRecord, sortedSet } from '../../model/json.js';
import { operandOfType } from '../../model/matcher/matchers.js';
import { writableDefinition } from '../flag-files.js';
import { cannotImport, Conversion, jsonOrText, type ConvertSource } from './source.js';

/** `split_*` and `harness_fme_*` of a state file, or of `terraform show -json`. Skips other resources silently. */
export const convertTerraformState: ConvertSource = (file, options) => {
  const document = jsonOrText(file.text);
  const all = isRecord(document) ? resourcesIn(document) : undefined;
  if (!all) {
    const why = 'it is neither a state of Terraform nor the output of terraform show -json';
    throw cannotImport('SPECS_INVALID', file.path, why);
  }
  const resources = ofOneWorkspace(all, options.workspace, file.path);
  // `ORGANISATION/PROJECT` says which it is, and is no name.
  const isId = resources.some((each) => each.workspace === options.workspace);
  const named = isId ? options.workspace?.replace(/^.*\//, '') : options.workspace;
  const conversion = new Conversion(file, { ...options, workspace: named });
  const state: State = { conversion, resources: all };
  // A definition may stand before the flag and environment that it names.
  for (const [kind, read] of Object.entries(READERS)) {
    for (const each of resources) if (each.kind === kind) read(each, state);
  }
  for (const { kind, isManaged, address } of resources) {
    const isRead = kind === undefined || Object.hasOwn(READERS, kind);
    if (!isRead && isManaged) conversion.depart(address, 'is not carried over');
  }
  const ids = sortedSet(resources.map(({ workspace }) => workspace));
  const [name] = ids.flatMap((id) => nameOf(all, 'workspace', id) ?? []);
  return conversion.result(name);
};

/**
 * Names of flags, segments and environments of several workspaces would mix. One of each provider are taken for the
 * same, which moves from one provider to the other in parts. @throws FlagkeelError `USAGE`
 */
function ofOneWorkspace(
  all: readonly Resource[],
  wanted: string | undefined,
  path: string,
): readonly Resource[] {
  const ids = sortedSet(all.map(({ workspace }) => workspace)).filter(Boolean);
  const byProvider = [...grouped(ids, (id) => id.includes('/')).values()];
  if (byProvider.every(({ length }) => length < 2)) return all;
  const found = ids.map((id) => {
    return { id, name: nameOf(all, 'workspace', id) ?? id.replace(/^.*\//, '') };
  });
  const [chosen, ...others] = found.filter(({ id, name }) => wanted === id || wanted === name);
  if (chosen !== undefined && others.length === 0) {
    return all.filter(({ workspace }) => ['', chosen.id].includes(workspace));
  }
  const names = found.map(({ id, name }) => (name === id ? id : `${name} (${id})`)).join(', ');
  throw cannotImport('USAGE', path, `it has the workspaces ${names} (name one with --workspace)`);
}

interface Resource {
  /** Terraform's name, with module and index. */
  readonly address: string;
  /** The type without its provider; undefined for another provider. */
  readonly kind: string | undefined;
  /** The id of the workspace (Split), or `ORGANISATION/PROJECT` (Harness); empty if the resource has none. */
  readonly workspace: string;
  readonly isManaged: boolean;
  readonly values: Members;
}

type Members = Readonly<Record<string, unknown>>;

/** Resources in the order of the state; undefined if the document is no state. */
function resourcesIn(document: Members): readonly Resource[] | undefined {
  if (Array.isArray(document['resources'])) {
    return recordsIn(document, 'resources').flatMap(instancesOf);
  }
  const values = document['values'];
  if (!isRecord(values)) return undefined;
  return isRecord(values['root_module']) ? resourcesOfModule(values['root_module']) : [];
}

function instancesOf(resource: Members): Resource[] {
  const mode = textIn(resource, 'mode') === 'data' ? 'data' : '';
  const path = [textIn(resource, 'module'), mode, ...textsIn(resource, 'type', 'name')];
  const base = path.filter((part) => part !== '').join('.');
  // A deposed instance was replaced, and waits for its deletion.
  const current = recordsIn(resource, 'instances').filter((each) => !('deposed' in each));
  return current.map((instance) => {
    const index = instance['index_key'];
    const address = index === undefined ? base : `${base}[${JSON.stringify(index)}]`;
    return resourceOf(resource, address, instance['attributes']);
  });
}

function resourcesOfModule(module: Members): Resource[] {
  const own = recordsIn(module, 'resources').map((resource) =>
    resourceOf(resource, textIn(resource, 'address'), resource['values']),
  );
  return [...own, ...recordsIn(module, 'child_modules').flatMap(resourcesOfModule)];
}

function resourceOf(resource: Members, address: string, attributes: unknown): Resource {
  const kind = /^(?:split|harness_fme)_(.+)$/.exec(textIn(resource, 'type'))?.[1];
  const values = isRecord(attributes) ? attributes : {};
  const workspace = kind === undefined ? '' : workspaceOf(values);
  return { address, kind, workspace, isManaged: textIn(resource, 'mode') !== 'data', values };
}

function workspaceOf(values: Members): string {
  const project = textIn(values, 'project_id');
  return project === '' ? textIn(values, 'workspace_id') : `${textIn(values, 'org_id')}/${project}`;
}

interface State {
  readonly conversion: Conversion;
  /** Of every workspace: Harness' resources may name the environments of Split's provider. */
  readonly resources: readonly Resource[];
}

/** Only named by other resources, and no object itself. */
const nothing = (): void => undefined;

/** Where each type of resource is read, in the order of what needs what. */
const READERS: Readonly<Record<string, (resource: Resource, state: State) => void>> = {
  workspace: nothing,
  traffic_type: nothing,
  environment: ({ values }, { conversion }) => {
    const name = textIn(values, 'name');
    if (name !== '') conversion.addEnvironment(name, values['production'] === true);
  },
  split: readFlag,
  feature_flag: readFlag,
  split_definition: readDefinition,
  feature_flag_definition: readDefinition,
  segment: ({ address, values }, state) => {
    const [name = '', description = ''] = textsIn(values, 'name', 'description');
    const trafficType = trafficTypeOf(address, values, state);
    state.conversion.segment({ name, trafficType, description });
  },
  segment_environment_association: (resource, state) => {
    readActivation(resource, state, null);
  },
  environment_segment_keys: (resource, state) => {
    readActivation(resource, state, sortedSet(stringsIn(resource.values, 'keys')));
  },
};

function readFlag({ address, values }: Resource, state: State): void {
  const [name = '', description = ''] = textsIn(values, 'name', 'description');
  const trafficType = trafficTypeOf(address, values, state);
  const fields = { description, tags: sortedSet(stringsIn(values, 'tags')) };
  state.conversion.flag({ name, trafficType, fields });
}

function trafficTypeOf(address: string, values: Members, state: State): string {
  const id = textIn(values, 'traffic_type_id');
  const found = nameOf(state.resources, 'traffic_type', id);
  if (found !== undefined) return found;
  const { trafficType } = state.conversion;
  const what = `traffic type ${id} has no name in this state; "${trafficType}" is written`;
  state.conversion.depart(address, what);
  return trafficType;
}

function nameOf(...of: Parameters<typeof membersOf>): string | undefined {
  return textIn(membersOf(...of), 'name') || undefined;
}

function membersOf(all: readonly Resource[], kind: string, id: string): Members | undefined {
  return all.find((each) => each.kind === kind && textIn(each.values, 'id') === id)?.values;
}

/** The environment's name if the state has it; otherwise its id, which works as well. */
function environmentOf({ values }: Resource, state: State): string {
  const id = textIn(values, 'environment_id');
  const members = membersOf(state.resources, 'environment', id);
  const name = textIn(members, 'name') || id;
  state.conversion.addEnvironment(name, members?.['production'] === true);
  return name;
}

function readActivation(resource: Resource, state: State, keys: readonly string[] | null): void {
  const name = textIn(resource.values, 'segment_name');
  const { conversion } = state;
  if (!conversion.hasSegment(name)) {
    conversion.depart(resource.address, `segment "${name}" itself is not in this state`);
  }
  conversion.segment({ name }).set(environmentOf(resource, state), keys);
}

function readDefinition(resource: Resource, state: State): void {
  const { address, values } = resource;
  const { conversion } = state;
  const name = textIn(values, 'split_name') || textIn(values, 'flag_name');
  const environment = environmentOf(resource, state);
  const body = jsonOrText(textIn(values, 'definition'));
  const depart = (what: string): void => {
    conversion.depart(address, what);
  };
  const definition = isRecord(body)
    ? definitionIn(body, PAYLOAD, depart)
    : definitionIn(values, BLOCKS, depart);
  if (definition === undefined) {
    depart('the definition has no treatments and is left out');
    return;
  }
  if (!conversion.hasFlag(name)) depart(`flag "${name}" itself is not in this state`);
  const environments = conversion.flag({ name });
  if (environments.has(environment)) depart('another resource defines this already; left out');
  else environments.set(environment, definition);
}

type Depart = (what: string) => void;

interface Form {
  /** @param part as the body of a definition names it. */
  readonly nameOf: (part: string) => string;
  /** The traffic allocation that stands for none. */
  readonly unsetAllocation?: number;
  /** All members that are converted, or that only the service sets. Default: anything may stand beside them. */
  readonly known?: ReadonlySet<string>;
}

/** Terraform names each block of a list, `default_rule`, so in the singular. */
const BLOCKS: Form = {
  nameOf: (part) =>
    part.replace(/s$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  unsetAllocation: 0,
};

/** The JSON of `harness_fme_feature_flag_definition`: the body of a definition. */
const PAYLOAD: Form = {
  nameOf: (part) => part,
  known: new Set(
    (
      'treatments defaultTreatment baselineTreatment trafficAllocation killed rules defaultRule id name environment ' +
      'trafficType creationTime lastUpdateTime title comment'
    ).split(' '),
  ),
};

function definitionIn(
  values: Members,
  { nameOf, unsetAllocation, known }: Form,
  depart: Depart,
): Required<Definition> | undefined {
  const fallback = textIn(values, nameOf('defaultTreatment'));
  for (const name of Object.keys(values)) {
    if (known?.has(name) === false) depart(`"${name}" is not carried over`);
  }
  const treatments = recordsIn(values, nameOf('treatments'));
  const allocation = values[nameOf('trafficAllocation')];
  const isSet = typeof allocation === 'number' && allocation !== unsetAllocation;
  const rules = recordsIn(values, nameOf('rules')).flatMap((rule) => {
    // A nested block of a state is a list of one.
    const condition = [rule['condition']].flat().find(isRecord);
    const matchers = recordsIn(condition, nameOf('matchers')).map(matcherOf);
    const buckets = bucketsOf(recordsIn(rule, nameOf('buckets')), fallback, depart);
    // If any of the matchers suffices, each of them becomes a rule.
    const isAny = textIn(condition, 'combiner') === 'OR';
    const groups = isAny ? matchers.map((matcher) => [matcher]) : [matchers];
    return groups.map((each) => ({ buckets, condition: { matchers: each } }));
  });
  const defaultRule = bucketsOf(recordsIn(values, nameOf('defaultRule')), fallback, depart);
  if (treatments.length === 0) return undefined;
  if (treatments.some((each) => listIn(each, 'segments').length > 0)) {
    depart('segments that a treatment targets whole cannot be said in specs');
  }
  return writableDefinition({
    treatments: treatments.map(treatmentOf),
    defaultTreatment: fallback,
    baselineTreatment: textIn(values, nameOf('baselineTreatment')) || fallback,
    trafficAllocation: isSet ? allocation : 100,
    killed: values['killed'] === true,
    rules,
    defaultRule,
  });
}

function treatmentOf(treatment: Members): WireTreatment {
  const configurations = textIn(treatment, 'configurations');
  return {
    name: textIn(treatment, 'name'),
    description: textIn(treatment, 'description'),
    ...(configurations !== '' && { configurations }),
    keys: stringsIn(treatment, 'keys'),
  };
}

/** The state has all members of a block, even zeros and empty ones: only the operand of the matcher's type counts. */
function matcherOf(matcher: Members): WireMatcher {
  const type = textIn(matcher, 'type');
  const operand = operandOfType(type);
  const members = Object.entries(matcher).flatMap(([name, value]): [string, unknown][] => {
    const isMeant = operand === undefined || ['attribute', 'negate', operand].includes(name);
    if (name === 'type' || !isMeant) return [];
    const [only] = Array.isArray(value) ? (value as unknown[]) : [];
    return [[name, isRecord(only) ? renamed(only) : value]];
  });
  return { ...Object.fromEntries(members), type };
}

function renamed(block: Members): Members {
  const { split_name: splitName, ...others } = block;
  return splitName === undefined ? block : { ...others, splitName };
}

/** Gives the rest up to 100 to the default treatment, which is served wherever nothing else is. */
function bucketsOf(
  written: readonly Members[],
  fallback: string,
  depart: Depart,
): WireDefinition['defaultRule'] {
  const buckets = written.map(({ size, ...bucket }) => ({
    treatment: textIn(bucket, 'treatment'),
    size: typeof size === 'number' ? size : 0,
  }));
  const rest = 100 - buckets.reduce((sum, { size }) => sum + size, 0);
  if (rest <= 0) return buckets;
  depart(`sizes sum to ${100 - rest}; "${fallback}" gets the rest`);
  const own = buckets.find(({ treatment }) => treatment === fallback);
  if (own) own.size += rest;
  else buckets.push({ treatment: fallback, size: rest });
  return buckets;
}

function textIn(members: Members | undefined, name: string): string {
  const value = members?.[name];
  return typeof value === 'string' ? value : '';
}

function textsIn(members: Members, ...names: readonly string[]): string[] {
  return names.map((name) => textIn(members, name));
}

function listIn(members: Members | undefined, name: string): readonly unknown[] {
  const value = members?.[name];
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function recordsIn(members: Members | undefined, name: string): readonly Members[] {
  return listIn(members, name).filter(isRecord);
}

function stringsIn(members: Members, name: string): string[] {
  return listIn(members, name).filter((each) => typeof each === 'string');
}
