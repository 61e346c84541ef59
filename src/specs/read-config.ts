import type { ConfigSpec } from '../generated/config.schema.d.ts';
import type { Config, EnvironmentConfig } from '../model/desired.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { SpecTree } from '../model/tree.js';
import { CONFIG_PATH, loadFile } from './load-files.js';
import type { SpecFile } from './parse-file.js';
import { fileDiagnostic } from './source-text.js';
import type { SpecMemory } from './spec-memory.js';
import { pointerOf } from './typed-value.js';

export type ConfigResult =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** flaghoist.yaml by itself. */
export async function readConfig(tree: SpecTree, memory?: SpecMemory): Promise<ConfigResult> {
  const entry = tree.list().find(({ path, type }) => path === CONFIG_PATH && type === 'file');
  if (entry === undefined) return { ok: false, diagnostics: [configMissing()] };
  const file = await loadFile(tree, entry, 'config', memory);
  if (!isValid(file)) return { ok: false, diagnostics: file.diagnostics() };
  return { ok: true, config: configOf(file, file.parsed.value), warnings: [] };
}

export function configMissing(): Diagnostic {
  const message = `there is no ${CONFIG_PATH} here (it names the workspace and its environments)`;
  return fileDiagnostic(CONFIG_PATH, 'config-missing', message);
}

/**
 * The config as far as it can be read: members that are wrong are left out. Undefined where workspace or environments
 * are not to be made out. For the lane of the kills, which no other mistake may stop.
 */
export function readableConfig(file: SpecFile): Config | undefined {
  if (isValid(file)) return configOf(file, file.parsed.value);
  const spec = file.parsed.value as Partial<ConfigSpec> | null | undefined;
  const { problems } = file.parsed;
  if (spec === null || typeof spec !== 'object') return undefined;
  if (problems.some(({ pointer, code }) => pointer === undefined && code !== 'api-key-in-file')) {
    return undefined;
  }
  const isSound = (...path: string[]): boolean =>
    !problems.some(({ pointer = '' }) => `${pointer}/`.startsWith(`${pointerOf(path)}/`));
  const { workspace } = spec;
  const names = file.keys('environments').filter((name) => isSound('environments', name));
  if (workspace === undefined || !isSound('workspace') || names.length === 0) return undefined;
  const environments = Object.fromEntries(
    names.map((name) => [name, spec.environments?.[name] ?? {}]),
  );
  const { service } = spec;
  return configOf(file, {
    workspace,
    environments,
    ...(service !== undefined && isSound('service') && { service }),
  });
}

function isValid(file: SpecFile): file is SpecFile & { parsed: { value: ConfigSpec } } {
  return file.valid;
}

function configOf(file: SpecFile, spec: ConfigSpec): Config {
  const { onDrift, onConflict, onLiveKill, references, defaults, service } = spec;
  return {
    workspace: spec.workspace,
    environments: file
      .keys('environments')
      .filter((name) => Object.hasOwn(spec.environments, name))
      .map((name) => environmentOf(name, spec)),
    ...(service?.url !== undefined && {
      serviceUrl: service.url,
      serviceUrlLocation: file.location(['service', 'url']),
    }),
    ...(defaults?.trafficType !== undefined && { defaultTrafficType: defaults.trafficType }),
    references: { segments: references?.segments ?? [], flags: references?.flags ?? [] },
    prune: spec.prune ?? false,
    suspend: spec.suspend ?? false,
    ...(spec.state?.push !== undefined && { pushState: spec.state.push }),
    guards: spec.guards ?? {},
    ...(onDrift !== undefined && { onDrift }),
    ...(onConflict !== undefined && { onConflict }),
    ...(onLiveKill !== undefined && { onLiveKill }),
  };
}

function environmentOf(name: string, { environments }: ConfigSpec): EnvironmentConfig {
  const { guards, ...policies } = environments[name] ?? {};
  return { name, ...policies, guards: guards ?? {} };
}
