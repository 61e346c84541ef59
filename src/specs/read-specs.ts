import { keyOf, type NamedKind, isAmong } from '../model/ref.js';
import { byCodeUnits } from '../model/json.js';
import {
  withObjects,
  type Config,
  type Desired,
  type DesiredKill,
  type DesiredSegment,
} from '../model/desired.js';
import type { Diagnostic } from '../model/diagnostic.js';
import {
  CONFIG_PATH,
  fileKindOf,
  folderKindOf,
  isSpecFolder,
  type SpecTree,
} from '../model/spec-tree.js';
import { loadFiles } from './parse/load-files.js';
import type { SpecFile } from './parse/parse-file.js';
import { SpecCache } from './cache.js';
import { configMissing, readableConfig } from './read-config.js';
import { referenceDiagnostics, referencesOf } from './resolve/references.js';
import { desiredFlag, resolveFlags, type ResolvedFlag } from './resolve/flags.js';
import { present, sortedMap } from '../model/collections.js';
import { rampDiagnostics } from './resolve/ramps.js';
import { resolveIdentities } from './resolve/identities.js';
import { orderedKills, resolveKills } from './resolve/kills.js';
import { resolveSegments } from './resolve/segments.js';
import { departedDiagnostics } from './resolve/sound-part.js';
import {
  fileNameOf,
  objectNameOf,
  specSet,
  specTestDiagnostics,
  validOf,
  type SpecSet,
} from './resolve/spec-set.js';

export type SpecsResult =
  | { readonly ok: true; readonly desired: Desired; readonly warnings: readonly Diagnostic[] }
  | {
      readonly ok: false;
      /** All of them: errors first, by file, line and column. */
      readonly diagnostics: readonly Diagnostic[];
      /** Kills to send although the specs are invalid: valid entries of `kills/`, and `killed: true` of flags. */
      readonly kills: readonly DesiredKill[];
      /** The readable part of flagkeel.yaml: sufficient for kills only. */
      readonly config?: Config;
      /** Unset if the errors do not show which objects they concern. */
      readonly rest?: Rest;
    };

export interface Rest {
  /** The desired state without the omitted objects, but with the kills that these order. */
  readonly desired: Desired;
  /** `KIND/NAME` of each omitted object. It still exists in git and has to stay as it is on the service. */
  readonly quarantined: ReadonlySet<string>;
}

/** Trees of git are immutable, so that the results of readings are known by the listing. */
const READ = new WeakMap<ReturnType<SpecTree['list']>, SpecsResult>();

/** The desired state, or every problem at once. @param memory of earlier readings: does not affect the result. */
export async function readSpecs(
  tree: SpecTree,
  memory: SpecCache = new SpecCache(),
): Promise<SpecsResult> {
  const known = READ.get(tree.list());
  if (known) return known;
  const { result } = await readWithParts(tree, memory);
  if (tree.list().every(({ blobId }) => blobId !== undefined)) READ.set(tree.list(), result);
  return result;
}

/** All files of a directory and the objects made from them, for callers that judge more than validity. */
export interface SpecParts {
  readonly specs: SpecSet;
  /** Flags without errors. */
  readonly flags: readonly ResolvedFlag[];
  /** Segments without errors. */
  readonly segments: ReadonlyMap<string, DesiredSegment>;
  readonly kills: readonly DesiredKill[];
}

