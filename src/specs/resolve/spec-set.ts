import type { FlagOverlaySpec } from '../../generated/flag-overlay.schema.d.js';
import type { FlagSpec } from '../../generated/flag.schema.d.js';
import type { SegmentSpec } from '../../generated/segment.schema.d.js';
import { FLAG_NAME, RESERVED_FLAG_NAMES, SEGMENT_NAME } from '../../model/ref.js';
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
  readonly unjudged: {
    readonly flags: ReadonlySet<string>;
    readonly segments: ReadonlySet<string>;
  };
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
  const flags = named<FlagSpec>('flag', loaded, found);
  const segments = named<SegmentSpec>('segment', loaded, found);
  const overlayFiles = loaded.files.get('flag-overlay') ?? [];
  return {
    config,
    flags: flags.specs,
    overlays: validOf<FlagOverlaySpec>(overlayFiles),
    segments: segments.specs,
    unjudged: {
      // An unreadable overlay, `FLAG@ENVIRONMENT.yaml`, leaves unknown in which environments its flag is declared.
      flags: new Set([
        ...flags.unjudged,
        ...overlayFiles.flatMap(({ valid, path }) => (valid ? [] : objectNameOf(path))),
      ]),
      segments: segments.unjudged,
    },
    loaded,
    settings: settingsOf(config),
  };
}

function settingsOf(config: Config | undefined): string {
  const names = config?.environments.map(({ name }) => name);
  const conditions = [...(config?.conditions ?? [])];
  return JSON.stringify([config === undefined, names, config?.defaultTrafficType, conditions]);
}

/** @param files of one kind, whose schema describes `T`. */
export function validOf<T>(files: readonly SpecFile[]): SpecOf<T>[] {
  // The schema has checked the shape of a valid file.
  return files.flatMap((file) => (file.valid ? [{ file, spec: file.value as T }] : []));
}

const DUPLICATE = { flag: 'duplicate-flag', segment: 'duplicate-segment' } as const;

/**
 * Valid files by the name of their object. Of two with one name the first in the order of paths counts. Invalid files
 * count under the file's name and under the name in them.
 */
function named<T>(
  kind: 'flag' | 'segment',
  loaded: LoadedFiles,
  found: Diagnostic[],
): { specs: Map<string, SpecOf<T>>; unjudged: Set<string> } {
  const files = loaded.files.get(kind) ?? [];
  const specs = new Map<string, SpecOf<T>>();
  for (const each of validOf<T>(files)) {
    const name = each.file.nameIn(kind) ?? '';
    const first = specs.get(name);
    if (first === undefined) {
      specs.set(name, each);
    } else {
      const message = `${kind} "${name}" is declared in ${first.file.path} already`;
      found.push(each.file.diagnostic(DUPLICATE[kind], { path: [kind] }, message));
    }
  }
  const unjudged = files.filter(({ valid }) => !valid);
  const names = unjudged.flatMap((file) => [fileNameOf(file.path), file.nameIn(kind) ?? []].flat());
  return { specs, unjudged: new Set(names) };
}

/** Name of the file without folder and `.yaml`. */
export function fileNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.yaml$/, '');
}

export const NAMES = {
  flag: {
    code: 'flag-name',
    pattern: FLAG_NAME,
    form: "a name is a letter, then letters, digits, '-' and '_'",
    reserved: RESERVED_FLAG_NAMES,
  },
  segment: {
    code: 'segment-name',
    pattern: SEGMENT_NAME,
    form: "a name has letters, digits, '-', '_' and '.' only",
    reserved: new Set<string>(),
  },
} as const;

/** What is wrong with the name of an object, or with that of its file. */
export function nameDiagnostics(
  kind: 'flag' | 'segment',
  file: SpecFile,
  name: string,
): Diagnostic[] {
  const { code, pattern, form, reserved } = NAMES[kind];
  const own = fileNameOf(file.path);
  const wrong = (message: string) => [file.diagnostic(code, { path: [kind] }, message)];
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
    if (specs.flags.has(flag) || specs.unjudged.flags.has(flag)) return diagnostics;
    const message = `no flag "${flag}" is declared here${didYouMean(flag, specs.flags.keys())}`;
    return [file.diagnostic('unknown-flag', { path: ['tests'] }, message), ...diagnostics];
  });
}
