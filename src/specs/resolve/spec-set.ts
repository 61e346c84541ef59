import type { SpecTypes } from '../../generated/spec-types.d.js';
import { FLAG_NAME, NAMED, NAMED_KINDS, type FileKind, type NamedKind } from '../../model/ref.js';
import type { Config } from '../../model/desired.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import type { LoadedFiles } from '../parse/load-files.js';
import type { PlaceInFile, SpecFile } from '../parse/parse-file.js';
import { didYouMean } from '../parse/suggest.js';

/** What a valid file of each kind holds. */
interface FileTypes extends SpecTypes {
  readonly 'identities-csv': SpecTypes['identities']['identities']['keys'];
  readonly keys: readonly string[];
}

export interface SpecOf<T> {
  readonly file: SpecFile;
  readonly spec: T;
}

/** All specs of one tree. A file that violates its schema only contributes its name. */
export interface SpecSet {
  /** Undefined if flagkeel.yaml itself is wrong; checks that depend on it are then skipped. */
  readonly config: Config | undefined;
  /** By the name of the object. */
  readonly named: { readonly [K in NamedKind]: ReadonlyMap<string, SpecOf<SpecTypes[K]>> };
  readonly overlays: readonly SpecOf<SpecTypes['flag-overlay']>[];
  /** Objects whose files cannot be checked: a second error in a reference to one would only repeat the first. */
  readonly unjudged: Readonly<Record<NamedKind, ReadonlySet<string>>>;
  readonly loaded: LoadedFiles;
  /** The part of the config that the meaning of a single file depends on, as text for comparison. */
  readonly settings: string;
}

/** Groups files by the names of their objects. @param found gets names that are declared twice. */
export function specSet(
  loaded: LoadedFiles,
  config: Config | undefined,
  found: Diagnostic[],
): SpecSet {
  return {
    config,
    named: Object.fromEntries(
      NAMED.map((kind) => [kind, declared(kind, loaded, found)]),
    ) as unknown as SpecSet['named'],
    overlays: validOf(loaded, 'flag-overlay'),
    unjudged: unjudgedNames(loaded),
    loaded,
    settings: settingsOf(config),
  };
}

/** Names of objects with invalid files, by those of the files and by the names in them. */
function unjudgedNames({ files }: LoadedFiles): SpecSet['unjudged'] {
  const invalid = (kind: FileKind): SpecFile[] => files[kind].filter(({ valid }) => !valid);
  const lists = NAMED.map((kind) => {
    const names = invalid(kind).flatMap((file) => [fileNameOf(file.path), file.nameIn(kind) ?? []]);
    return [kind, new Set(names.flat())] as const;
  });
  const unjudged = Object.fromEntries(lists) as Record<NamedKind, Set<string>>;
  // An unreadable overlay, `FLAG@ENVIRONMENT.yaml`, leaves unknown in which environments its flag is declared.
  for (const { path } of invalid('flag-overlay')) unjudged.flag.add(objectNameOf(path));
  return unjudged;
}

function settingsOf(config: Config | undefined): string {
  const names = config?.environments.map(({ name }) => name);
  const conditions = [...(config?.conditions ?? [])];
  return JSON.stringify([config === undefined, names, config?.defaultTrafficType, conditions]);
}

export function validOf<K extends FileKind>(loaded: LoadedFiles, kind: K): SpecOf<FileTypes[K]>[] {
  return loaded.files[kind].flatMap((file) =>
    // The schema has checked the shape of a valid file.
    file.valid ? [{ file, spec: file.value as FileTypes[K] }] : [],
  );
}

/** Valid files by the name of their object. Of two with one name the first in the order of paths counts. */
function declared<K extends NamedKind>(
  kind: K,
  loaded: LoadedFiles,
  found: Diagnostic[],
): Map<string, SpecOf<SpecTypes[K]>> {
  const specs = new Map<string, SpecOf<SpecTypes[K]>>();
  for (const each of validOf(loaded, kind)) {
    const name = each.file.nameIn(kind) ?? '';
    const first = specs.get(name);
    if (first === undefined) {
      specs.set(name, each);
    } else {
      const message = `${kind} "${name}" is declared in ${first.file.path} already`;
      found.push(each.file.diagnostic(NAMED_KINDS[kind].twice, { path: [kind] }, message));
    }
  }
  return specs;
}

/** Name of the file without folder and `.yaml`. */
export function fileNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.yaml$/, '');
}

/** What is wrong with the name of an object, or with that of its file. */
export function nameDiagnostics(kind: NamedKind, file: SpecFile, name: string): Diagnostic[] {
  const { wrongName, pattern, form, reserved } = NAMED_KINDS[kind];
  const own = fileNameOf(file.path);
  const wrong = (message: string) => [file.diagnostic(wrongName, { path: [kind] }, message)];
  if (!pattern.test(name)) return wrong(`${kind} "${name}": ${form}`);
  if (reserved.has(name)) return wrong(`${kind} "${name}": the name is a reserved word`);
  if (own !== name) {
    const message = `the file is named "${own}.yaml", the ${kind} "${name}"`;
    return [file.diagnostic('file-name', { path: [kind] }, message)];
  }
  if (FLAG_NAME.test(name)) return [];
  // The contract has no rule, so what no source is certain that the service refuses is a warning only.
  const message = `${kind} "${name}" has another form than the name of a flag; the service may refuse it`;
  return [file.diagnostic(wrongName, { path: [kind], severity: 'warning' }, message)];
}

/** The object that a file's name promises. An overlay concerns its flag. */
export function objectNameOf(path: string): string {
  return fileNameOf(path.replace(/\.ya?ml$/i, '.yaml')).split('@', 1)[0] ?? '';
}

/** A diagnostic if flagkeel.yaml has no such environment; none if flagkeel.yaml itself is unreadable. */
export function environmentDiagnostics(
  { config }: Pick<SpecSet, 'config'>,
  { file, ...place }: PlaceInFile & { readonly file: SpecFile },
  environment: string,
): Diagnostic[] {
  if (config === undefined) return [];
  const known = config.environments.map(({ name }) => name);
  return file.unknownName('environment', environment, known, place);
}

/** The traffic type of a file, or the default of flagkeel.yaml. @param member where it is missing if there is neither. */
export function trafficTypeOf(
  { config }: Pick<SpecSet, 'config'>,
  { file, written, member }: { file: SpecFile; written: string | undefined; member: string },
  found: Diagnostic[],
): string {
  const trafficType = written ?? config?.defaultTrafficType;
  if (trafficType === undefined && config !== undefined) {
    const message = 'no trafficType here, and no defaults.trafficType in flagkeel.yaml';
    found.push(file.diagnostic('traffic-type-missing', { path: [member], at: 'key' }, message));
  }
  return trafficType ?? '';
}

export function specTestDiagnostics(
  specs: SpecSet,
  tests: readonly SpecOf<SpecTypes['spec-test']>[],
): Diagnostic[] {
  return tests.flatMap(({ file, spec }) => {
    const { tests: flag, cases } = spec;
    const diagnostics = cases.flatMap(({ environment }, i) =>
      environmentDiagnostics(specs, { file, path: ['cases', i, 'environment'] }, environment),
    );
    if (specs.named.flag.has(flag) || specs.unjudged.flag.has(flag)) return diagnostics;
    const message = `no flag "${flag}" is declared here${didYouMean(flag, specs.named.flag.keys())}`;
    return [file.diagnostic('unknown-flag', { path: ['tests'] }, message), ...diagnostics];
  });
}