export async function readWithParts(
  tree: SpecTree,
  memory: SpecCache = new SpecCache(),
): Promise<{ readonly result: SpecsResult; readonly parts: SpecParts }> {
  const loaded = await loadFiles(tree, memory);
  const configFile = loaded.files.config[0];
  const reading = configFile && readableConfig(configFile);
  const readable = reading?.config;
  const config = configFile?.valid === true ? readable : undefined;
  const found = [
    ...(loaded.entries.has(CONFIG_PATH) ? [] : [configMissing()]),
    ...(reading?.diagnostics ?? []),
    ...loaded.diagnostics,
  ];
  const specs = specSet(loaded, config, found);
  const resolved: Resolved = {
    specs,
    flags: resolveFlags(specs, found),
    segments: resolveSegments(specs, found),
    identities: resolveIdentities(specs, found),
    kills: resolveKills({ ...specs, config: readable }, found),
  };
  const { flags, segments, kills } = resolved;
  const diagnostics = inOrder([
    ...found,
    ...(await misfits(specs)),
    ...referenceDiagnostics(specs, flags, segments),
    ...rampDiagnostics(flags, config),
    ...specTestDiagnostics(specs, validOf(loaded, 'spec-test')),
    ...departedDiagnostics(specs, flags, segments),
  ]);
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const parts = rightParts(resolved, errors);
  if (config !== undefined && errors.length === 0) {
    return {
      result: { ok: true, desired: desiredOf(config, resolved), warnings: diagnostics },
      parts,
    };
  }
  const environments = readable?.environments.map(({ name }) => name) ?? [];
  const ordered = orderedKills(loaded, environments);
  const rest = config && restOf(config, resolved, errors, ordered);
  const result: SpecsResult = {
    ok: false,
    diagnostics,
    kills: sortedKills([...kills, ...ordered]),
    ...present({ config: readable, rest }),
  };
  return { result, parts };
}

/** Of configurations with a schema. The compiler of schemas is loaded only if a flag has one. */
async function misfits(specs: SpecSet): Promise<Diagnostic[]> {
  const judged = [...specs.named.flag.values()].filter(({ spec }) => spec.configurationSchema);
  if (judged.length === 0) return [];
  const { configurationDiagnostics } = await import('./resolve/configurations.js');
  return judged.flatMap((flag) => configurationDiagnostics(flag, specs));
}

function restOf(
  config: Config,
  resolved: Resolved,
  errors: readonly Diagnostic[],
  ordered: readonly DesiredKill[],
): Rest | undefined {
  const quarantined = quarantinedObjects(errors, resolved);
  if (quarantined === null) return undefined;
  const orders = ordered.filter(({ flag }) => quarantined.has(keyOf('flag', flag)));
  const all = desiredOf(config, { ...resolved, kills: [...resolved.kills, ...orders] });
  const desired = withObjects(all, (objects, kind) => {
    return new Map([...objects].filter(([name]) => !isAmong(quarantined, keyOf(kind, name))));
  });
  return { quarantined, desired };
}

/** Flags and segments without errors in their files. */
function rightParts(all: Resolved, errors: readonly Diagnostic[]): SpecParts {
  if (errors.length === 0) return all;
  const files = new Set(errors.map(({ location }) => location.file));
  const wrong = new Set(
    all.specs.overlays.flatMap(({ file, spec }) => (files.has(file.path) ? [spec.flag] : [])),
  );
  return {
    ...all,
    flags: all.flags.filter(({ name, file }) => !files.has(file.path) && !wrong.has(name)),
    segments: new Map([...all.segments].filter(([, { location }]) => !files.has(location.file))),
  };
}

interface Resolved extends SpecParts {
  readonly identities: Desired['identities'];
}

function desiredOf(config: Config, resolved: Resolved): Desired {
  const { specs, flags, segments, identities, kills } = resolved;
  const { ownershipTag } = config;
  return {
    config,
    flags: sortedMap(flags.map((flag) => [flag.name, desiredFlag(flag, ownershipTag)])),
    segments,
    identities,
    kills: sortedKills(kills),
    // Leaves out an unreadable list of kills, because it must not look as if a kill was taken back.
    killLists: new Set(
      specs.loaded.files.kills.filter(({ valid }) => valid).map(({ path }) => fileNameOf(path)),
    ),
  };
}

/** Of two orders for one flag the first counts: the entry of `kills/`, which has a reason. */
function sortedKills(kills: readonly DesiredKill[]): DesiredKill[] {
  const byFlag = new Map<string, DesiredKill>();
  for (const kill of kills) {
    const id = `${kill.environment} ${kill.flag}`;
    if (!byFlag.has(id)) byFlag.set(id, kill);
  }
  return [...sortedMap(byFlag).values()];
}

