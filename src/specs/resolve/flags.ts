import type { FlagSpec } from '../../generated/flag.schema.d.js';
import { flagFieldsFromSpec, withTag, type FlagField } from '../../model/flag/fields.js';
import { NO_CONDITIONS } from '../../model/matcher/condition.js';
import type { DesiredDefinition, DesiredFlag } from '../../model/desired.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import {
  NO_DIAGNOSTICS,
  resolveDefinition,
  treatmentDiagnostics,
  type BlockSource,
  type ResolvedDefinition,
} from './definition.js';
import {
  environmentDiagnostics,
  fileNameOf,
  nameDiagnostics,
  trafficTypeOf,
  type SpecOf,
  type SpecSet,
} from './spec-set.js';
import { grouped, Memory, present, sortedMap } from '../../model/collections.js';
import type { SpecFile } from '../parse/parse-file.js';
import { didYouMean } from '../parse/suggest.js';

const EVERYWHERE = '*';

/** A flag according to its own files, before its references are checked. */
export interface ResolvedFlag {
  readonly name: string;
  readonly file: SpecFile;
  readonly trafficType: string;
  readonly spec: FlagSpec;
  /** Environments in the order of the files; those of overlays come last. */
  readonly environments: ReadonlyMap<string, ResolvedDefinition>;
}

/** Resolves every flag by itself; `references.ts` checks what its rules name. */
export function resolveFlags(specs: SpecSet, found: Diagnostic[]): ResolvedFlag[] {
  found.push(...specs.overlays.flatMap((overlay) => overlayDiagnostics(specs, overlay)));
  const overlays = grouped(specs.overlays, ({ spec }) => spec.flag);
  return [...specs.named.flag].map(([name, each]) => {
    const { flag, diagnostics } = resolvedFlag(specs, each, overlays.get(name) ?? []);
    found.push(...diagnostics);
    return flag;
  });
}

type Overlay = SpecSet['overlays'][number];

const RESOLVED = new Memory<
  FlagSpec,
  { readonly flag: ResolvedFlag; readonly diagnostics: readonly Diagnostic[] }
>();

/** Resolves one flag, or reuses the earlier result while its files and the config are unchanged. */
export function resolvedFlag(
  specs: Pick<SpecSet, 'config' | 'settings'>,
  each: SpecOf<FlagSpec>,
  overlays: readonly Overlay[],
): { readonly flag: ResolvedFlag; readonly diagnostics: readonly Diagnostic[] } {
  const { file, spec } = each;
  const from = [specs.settings, ...overlays.map((overlay) => overlay.spec)];
  return RESOLVED.of(spec, from, () => {
    const diagnostics: Diagnostic[] = [];
    const environments = resolveEnvironments(specs, each, overlays, diagnostics);
    const said = { file, written: spec.trafficType, member: 'flag' };
    const trafficType = trafficTypeOf(specs, said, diagnostics);
    diagnostics.push(...nameDiagnostics('flag', file, spec.flag));
    const flag: ResolvedFlag = { name: spec.flag, file, spec, trafficType, environments };
    return { flag, diagnostics: diagnostics.length === 0 ? NO_DIAGNOSTICS : diagnostics };
  });
}

