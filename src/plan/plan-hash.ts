import { canonicalJson, byCodeUnits, sha256 } from '../kinds/json.js';
import type { ObjectId } from '../model/object-id.js';
import type { Change, Plan } from '../model/plan.js';

/**
 * What two plans must share to be the same plan: the place and what will be written there, and nothing of why, by
 * whom, from which file or in which order. Survives a merge and a squash.
 *
 * @param place `origin` of the service, or `embedded`.
 * @param reviewed ids of the objects that count; absent or null: all.
 * @returns `sha256:` and lower-case hex of the RFC 8785 form.
 */
export function planHash(
  plan: Pick<Plan, 'changes'>,
  place: { origin: string; workspaceId: string },
  reviewed?: ReadonlySet<ObjectId> | null,
): string {
  const changes = plan.changes
    .filter(({ id }) => reviewed?.has(id) ?? true)
    .sort((a, b) => byCodeUnits(a.id, b.id))
    .map(hashedChange);
  return `sha256:${sha256(canonicalJson({ origin: place.origin, workspace: place.workspaceId, changes }))}`;
}

/** The part of one change that counts. */
function hashedChange({ id, action, fields, keys }: Change): object {
  return {
    id,
    action,
    fields: fields.map((field) => ({
      path: field.path,
      ...(field.after !== undefined && { after: field.after }),
      ...(field.keys && { keys: hashedKeys(field.keys) }),
    })),
    ...(keys && { keys: hashedKeys(keys) }),
  };
}

function hashedKeys(keys: Change['keys'] & object): {
  added: number;
  removed: number;
  changed?: number;
  sha256: string;
} {
  return {
    added: keys.added.length,
    removed: keys.removed.length,
    ...(keys.changed && { changed: keys.changed.length }),
    sha256: keys.sha256,
  };
}
