import { grouped, keptIn, present } from '../../model/collections.js';
import type { Definition, Treatment } from '../../model/flag/flag.js';
import { canonicalDefinition } from '../../model/flag/wire.js';
import { sameJson, type Json } from '../../model/json.js';
import type { ForeignNode } from '../../specs/parse/yaml-file.js';
import { cannotImport, Conversion, foreignYaml, jsonOrText, type ConvertSource } from './source.js';

/**
 * Converts the file that Split's SDKs read in localhost mode: a list of `FLAG: { treatment, keys, config }`. Entries
 * with keys are individual targets; the one without is for all others. The caller names the environments.
 */
export const convertSplitYaml: ConvertSource = (file, options) => {
  const { environments } = options;
  const { items } = foreignYaml(file);
  if (!items) throw cannotImport('SPECS_INVALID', file.path, 'it is no list of flags');
  if (environments.length === 0) {
    const why = 'it names no environment (say by --environment which ones it stands for)';
    throw cannotImport('USAGE', file.path, why);
  }
  const conversion = new Conversion(file, options);
  for (const name of environments) conversion.addEnvironment(name);
  const members = items.flatMap(({ members: found = [] }) => [...found]);
  for (const [name, found] of grouped(members, ([flag]) => flag)) {
    const entries = found.map(([, entry]) => entry);
    const definition = definitionOf(name, entries, conversion);
    const flag = conversion.flag({ name });
    for (const environment of environments) flag.set(environment, definition);
  }
  return conversion.result();
};

const MEMBERS = ['treatment', 'keys', 'config'];

interface Found {
  readonly treatments: Map<string, Treatment>;
  readonly targets: Map<string, string[]>;
  readonly targeted: Set<string>;
  everybodyElse?: string;
}

function definitionOf(
  name: string,
  entries: readonly ForeignNode[],
  conversion: Conversion,
): Required<Definition> {
  const found: Found = { treatments: new Map(), targets: new Map(), targeted: new Set() };
  for (const entry of entries) readEntry(name, entry, found, conversion);
  complete(name, entries, found, conversion);
  const rest = found.everybodyElse ?? OFF;
  const fallback = found.treatments.has(OFF) ? OFF : rest;
  return canonicalDefinition({
    killed: false,
    trafficAllocation: 100,
    rules: [],
    treatments: [...found.treatments.values()],
    targets: Object.fromEntries(found.targets),
    defaultTreatment: fallback,
    baselineTreatment: fallback,
    defaultRule: [{ treatment: rest, size: 100 }],
  }) as Required<Definition>;
}

function readEntry(name: string, entry: ForeignNode, found: Found, conversion: Conversion): void {
  const treatment = entry.members?.get('treatment')?.text ?? '';
  if (treatment === '') {
    conversion.depart(entry, `an entry of "${name}" has no treatment and is left out`);
    return;
  }
  for (const [member, node] of entry.members ?? []) {
    if (!MEMBERS.includes(member)) conversion.depart(node, `"${member}" is not carried over`);
  }
  addTreatment(found.treatments, treatment, entry, conversion);
  if (entry.members?.has('keys')) addTargets(found, treatment, entry, conversion);
  else if (found.everybodyElse === undefined) found.everybodyElse = treatment;
  else conversion.depart(entry, `"${name}" has an entry for everybody already`);
}

function addTargets(
  { targets, targeted }: Found,
  treatment: string,
  entry: ForeignNode,
  conversion: Conversion,
): void {
  const own = keptIn(targets, treatment, () => []);
  const { items, text = '' } = entry.members?.get('keys') ?? {};
  for (const key of items?.flatMap((each) => each.text ?? []) ?? [text]) {
    if (targeted.has(key)) conversion.depart(entry, `key "${key}" stands above already`);
    else own.push(key);
    targeted.add(key);
  }
}

const OFF = 'off';

/** A flag needs at least two treatments, one of which is for the keys without a target. */
function complete(
  name: string,
  [entry]: readonly ForeignNode[],
  { treatments, everybodyElse }: Found,
  conversion: Conversion,
): void {
  if (!entry) return;
  if (everybodyElse === undefined) {
    if (!treatments.has(OFF)) treatments.set(OFF, { name: OFF });
    conversion.depart(entry, `"${name}" says nothing of everybody else, who get "${OFF}" here`);
  }
  if (treatments.size > 1) return;
  const second = treatments.has(OFF) ? 'on' : OFF;
  treatments.set(second, { name: second });
  conversion.depart(entry, `"${name}" has one treatment; "${second}" is added, which nobody gets`);
}

function addTreatment(
  treatments: Map<string, Treatment>,
  name: string,
  entry: ForeignNode,
  conversion: Conversion,
): void {
  const config = entry.members?.get('config');
  const configuration = config && configurationOf(config);
  const before = treatments.get(name)?.configuration;
  if (before !== undefined && configuration !== undefined && !sameJson(before, configuration)) {
    conversion.depart(entry, `treatment "${name}" has another configuration above`);
  }
  treatments.set(name, { name, ...present({ configuration: before ?? configuration }) });
}

/** The tool expects JSON text, but some files have YAML instead. */
function configurationOf(node: ForeignNode): Json | undefined {
  if (node.text !== undefined)
    return node.text === '' ? undefined : (jsonOrText(node.text) as Json);
  return plain(node);
}

function plain({ text = '', items, members }: ForeignNode): Json {
  if (items) return items.map(plain);
  if (members) return Object.fromEntries([...members].map(([name, each]) => [name, plain(each)]));
  return jsonOrText(text) as Json;
}
