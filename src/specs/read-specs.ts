import { byCodeUnits } from '../kinds/json.js';
import type { Config, Desired, DesiredKill } from '../model/desired.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { SpecTree } from '../model/tree.js';
import { CONFIG_PATH, loadFiles } from './load-files.js';
import { configMissing, readableConfig } from './read-config.js';
import { referenceDiagnostics } from './references.js';
import { desiredFlag, resolveFlags } from './resolve-flags.js';
import { sortedMap } from './sorted-map.js';
import { resolveIdentities } from './resolve-identities.js';
import { orderedKills, resolveKills } from './resolve-kills.js';
import { resolveSegments } from './resolve-segments.js';
import { SpecMemory } from './spec-memory.js';
import { fileNameOf, specSet } from './spec-set.js';
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
    };

/**
 * Reads everything offline: what should be, or all that is wrong.
 *
 * @param memory of earlier readings of the same directory; the result is the same without.
 */
export async function readSpecs(
  tree: SpecTree,
  memory: SpecMemory = new SpecMemory(),
): Promise<SpecsResult> {
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
  if (config === undefined || diagnostics.some(({ severity }) => severity === 'error')) {
    const environments = readable?.environments.map(({ name }) => name) ?? [];
    const all = [...kills.kills, ...orderedKills(loaded, environments)];
    return {
      ok: false,
      diagnostics,
      kills: sortedKills(all),
      ...(readable !== undefined && { config: readable }),
    };
  }
  const desired: Desired = {
    config,
    flags: sortedMap(
      flags.flags.map((flag) => [
        flag.name,
        memory.desiredFlags.get(flag, [], () => desiredFlag(flag)),
      ]),
    ),
    segments: segments.segments,
    identities: identities.identities,
    kills: sortedKills(kills.kills),
    killLists: new Set((loaded.files.get('kills') ?? []).map(({ path }) => fileNameOf(path))),
  };
  return { ok: true, desired, warnings: diagnostics };
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
