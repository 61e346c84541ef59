import type { Config } from '../model/desired.js';
import type { Diagnostic, SpecPath } from '../model/diagnostic.js';
import type { SpecFile } from '../specs/parse/parse-file.js';
import { didYouMean } from '../specs/parse/suggest.js';
import { inOrder, type SpecParts } from '../specs/read-specs.js';

/** Null for a kind that the service does not list. */
interface NamesOnService {
  readonly workspace: string;
  readonly environments: readonly { readonly id: string; readonly name: string }[];
  readonly trafficTypes: readonly string[] | null;
  readonly rolloutStatuses: readonly string[] | null;
  readonly segments: readonly string[] | null;
  readonly flags: readonly string[] | null;
}

/** Names in the specs that the service does not have. Objects that a run would create are not checked. */
export function missingOnService(parts: SpecParts, names: NamesOnService): Diagnostic[] {
  const { config, loaded } = parts.specs;
  const [configFile] = loaded.files.get('config') ?? [];
  if (config === undefined || configFile === undefined) return [];
  const named = [
    ...environmentsIn(config, configFile, names),
    ...referencesIn(config, configFile, names),
    ...trafficTypesIn(parts, config, configFile, names),
    ...[...parts.specs.flags.values()].flatMap(
      ({ file, spec: { rolloutStatus: name } }): Named[] => {
        const path = ['rolloutStatus'];
        const known = names.rolloutStatuses;
        return name === undefined ? [] : [{ file, path, what: 'rollout status', name, known }];
      },
    ),
  ];
  return inOrder(named.flatMap((each) => missing(each, names.workspace)));
}

interface Named {
  readonly file: SpecFile;
  readonly path: SpecPath;
  readonly at?: 'key';
  readonly what: string;
  readonly name: string;
  readonly known: readonly string[] | null;
}

function missing({ file, path, at, what, name, known }: Named, workspace: string): Diagnostic[] {
  if (known === null || known.includes(name)) return [];
  const message = `workspace "${workspace}" has no ${what} "${name}"${didYouMean(name, known)}`;
  return [file.diagnostic('not-on-service', { path, ...(at && { at }) }, message)];
}

/** Accepts ids too: the config may call an environment by its id. */
function environmentsIn(config: Config, file: SpecFile, { environments }: NamesOnService): Named[] {
  const known = environments.flatMap(({ id, name }) => [name, id]);
  return config.environments.map(({ name }) => {
    return { file, path: ['environments', name], at: 'key', what: 'environment', name, known };
  });
}

function referencesIn(
  { references }: Config,
  file: SpecFile,
  { segments, flags }: NamesOnService,
): Named[] {
  const of = (member: 'segments' | 'flags', what: string, known: readonly string[] | null) =>
    references[member].map((name, position) => {
      return { file, path: ['references', member, position], what, name, known };
    });
  return [...of('segments', 'segment', segments), ...of('flags', 'flag', flags)];
}

/** Reports a traffic type of the config once, not once per object that inherits it. */
function trafficTypesIn(
  { specs }: SpecParts,
  { defaultTrafficType }: Config,
  configFile: SpecFile,
  { trafficTypes: known }: NamesOnService,
): Named[] {
  const what = 'traffic type';
  const own = [...specs.flags.values(), ...specs.segments.values()].flatMap(({ file, spec }) => {
    const name = spec.trafficType;
    return name === undefined ? [] : [{ file, path: ['trafficType'], what, name, known }];
  });
  const path = ['defaults', 'trafficType'];
  return defaultTrafficType === undefined
    ? own
    : [...own, { file: configFile, path, what, name: defaultTrafficType, known }];
}
