import { sameJson } from '../kinds/json.js';
import type { Base } from '../model/state.js';

/** A base with this spec. The commit stays as long as the spec does: it is where this spec came from. */
export function baseOf<T>(spec: T, before: Base<T> | undefined, head: string | null): Base<T> {
  const same = before?.spec !== undefined && sameJson(before.spec, spec);
  // The one that is held already: of ten thousand objects nobody needs it twice.
  return same ? { spec: before.spec, commit: before.commit ?? head } : { spec, commit: head };
}
