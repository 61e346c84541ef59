import type { FlagOverlaySpec } from '../../generated/flag-overlay.schema.d.js';
import type { FlagSpec } from '../../generated/flag.schema.d.js';
import type { SegmentSpec } from '../../generated/segment.schema.d.js';
import { NAMED, NAMED_KINDS, type FileKind, type NamedKind } from '../../model/ref.js';
import type { Config } from '../../model/desired.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import type { LoadedFiles } from '../parse/load-files.js';
import type { PlaceInFile, SpecFile } from '../parse/parse-file.js';
import { didYouMean } from '../parse/suggest.js';
import type { SpecTestSpec } from '../../generated/spec-test.schema.d.js';

export interface SpecOf<T> {
  readonly file: SpecFile;
  readonly spec: T;
}

/** All specs of one tree, by name. A file that violates its schema only contributes its name. */
export interface SpecSet {
  /** Undefined if flagkeel.yaml itself is wrong; checks that depend on it are then skipped. */
  readonly config: Config | undefined;
  readonly flags: ReadonlyMap<string, SpecOf<FlagSpec>>;
  readonly overlays: readonly SpecOf<FlagOverlaySpec>[];
  readonly segments: ReadonlyMap<string, SpecOf<SegmentSpec>>;
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
    flags: declared<FlagSpec>('flag', loaded, found),
    overlays: validOf<FlagOverlaySpec>(loaded, 'flag-overlay'),
    segments: declared<SegmentSpec>('segment', loaded, found),
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

/** The valid files of a kind, whose schema describes `T`. */
export function validOf<T>({ files }: LoadedFiles, kind: FileKind): SpecOf<T>[] {
  // The schema has checked the shape of a valid file.
  return files[kind].flatMap((file) => (file.valid ? [{ file, spec: file.value as T }] : []));
}

/** Valid files by the name of their object. Of two with one name the first in the order of paths counts. */
function declared<T>(
  kind: NamedKind,
  loaded: LoadedFiles,
  found: Diagnostic[],
): Map<string, SpecOf<T>> {
  const specs = new Map<string, SpecOf<T>>();
  for (const each of validOf<T>(loaded, kind)) {
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
  if (own === name) return [];
  const message = `the file is named "${own}.yaml", the ${kind} "${name}"`;
  return [file.diagnostic('file-name', { path: [kind] }, message)];
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
  tests: readonly SpecOf<SpecTestSpec>[],
): Diagnostic[] {
  return tests.flatMap(({ file, spec }) => {
    const { tests: flag, cases } = spec;
    const diagnostics = cases.flatMap(({ environment }, i) =>
      environmentDiagnostics(specs, { file, path: ['cases', i, 'environment'] }, environment),
    );
    if (specs.flags.has(flag) || specs.unjudged.flag.has(flag)) return diagnostics;
    const message = `no flag "${flag}" is declared here${didYouMean(flag, specs.flags.keys())}`;
    return [file.diagnostic('unknown-flag', { path: ['tests'] }, message), ...diagnostics];
  });
}