/** In each environment that the files name: fields of its block first, then of all environments, then of the flag. */
function resolveEnvironments(
  specs: Pick<SpecSet, 'config'>,
  { file, spec }: SpecOf<FlagSpec>,
  overlays: readonly Overlay[],
  diagnostics: Diagnostic[],
): Map<string, ResolvedDefinition> {
  const { config } = specs;
  const conditions = config === undefined ? null : (config.conditions ?? NO_CONDITIONS);
  const { treatments, defaultTreatment, baselineTreatment } = spec;
  const inherited = { treatments, defaultTreatment, ...present({ baselineTreatment }) };
  const itself: BlockSource = { file, path: [], block: inherited };
  const blocks = file.keys('environments').flatMap((environment) => {
    const block = spec.environments?.[environment];
    if (block === undefined) return [];
    return [{ environment, file, path: ['environments', environment], block }];
  });
  const shared = blocks.filter(({ environment }) => environment === EVERYWHERE);
  const named: (BlockSource & { environment: string })[] = [
    ...blocks.filter(({ environment }) => environment !== EVERYWHERE),
    ...overlays.map(({ file: own, spec: block }) => {
      return { environment: block.environment, file: own, path: [], block };
    }),
  ];
  diagnostics.push(...[itself, ...shared, ...named].flatMap(treatmentDiagnostics));
  const resolved = new Map<string, ResolvedDefinition>();
  for (const each of named) {
    const { environment, path } = each;
    if (each.file === file) {
      diagnostics.push(...environmentDiagnostics(specs, { file, path, at: 'key' }, environment));
    }
    const sources = [each, ...shared, itself];
    const place = path.length === 0 ? ['environment'] : path;
    if (sources.every(({ block }) => block.defaultRule === undefined)) {
      const message = `environment "${environment}" has no defaultRule`;
      const at = { path: place, at: 'key' } as const;
      diagnostics.push(each.file.diagnostic('missing-default-rule', at, message));
    }
    if (resolved.has(environment)) continue;
    const definition = resolveDefinition(sources, each.file.location(place), conditions);
    diagnostics.push(...definition.diagnostics);
    resolved.set(environment, definition);
  }
  // No environment inherits these blocks yet; without a check, their mistakes would surface with the first one.
  if (named.length === 0) {
    const own = resolveDefinition([...shared, itself], file.location([]), conditions);
    diagnostics.push(...own.diagnostics);
  }
  return resolved;
}

function overlayDiagnostics(specs: SpecSet, { file, spec }: Overlay): Diagnostic[] {
  const { flag, environment } = spec;
  if (fileNameOf(file.path) !== `${flag}@${environment}`) {
    const message = `the file is to be named "${flag}@${environment}.yaml"`;
    return [file.diagnostic('file-name', { path: ['flag'] }, message)];
  }
  const own = specs.named.flag.get(flag);
  if (own === undefined) {
    if (specs.unjudged.flag.has(flag)) return [];
    const hint = didYouMean(flag, specs.named.flag.keys());
    const message = `no file declares flag "${flag}"${hint}`;
    return [file.diagnostic('flag-missing', { path: ['flag'] }, message)];
  }
  const inFile = Object.hasOwn(own.spec.environments ?? {}, environment);
  const twin = specs.overlays.find(
    (each) => each.spec.flag === flag && each.spec.environment === environment,
  );
  if (inFile || twin?.file !== file) {
    const other = inFile ? own.file.path : (twin?.file.path ?? '');
    const message = `${other} has a block of "${environment}" already`;
    return [file.diagnostic('environment-twice', { path: ['environment'] }, message)];
  }
  return environmentDiagnostics(specs, { file, path: ['environment'] }, environment);
}

const DESIRED = new Memory<ResolvedFlag, DesiredFlag>();

/** @param flag without errors. */
export function desiredFlag(flag: ResolvedFlag, ownershipTag?: string): DesiredFlag {
  return DESIRED.of(flag, [ownershipTag], () => madeFlag(flag, ownershipTag));
}

function madeFlag(flag: ResolvedFlag, ownershipTag?: string): DesiredFlag {
  const environments = [...flag.environments].flatMap(([name, { definition }]) =>
    definition === undefined ? [] : [[name, definition] as const],
  );
  return {
    name: flag.name,
    location: flag.file.location(['flag']),
    trafficType: flag.trafficType,
    ...flagFieldsOf(flag.spec, ownershipTag),
    ...present({ owner: flag.spec.owner, expires: flag.spec.expires }),
    ...(flag.spec.protect === true && { protect: true }),
    environments: sortedMap<DesiredDefinition>(environments),
  };
}

/** Managed fields alone, and for the creation also those that people own afterwards. */
function flagFieldsOf(
  spec: FlagSpec,
  ownershipTag: string | undefined,
): Pick<DesiredFlag, 'fields' | 'creation' | 'ownershipTag'> {
  const { unmanaged = [] } = spec;
  // Of a flag whose file says nothing of tags, git owns one tag, and people own the others.
  const isOnlyTag = spec.tags === undefined && !unmanaged.includes('tags');
  const said = flagFieldsFromSpec(spec);
  const creation = isOnlyTag ? said : withTag(said, ownershipTag);
  const own = isOnlyTag && ownershipTag !== undefined ? { ownershipTag } : {};
  if (unmanaged.length === 0) return { fields: creation, ...own };
  const managed = Object.entries(creation).filter(
    ([field]) => !unmanaged.includes(field as FlagField),
  );
  return { fields: Object.fromEntries(managed), creation, ...own };
}