/** As `flags/pay.yaml:4: …`. @param diagnostics of invalid specs, in order. */
export function firstFault([first]: readonly Diagnostic[]): string {
  return first ? `${first.location.file}:${first.location.line}: ${first.message}` : '';
}

/** Errors before warnings, then by file, line and column. Reports a mistake that several environments inherit once. */
export function inOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const byPlace = new Map<string, Diagnostic>();
  for (const each of diagnostics) {
    const { file, line, column } = each.location;
    const id = `${each.code} ${file} ${line} ${column}`;
    if (!byPlace.has(id)) byPlace.set(id, each);
  }
  return [...byPlace.values()].toSorted(
    (a, b) =>
      byCodeUnits(a.severity, b.severity) ||
      byCodeUnits(a.location.file, b.location.file) ||
      a.location.line - b.location.line ||
      a.location.column - b.location.column ||
      byCodeUnits(a.code, b.code),
  );
}

/** `KIND/NAME` for all identities together: their files share lists, so one bad line makes all of them doubtful. */
const ALL_IDENTITIES = keyOf('identities', '*');

/**
 * `KIND/NAME` of objects that must stay as they are on the service: objects with errors, flags whose rules name such an
 * object, and so on. Null if an error cannot be assigned to objects, so that the valid rest is unknown.
 */
function quarantinedObjects(
  errors: readonly Diagnostic[],
  resolved: Resolved,
): ReadonlySet<string> | null {
  const held = new Set<string>(
    Object.entries(resolved.specs.unjudged).flatMap(([kind, names]) =>
      [...names].map((name) => keyOf(kind as NamedKind, name)),
    ),
  );
  const files = Object.values(resolved.specs.loaded.files).flat();
  const fileAt = new Map(files.map((file) => [file.path, file]));
  for (const path of new Set(errors.map(({ location }) => location.file))) {
    const objects = objectsIn(path, resolved, fileAt.get(path));
    if (objects === null) return null;
    for (const each of objects) held.add(each);
  }
  for (;;) {
    const users = resolved.flags.filter(
      (flag) =>
        !held.has(keyOf('flag', flag.name)) &&
        referencesOf(flag).some(({ kind, name }) => held.has(keyOf(kind, name))),
    );
    if (users.length === 0) return held;
    for (const { name } of users) held.add(keyOf('flag', name));
  }
}

/** The objects that a file concerns; null if they are unknown. */
function objectsIn(
  path: string,
  { segments, specs }: Resolved,
  file: SpecFile | undefined,
): readonly string[] | null {
  const hidesFiles = (specs.loaded.entries.get(path)?.type ?? 'file') !== 'file';
  const folder = folderKindOf(path);
  switch (folder) {
    // flagkeel.yaml
    case undefined:
      return null;
    case 'identities':
      return [ALL_IDENTITIES];
    case 'kills':
      // If a list of kills is hidden, its flags would look as if no kill was ordered.
      return hidesFiles || isSpecFolder(path) ? null : [];
    case 'spec-test':
      return [];
    default:
      // Whatever its extension, a link or a submodule may stand for a folder and hide the files below it.
      if (hidesFiles) return null;
      if (fileKindOf(path) === 'keys') return usersOfKeyFile(path, segments);
      if (!/\.ya?ml$/i.test(path)) return null;
      // The name in a file may differ from the file's own.
      return [objectNameOf(path), file?.nameIn(folder) ?? []]
        .flat()
        .map((name) => keyOf(folder, name));
  }
}

function usersOfKeyFile(path: string, segments: ReadonlyMap<string, DesiredSegment>): string[] {
  return [...segments.values()]
    .filter(({ environments }) =>
      [...environments.values()].some(({ keysFile }) => keysFile === path),
    )
    .map(({ name }) => keyOf('segment', name));
}
