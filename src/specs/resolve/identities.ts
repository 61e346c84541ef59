import { MAX_KEYS_PER_SEGMENT } from '../../admin-api/wire.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import type { Desired, DesiredIdentities, DesiredKeys } from '../../model/desired.js';
import type { Attributes } from '../../model/identities.js';
import type { SpecFile } from '../parse/parse-file.js';
import { keptIn, sortedMap } from '../../model/collections.js';
import {
  environmentDiagnostics,
  fileNameOf,
  trafficTypeOf,
  validOf,
  type SpecSet,
} from './spec-set.js';

/** Files for the same traffic type and environment are merged; a key in two of them is an error. */
export function resolveIdentities(specs: SpecSet, found: Diagnostic[]): Desired['identities'] {
  const together = new Map<string, InOnePlace>();
  for (const each of [...yamlFiles(specs, found), ...csvFiles(specs, found)]) {
    const { file, trafficType, environment, path } = each;
    const id = `${trafficType} ${environment}`;
    const entry = keptIn(together, id, () => ({ ...each, keys: new Map() }));
    for (const [key, attributes] of Object.entries(each.keys)) {
      if (entry.keys.has(key)) {
        const message = `key "${key}" of ${trafficType} in ${environment} stands in ${entry.file.path} already`;
        const place = { path: [...path, key], at: 'key' } as const;
        found.push(file.diagnostic('duplicate-identity', place, message));
      }
      entry.keys.set(key, attributes);
    }
  }
  const all = new Map<string, DesiredIdentities & { environments: Map<string, DesiredKeys> }>();
  for (const { file, trafficType, environment, keys } of sortedMap(together).values()) {
    const location = file.location([]);
    // The contract limits the keys of a segment; here the limit bounds the size of the state.
    if (keys.size > MAX_KEYS_PER_SEGMENT) {
      const message = `${keys.size} identities of ${trafficType} in ${environment}; at most ${MAX_KEYS_PER_SEGMENT} are taken`;
      found.push({ severity: 'error', code: 'key-number', location, message });
    }
    const name = trafficType;
    const made = { name, location, trafficType, environments: new Map() };
    const { environments } = keptIn(all, name, () => made);
    environments.set(environment, { location, keys: sortedMap(keys) });
  }
  return all;
}

type InOnePlace = Omit<IdentitiesFile, 'keys'> & { readonly keys: Map<string, Attributes> };

interface IdentitiesFile {
  readonly file: SpecFile;
  readonly trafficType: string;
  readonly environment: string;
  readonly keys: Readonly<Record<string, Attributes>>;
  /** Path of the keys inside the file. */
  readonly path: readonly string[];
}

/** Files whose content names their traffic type and environment. */
function yamlFiles(specs: SpecSet, found: Diagnostic[]): IdentitiesFile[] {
  const files = validOf(specs.loaded, 'identities');
  return files.map(({ file, spec: { identities } }) => {
    const { environment, keys, trafficType: written } = identities;
    const trafficType = trafficTypeOf(specs, { file, written, member: 'identities' }, found);
    const place = { file, path: ['identities', 'environment'] };
    found.push(...environmentDiagnostics(specs, place, environment));
    return { file, trafficType, environment, keys, path: ['identities', 'keys'] };
  });
}

/** Files whose name does so: `TRAFFIC_TYPE.ENVIRONMENT.csv`. The name of an environment may contain a dot. */
function csvFiles(specs: SpecSet, found: Diagnostic[]): IdentitiesFile[] {
  const files = validOf(specs.loaded, 'identities-csv');
  return files.flatMap(({ file, spec: keys }) => {
    const name = fileNameOf(file.path).replace(/\.csv$/, '');
    const dot = name.indexOf('.');
    if (dot < 1 || dot === name.length - 1) {
      const message = 'the file is to be named <traffic type>.<environment>.csv';
      found.push(file.diagnostic('file-name', { path: [] }, message));
      return [];
    }
    const environment = name.slice(dot + 1);
    found.push(...environmentDiagnostics(specs, { file, path: [] }, environment));
    return [{ file, trafficType: name.slice(0, dot), environment, keys, path: [] }];
  });
}
