import { isDeepStrictEqual } from 'node:util';
import type { RawFields, RawState } from './raw-state.js';
import type { Written, WrittenFields, WrittenKeys, WrittenTreatment } from './written.js';

/** Something that is not as the files want it. */
export interface Difference {
  /** `KIND/NAME` or `KIND/NAME@ENVIRONMENT`. */
  readonly id: string;
  /** Of a field, as plans name it; `''`: all of the object is missing. */
  readonly path: string;
}

/**
 * Where what the service holds is not what the files say. A second comparison beside the planner's, which shares no code
 * with it: `written` and `raw-state` read both sides for it.
 */
export function differencesBetween({ objects, kills }: Written, raw: RawState): Difference[] {
  const found: Difference[] = [];
  for (const [id, wanted] of objects) {
    const live = raw.get(id);
    if (live) found.push(...differingPaths(wanted, live).map((path) => ({ id, path })));
    else found.push({ id, path: '' });
  }
  // A kill that nobody ordered is a difference whatever the files say of it, and so is one that was not carried out.
  for (const [id, live] of raw) {
    const isSaid = objects.get(id)?.has('/killed') === true;
    const isOrdered = kills.has(id);
    const isKilled = live.get('/killed') === true;
    const isOurs = objects.has(id);
    if (isOrdered ? !isKilled && !isSaid : isKilled && isOurs && !isSaid) {
      found.push({ id, path: '/killed' });
    }
  }
  return found;
}

export function differingPaths(wanted: WrittenFields, live: RawFields): string[] {
  return [...wanted].flatMap(([path, value]) =>
    isSatisfied(path, value, live.get(path)) ? [] : [path],
  );
}

/** Whether a field is as it is wanted; of what is not said nothing is asked. */
export function isSatisfied(path: string, wanted: unknown, live: unknown): boolean {
  if (path === '/treatments') {
    return areTreatments(wanted as WrittenTreatment[], live as Required<WrittenTreatment>[]);
  }
  if (path === 'keys') return areKeys(wanted as WrittenKeys, live as string[]);
  // Of a treatment that is not there yet no target is.
  return isDeepStrictEqual(wanted, path.startsWith('/targets/') ? (live ?? []) : live);
}

function areTreatments(
  wanted: readonly WrittenTreatment[],
  live: readonly Required<WrittenTreatment>[],
): boolean {
  return (
    wanted.length === live.length &&
    wanted.every(({ name, description, configuration }, index) => {
      const there = live[index];
      return (
        there?.name === name &&
        (description === undefined || there.description === description) &&
        (configuration === undefined || isDeepStrictEqual(there.configuration, configuration))
      );
    })
  );
}

function areKeys({ mode, keys }: WrittenKeys, live: readonly string[]): boolean {
  if (mode === 'external') return true;
  if (mode === 'add-only') return keys.every((key) => live.includes(key));
  return isDeepStrictEqual(keys, live);
}
