import type { Diagnostic } from '../model/diagnostic.js';
import { didYouMean } from '../specs/parse/suggest.js';
import { inOrder, type SpecParts } from '../specs/read-specs.js';
import type { Place } from './rule.js';

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
export function missingOnService({ specs }: SpecParts, names: NamesOnService): Diagnostic[] {
  const { config, loaded, named } = specs;
  const [configFile] = loaded.files.config;
  if (config === undefined || configFile === undefined) return [];
  const diagnostics: Diagnostic[] = [];
  const check = (
    what: string,
    name: string | undefined,
    known: readonly string[] | null,
    { file, ...place }: Place,
  ): void => {
    if (name === undefined || known === null || known.includes(name)) return;
    const message = `workspace "${names.workspace}" has no ${what} "${name}"${didYouMean(name, known)}`;
    diagnostics.push(file.diagnostic('not-on-service', place, message));
  };
  const inConfig = (...path: Place['path']): Place => ({ file: configFile, path });
  // The config may call an environment by its id.
  const environments = names.environments.flatMap(({ id, name }) => [name, id]);
  for (const { name } of config.environments) {
    check('environment', name, environments, { ...inConfig('environments', name), at: 'key' });
  }
  for (const [position, name] of config.references.segments.entries()) {
    check('segment', name, names.segments, inConfig('references', 'segments', position));
  }
  for (const [position, name] of config.references.flags.entries()) {
    check('flag', name, names.flags, inConfig('references', 'flags', position));
  }
  const checkType = (name: string | undefined, place: Place): void => {
    check('traffic type', name, names.trafficTypes, place);
  };
  // Once, and not for each object that inherits it.
  checkType(config.defaultTrafficType, inConfig('defaults', 'trafficType'));
  for (const { file, spec } of [...named.flag.values(), ...named.segment.values()]) {
    checkType(spec.trafficType, { file, path: ['trafficType'] });
  }
  for (const { file, spec } of named.flag.values()) {
    const place = { file, path: ['rolloutStatus'] };
    check('rollout status', spec.rolloutStatus, names.rolloutStatuses, place);
  }
  return inOrder(diagnostics);
}
