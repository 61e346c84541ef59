import type { ConfigSpec } from '../generated/config.schema.d.js';
import { Memory, ownMember, present } from '../model/collections.js';
import { POLICIES, type Config, type EnvironmentConfig } from '../model/desired.js';
import type { Diagnostic, SpecPath } from '../model/diagnostic.js';
import { CONFIG_PATH, type SpecTree } from '../model/spec-tree.js';
import { pathDiagnostics } from './parse/load-files.js';
import { parseFile, type SpecFile } from './parse/parse-file.js';
import { fileDiagnostic } from './parse/source-text.js';
import { readConditions } from './resolve/conditions.js';
import { readEntries } from './resolve/config-entries.js';
import type { WatchSpec } from '../generated/watch.schema.d.js';

/** flagkeel.yaml alone; undefined unless all of it is right. @param readable takes its readable part instead. */
export async function readConfig(
  tree: SpecTree,
  { readable = false } = {},
): Promise<Config | undefined> {
  const entry = tree.list().find(({ path }) => path === CONFIG_PATH);
  if (entry === undefined || pathDiagnostics(entry).length > 0) return undefined;
  const file = parseFile(CONFIG_PATH, 'config', await tree.read(CONFIG_PATH));
  const { config, diagnostics } = readableConfig(file);
  return readable || (file.valid && diagnostics.length === 0) ? config : undefined;
}

export function configMissing(): Diagnostic {
  const message = `there is no ${CONFIG_PATH} here (it names the workspace and its environments)`;
  return fileDiagnostic(CONFIG_PATH, 'config-missing', message);
}

interface ConfigReading {
  /** Undefined if the workspace or its environments are unreadable. */
  readonly config: Config | undefined;
  /** Of a file that fits its schema: the mistakes that the schema cannot express. */
  readonly diagnostics: readonly Diagnostic[];
}

const READINGS = new Memory<SpecFile, ConfigReading>();

/** The readable part of the config, without its wrong members. Used for kills, which no other mistake may delay. */
export function readableConfig(file: SpecFile): ConfigReading {
  return READINGS.of(file, [], () => {
    // The schema has checked the shape of a valid file.
    if (file.valid) return readingOf(file, file.value as ConfigSpec);
    return { config: rightPartOf(file), diagnostics: [] };
  });
}

function rightPartOf(file: SpecFile): Config | undefined {
  const spec = file.value as Partial<ConfigSpec> | null | undefined;
  const { problems } = file;
  if (spec === null || typeof spec !== 'object') return undefined;
  if (problems.some(({ pointer, code }) => pointer === undefined && code !== 'api-key-in-file')) {
    return undefined;
  }
  const { workspace, service } = spec;
  const names = file.keys('environments').filter((name) => file.isSound('environments', name));
  if (workspace === undefined || !file.isSound('workspace') || names.length === 0) return undefined;
  return readingOf(file, {
    workspace,
    environments: Object.fromEntries(names.map((name) => [name, spec.environments?.[name] ?? {}])),
    ...(service !== undefined && file.isSound('service') && { service }),
  }).config;
}

/** The config with its defaults filled in, and environments in the order of the file. */
function readingOf(file: SpecFile, spec: ConfigSpec): ConfigReading {
  const { references, defaults, service } = spec;
  const { windows, freezes, checks, diagnostics } = readEntries(file, spec);
  const named = readConditions(file, spec);
  const config = {
    workspace: spec.workspace,
    environments: file
      .keys('environments')
      .filter((name) => Object.hasOwn(spec.environments, name))
      .map((name) => environmentOf(name, spec)),
    ...(service?.url !== undefined && {
      serviceUrl: service.url,
      serviceUrlLocation: file.location(['service', 'url']),
    }),
    references: { segments: references?.segments ?? [], flags: references?.flags ?? [] },
    prune: spec.prune ?? false,
    suspend: spec.suspend ?? false,
    ...(typeof spec.state?.push === 'boolean' && { pushState: spec.state.push }),
    guards: spec.guards ?? {},
    ...present({
      defaultTrafficType: defaults?.trafficType,
      ownershipTag: spec.ownershipTag,
      onRemove: spec.onRemove,
      lint: spec.lint,
      ...Object.fromEntries(POLICIES.map((name) => [name, spec[name]])),
    }),
    ...(named.conditions.size > 0 && { conditions: named.conditions }),
    ...(windows.length > 0 && { windows }),
    ...(freezes.length > 0 && { freezes }),
    ...(checks.length > 0 && { checks }),
  };
  return { config, diagnostics: [...diagnostics, ...named.diagnostics, ...strangers(file, spec)] };
}

/** Names of windows and environments that flagkeel.yaml uses and does not have. */
function strangers(file: SpecFile, { environments, freezes = {}, lint }: ConfigSpec): Diagnostic[] {
  const windowNames = file.keys('windows');
  const environmentNames = Object.keys(environments);
  const unknown = (
    noun: 'window' | 'environment',
    names: readonly string[] = [],
    path: SpecPath,
  ): Diagnostic[] =>
    names.flatMap((name, at) =>
      file.unknownName(noun, name, noun === 'window' ? windowNames : environmentNames, {
        path: [...path, at],
      }),
    );
  return [
    ...Object.entries(environments).flatMap(([name, { windows }]) =>
      unknown('window', windows, ['environments', name, 'windows']),
    ),
    ...Object.entries(freezes).flatMap(([name, { environments: frozen }]) =>
      unknown('environment', frozen, ['freezes', name, 'environments']),
    ),
    ...unknown('environment', lint?.provenIn, ['lint', 'provenIn']),
  ];
}

function environmentOf(name: string, { environments }: ConfigSpec): EnvironmentConfig {
  const { guards, ...policies } = ownMember(environments, name) ?? {};
  return { name, ...policies, guards: guards ?? {} };
}

/** Reads the file of a daemon's sources. @param path the file's path in diagnostics. */
export function readWatchConfig(
  path: string,
  bytes: Uint8Array,
):
  | { readonly ok: true; readonly config: WatchSpec }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] } {
  const file = parseFile(path, 'watch', bytes);
  if (!file.valid) return { ok: false, diagnostics: file.diagnostics() };
  const config = file.value as WatchSpec;
  const names = new Set<string>();
  const diagnostics = config.sources.flatMap(({ name, directory, repo }, index): Diagnostic[] => {
    const isTwice = names.has(name);
    names.add(name);
    if (isTwice) {
      const path = ['sources', index, 'name'];
      return [file.diagnostic('wrong-value', { path }, `there are two sources "${name}"`)];
    }
    if ((directory === undefined) !== (repo === undefined)) return [];
    const message = `source "${name}" must name either a directory or a repo`;
    return [file.diagnostic('missing-field', { path: ['sources', index] }, message)];
  });
  return diagnostics.length > 0 ? { ok: false, diagnostics } : { ok: true, config };
}
