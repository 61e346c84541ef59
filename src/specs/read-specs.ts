import { byCodeUnits } from '../kinds/json.js';
import type {
  Config,
  Desired,
  DesiredIdentities,
  DesiredKill,
  DesiredSegment,
} from '../model/desired.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { SpecTree } from '../model/tree.js';
import { ALL_IDENTITIES, heldObjects } from './hold-invalid.js';
import { CONFIG_PATH, loadFiles } from './load-files.js';
import { readChanged } from './read-changed.js';
import { configMissing, readableConfig } from './read-config.js';
import { referenceDiagnostics } from './references.js';
import { desiredFlag, resolveFlags } from './resolve-flags.js';
import { sortedMap } from './sorted-map.js';
import { resolveIdentities } from './resolve-identities.js';
import { orderedKills, resolveKills } from './resolve-kills.js';
import { resolveSegments } from './resolve-segments.js';
import type { ResolvedFlag } from './resolved-flag.js';
import { SpecMemory } from './spec-memory.js';
import { fileNameOf, specSet, type SpecSet } from './spec-set.js';
import { specTestDiagnostics } from './spec-tests.js';

export type SpecsResult =
  | { readonly ok: true; readonly desired: Desired; readonly warnings: readonly Diagnostic[] }
  | {
      readonly ok: false;
      /** All of them: errors first, by file, line and column. */
      readonly diagnostics: readonly Diagnostic[];
      /**
       * What is to be killed all the same: entries of `kills/` that are right by themselves, and `killed: true` of
       * flags, the latter only here, where no desired flags can say so.
       */
      readonly kills: readonly DesiredKill[];
      /** As far as flaghoist.yaml can be read: enough for the kills, and for nothing else. */
      readonly config?: Config;
      /** What is right, for who may go on with it; absent: the errors leave no part that could be told apart. */
      readonly rest?: Rest;
    };

/** Specs without the objects that are wrong. */
export interface Rest {
  /** With the kills that the objects left out order themselves. */
  readonly desired: Desired;
  /** `KIND/NAME` of what was left out; it is not gone, and has to stay as it is. */
  readonly held: ReadonlySet<string>;
}

/**
 * Reads everything offline: what should be, or all that is wrong.
 *
 * @param memory of earlier readings of the same directory; the result is the same without.
 */
export async function readSpecs(
  tree: SpecTree,
  memory: SpecMemory = new SpecMemory(),
): Promise<SpecsResult> {
  const known = memory.readings.get(tree.list());
  // Nothing else is ever put there.
  if (known !== undefined) return known as SpecsResult;
  const changed = await readChanged(tree, memory);
  const result: SpecsResult =
    changed === null ? await readAll(tree, memory) : { ok: true, desired: changed, warnings: [] };
  const isOfGit = tree.list().every(({ blobId }) => blobId !== undefined);
  if (isOfGit) memory.readings.set(tree.list(), result);
  return result;
}

async function readAll(tree: SpecTree, memory: SpecMemory): Promise<SpecsResult> {
  memory.rightReading = undefined;
  const loaded = await loadFiles(tree, memory);
  const configFile = loaded.files.get('config')?.[0];
  const readable =
    configFile && memory.configs.get(configFile, [], () => readableConfig(configFile));
  const config = configFile?.valid === true ? readable : undefined;
  const { specs, diagnostics: twice } = specSet(loaded, config, memory);
  const flags = resolveFlags(specs);
  const segments = resolveSegments(specs);
  const identities = resolveIdentities(specs);
  const kills = resolveKills({ ...specs, config: readable });
  const diagnostics = inOrder([
    ...(loaded.entries.has(CONFIG_PATH) ? [] : [configMissing()]),
    ...loaded.diagnostics,
    ...twice,
    ...flags.diagnostics,
    ...segments.diagnostics,
    ...identities.diagnostics,
    ...kills.diagnostics,
    ...referenceDiagnostics(specs, flags.flags, segments.segments),
    ...specTestDiagnostics(specs),
  ]);
  const resolved = { specs, flags: flags.flags, segments: segments.segments };
  const { identities: identityLists } = identities;
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (config !== undefined && errors.length === 0) {
    const desired = desiredOf(config, { ...resolved, identities: identityLists }, kills.kills);
    if (diagnostics.length === 0) remember(tree, specs, desired);
    return { ok: true, desired, warnings: diagnostics };
  }
  const environments = readable?.environments.map(({ name }) => name) ?? [];
  const ordered = orderedKills(loaded, environments);
  const held = config === undefined ? null : heldObjects(errors, resolved);
  return {
    ok: false,
    diagnostics,
    kills: sortedKills([...kills.kills, ...ordered]),
    ...(readable !== undefined && { config: readable }),
    ...(config !== undefined &&
      held !== null && {
        rest: {
          held,
          desired: desiredOf(
            config,
            { specs, ...without(held, { ...resolved, identities: identityLists }) },
            [...kills.kills, ...ordered.filter(({ flag }) => held.has(`flag/${flag}`))],
          ),
        },
      }),
  };
}

function remember(tree: SpecTree, specs: SpecSet, desired: Desired): void {
  const { settings, memory, overlays } = specs;
  memory.rightReading = {
    entries: tree.list(),
    desired,
    settings,
    overlaid: new Set(overlays.map(({ spec }) => spec.flag)),
  };
}

interface Resolved {
  readonly flags: readonly ResolvedFlag[];
  readonly segments: ReadonlyMap<string, DesiredSegment>;
  readonly identities: readonly DesiredIdentities[];
}

/** @param resolved objects of which nothing is wrong. */
function desiredOf(
  config: Config,
  { specs, flags, segments, identities }: Resolved & { specs: SpecSet },
  kills: readonly DesiredKill[],
): Desired {
  return {
    config,
    flags: sortedMap(
      flags.map((flag) => [
        flag.name,
        specs.memory.desiredFlags.get(flag, [], () => desiredFlag(flag)),
      ]),
    ),
    segments,
    identities,
    kills: sortedKills(kills),
    // A list that cannot be read takes nothing back.
    killLists: new Set(
      (specs.loaded.files.get('kills') ?? [])
        .filter(({ valid }) => valid)
        .map(({ path }) => fileNameOf(path)),
    ),
  };
}

function without(held: ReadonlySet<string>, { flags, segments, identities }: Resolved): Resolved {
  return {
    flags: flags.filter(({ name }) => !held.has(`flag/${name}`)),
    segments: new Map([...segments].filter(([name]) => !held.has(`segment/${name}`))),
    identities: held.has(ALL_IDENTITIES) ? [] : identities,
  };
}

/** By environment and flag; of two orders for one flag the first, which is the entry with its reason. */
function sortedKills(kills: readonly DesiredKill[]): DesiredKill[] {
  const byFlag = new Map<string, DesiredKill>();
  for (const kill of kills) {
    const id = `${kill.environment} ${kill.flag}`;
    if (!byFlag.has(id)) byFlag.set(id, kill);
  }
  return [...sortedMap(byFlag).values()];
}

/** Errors first, then by place; one mistake that several environments inherit is told once. */
function inOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
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
