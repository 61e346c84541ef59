import { MAX_KEYS_PER_SEGMENT } from '../../admin-api/wire.js';
import type { IdentitiesSpec } from '../../generated/identities.schema.d.js';
import type { DesiredIdentities } from '../../model/desired.js';
import type { Attributes } from '../../model/identities.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import type { SpecFile } from '../parse/parse-file.js';
import { sortedMap } from '../../model/collections.js';
import {
  environmentDiagnostics,
  fileNameOf,
  trafficTypeOf,
  validOf,
  type SpecSet,
} from './spec-set.js';

/** Files for the same traffic type and environment are merged; a key in two of them is an error. */
export function resolveIdentities(specs: SpecSet, found: Diagnostic[]): DesiredIdentities[] {
  const together = new Map<string, DesiredIdentities & { keys: Map<string, Attributes> }>();
  for (const each of [...yamlFiles(specs, found), ...csvFiles(specs, found)]) {
    const { file, trafficType, environment, path } = each;
    const id = `${trafficType} ${environment}`;
    const first = { location: file.location([]), trafficType, environment, keys: new Map() };
    const entry = together.get(id) ?? first;
    together.set(id, entry);
    for (const [key, attributes] of Object.entries(each.keys)) {
      if (entry.keys.has(key)) {
        const message = `key "${key}" of ${trafficType} in ${environment} stands in ${entry.location.file} already`;
        const place = { path: [...path, key], at: 'key' } as const;
        found.push(file.diagnostic('duplicate-identity', place, message));
      }
      entry.keys.set(key, attributes);
    }
  }
  return [...sortedMap(together).values()].map((each) => {
    const { location, trafficType, environment, keys } = each;
    // The contract limits the keys of a segment; here the limit bounds the size of the state.
    if (keys.size > MAX_KEYS_PER_SEGMENT) {
      const message = `${keys.size} identities of ${trafficType} in ${environment}; at most ${MAX_KEYS_PER_SEGMENT} are taken`;
      found.push({ severity: 'error', code: 'key-number', location, message });
    }
    return { ...each, keys: sortedMap(keys) };
  });
}

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
  const files = validOf<IdentitiesSpec>(specs.loaded, 'identities');
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
  const files = validOf<IdentitiesFile['keys']>(specs.loaded, 'identities-csv');
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
