import type { Buckets, RuleSpec } from '../../generated/flag.schema.d.js';
import { sameJson } from '../../model/json.js';
import type { DesiredDefinition } from '../../model/desired.js';
import type { SpecFile } from '../parse/parse-file.js';
import type { SpecParts } from '../read-specs.js';
import type { BlockSource } from '../resolve/definition.js';
import { referencesOf } from '../resolve/references.js';
import type { ResolvedFlag } from '../resolve/flags.js';
import { editedText, type Edit, type EditedRule } from './edit-file.js';
import { Flow, mapping, writtenJson, type Written } from './yaml-text.js';

/** The parts to promote besides rules and treatments. */
export interface PromotedParts {
  /** Sizes: of the default rule, of rules that both environments have, and of the allocation. */
  readonly percentages?: boolean;
  readonly targets?: boolean;
  readonly kills?: boolean;
}

export interface Promoted {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

interface Promotion {
  readonly flag: ResolvedFlag;
  readonly from: string;
  readonly to: string;
}

/**
 * Promotes flags together with what their rules name and the target lacks (`needed`: `KIND/NAME`, sorted): flags are
 * promoted likewise, and segments are declared there without keys, because keys belong to one environment.
 * @param flags declared for `from`. @param parts without errors.
 */
export function promotedAll(
  flags: readonly ResolvedFlag[],
  { from, to }: Omit<Promotion, 'flag'>,
  parts: SpecParts,
  along: PromotedParts,
): { readonly files: readonly Promoted[]; readonly needed: readonly string[] } {
  const declared = new Map(parts.flags.map((each) => [each.name, each]));
  const promotions = new Set(flags);
  const segments = new Set<string>();
  // The set grows during the loop, which also visits the new members.
  for (const flag of promotions) {
    for (const { kind, name, environment } of referencesOf(flag)) {
      if (environment !== from) continue;
      if (kind === 'segment') {
        if (parts.segments.get(name)?.environments.has(to) === false) segments.add(name);
        continue;
      }
      const other = declared.get(name);
      if (other?.environments.has(from) && !other.environments.has(to)) promotions.add(other);
    }
  }
  const needed = [
    ...[...promotions].filter((each) => !flags.includes(each)).map(({ name }) => `flag/${name}`),
    ...[...segments].map((name) => `segment/${name}`),
  ];
  return {
    files: [
      ...[...promotions].map((flag) => promoted({ flag, from, to }, parts, along)),
      ...[...segments].flatMap((name) => withEnvironment(name, to, parts)),
    ],
    needed: needed.sort(),
  };
}

function withEnvironment(name: string, to: string, { specs }: SpecParts): Promoted[] {
  const segment = specs.named.segment.get(name);
  if (segment === undefined) return [];
  const { path, source } = segment.file;
  const before = source.text;
  const edit = set(['environments', to], new Flow(new Map()));
  return [{ path, before, after: editedText(before, [edit]) }];
}

/**
 * The file of a flag with the rules and treatments of one environment written into the block of another, comments kept.
 * A rule with equal conditions in both keeps its buckets, name and comments there; a rule that only the target has is
 * removed. In a new environment all keys get the default treatment unless percentages are included.
 */
function promoted(of: Promotion, { specs }: SpecParts, along: PromotedParts): Promoted {
  const { flag, from, to } = of;
  const own = blockOf(flag, from, specs);
  const { file, path, block } = blockOf(flag, to, specs);
  const source = flag.environments.get(from)?.definition;
  if (!source) throw new Error(`bug: ${flag.name} is promoted from where it is not`);
  const target = flag.environments.get(to)?.definition;
  const at: Place = { flag, from, to, path, block, own, source, target };
  const { percentages = false, targets = false, kills = false } = along;
  const edits = [
    ...treatmentEdits(at),
    ...(targets ? targetEdits(at) : []),
    ...ruleEdits(at, percentages),
    ...(percentages ? sizeEdits(at) : []),
    ...(kills ? killEdits(at) : []),
    // A new block needs a default rule, and a mapping around it.
    ...(target || percentages
      ? []
      : [set([...path, 'defaultRule'], source.creation.defaultTreatment)]),
  ];
  const before = file.source.text;
  return { path: file.path, before, after: editedText(before, edits) };
}

function set(path: readonly string[], value: Written): Edit {
  return { kind: 'set', path, value };
}

function change(path: readonly string[], value: Written | undefined): Edit {
  return value === undefined ? { kind: 'unset', path } : set(path, value);
}

function blockOf(flag: ResolvedFlag, environment: string, specs: SpecParts['specs']): BlockSource {
  const overlay = specs.overlays.find(
    ({ spec }) => spec.flag === flag.name && spec.environment === environment,
  );
  if (overlay) return { file: overlay.file, path: [], block: overlay.spec };
  const block = flag.spec.environments?.[environment] ?? {};
  return { file: flag.file, path: ['environments', environment], block };
}

/** A promotion of one flag, with the block of the target that is written. */
interface Place extends Promotion, Pick<BlockSource, 'path' | 'block'> {
  readonly own: BlockSource;
  readonly source: DesiredDefinition;
  /** Undefined if the flag is not declared there yet. */
  readonly target: DesiredDefinition | undefined;
}

/** Copies or removes the environment's own treatments, so that both replace those of the flag, or neither does. */
function treatmentEdits({ path, block, own, source, target }: Place): Edit[] {
  return (['treatments', 'defaultTreatment', 'baselineTreatment'] as const).flatMap(
    (field): Edit[] => {
      if (target && sameJson(source.creation[field], target.creation[field])) return [];
      const said = own.block[field];
      if (said === undefined && block[field] === undefined) return [];
      const value = typeof said === 'object' ? inOrder(said, own.file, [...own.path, field]) : said;
      return [change([...path, field], value)];
    },
  );
}

/** A mapping in the order of the file. An object would move names that look like numbers. */
function inOrder(
  value: Readonly<Record<string, unknown>>,
  file: SpecFile,
  path: readonly string[],
): Written {
  return new Map(file.keys(...path).map((name) => [name, writtenJson(value[name])]));
}

/** Adds and removes single keys, so that the comments on the others stay. */
function targetEdits({ path, source, target }: Place): Edit[] {
  const wanted = source.creation.targets;
  const held = target?.creation.targets ?? {};
  const names = [...new Set([...Object.keys(wanted), ...Object.keys(held)])];
  return names.flatMap((name): Edit[] => {
    const [keys, known] = [wanted[name] ?? [], held[name] ?? []];
    if (sameJson(keys, known)) return [];
    const place = [...path, 'targets', name];
    if (keys.length === 0) return [{ kind: 'unset', path: place }];
    const remove = new Set(known.filter((key) => !keys.includes(key)));
    const add = keys.filter((key) => !known.includes(key));
    return [{ kind: 'texts', path: place, add, remove }];
  });
}

function ruleEdits(place: Place, withSizes: boolean): Edit[] {
  const { flag, from, to, path, block, source, target } = place;
  const written = flag.environments.get(from)?.rules?.value ?? [];
  const held = target?.creation.rules ?? [];
  const free = new Set(held.keys());
  const isOwn = block.rules !== undefined;
  const rules = source.creation.rules.map((rule, position): EditedRule & { same: boolean } => {
    const at = [...free].find((each) => sameJson(held[each]?.matchers, rule.matchers));
    const spec = written[position];
    if (!spec) throw new Error('bug: a rule that no file has');
    if (at === undefined) return { value: writtenRule(spec), same: false };
    free.delete(at);
    const known = flag.environments.get(to)?.rules?.value[at] ?? spec;
    const isMoved = withSizes && !sameJson(held[at]?.buckets, rule.buckets);
    const serve = isMoved ? spec.serve : known.serve;
    return {
      value: writtenRule({ ...known, serve }),
      ...(isOwn && { from: at }),
      ...(isMoved && { replace: { member: 'serve' as const, value: writtenServe(serve) } }),
      same: !isMoved && at === position,
    };
  });
  if (free.size === 0 && rules.every(({ same }) => same)) return [];
  const rulesPath = [...path, 'rules'];
  if (rules.length === 0) return [change(rulesPath, isOwn ? undefined : [])];
  return [{ kind: 'rules', path: rulesPath, rules }];
}

/** A rule in the usual layout: each condition and the buckets on one line. */
function writtenRule({ name, if: conditions, serve }: RuleSpec): Written {
  const written = Array.isArray(conditions)
    ? conditions.map((each) => new Flow(writtenJson(each)))
    : new Flow(writtenJson(conditions));
  return mapping(['name', name], ['if', written], ['serve', writtenServe(serve)]);
}

function writtenServe(serve: Buckets): Written {
  return typeof serve === 'string' ? serve : new Flow(writtenJson(serve));
}

function sizeEdits({ flag, path, own, source, target }: Place): Edit[] {
  const edits: Edit[] = [];
  const { defaultRule, trafficAllocation } = source.creation;
  if (!sameJson(defaultRule, target?.creation.defaultRule)) {
    const said = own.block.defaultRule ?? flag.spec.environments?.['*']?.defaultRule;
    const sizes = defaultRule.map(({ treatment, size }) => [treatment, size] as const);
    const value = said === undefined ? new Flow(new Map(sizes)) : writtenServe(said);
    edits.push(set([...path, 'defaultRule'], value));
  }
  if (trafficAllocation !== (target?.creation.trafficAllocation ?? 100)) {
    edits.push(set([...path, 'trafficAllocation'], trafficAllocation));
  }
  return edits;
}

/** If the source does not mention a kill, the target keeps not mentioning it. */
function killEdits({ path, block, source }: Place): Edit[] {
  const { killed } = source.fields;
  return killed === block.killed ? [] : [change([...path, 'killed'], killed)];
}
