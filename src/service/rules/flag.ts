import type { WireFlag } from '../../api/wire.js';
import { applyPatch, type PatchOperation } from './json-patch.js';
import { checkShape, checkUntouched, compileSchema } from './shape.js';

/** What a client may set of a flag at the level of the workspace. */
export interface FlagContent {
  readonly description: string;
  /** Unique, in the order given. */
  readonly tags: readonly string[];
  readonly owners: readonly unknown[];
  readonly rolloutStatusId: string;
}

const hasShape = compileSchema({
  type: 'object',
  properties: {
    description: { type: ['string', 'null'], maxLength: 10_000 },
    tags: {
      type: ['array', 'null'],
      maxItems: 1_000,
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string', minLength: 1, maxLength: 256 } },
      },
    },
    owners: {
      type: ['array', 'null'],
      maxItems: 1_000,
      items: {
        type: 'object',
        required: ['id', 'type'],
        properties: { id: { type: 'string' }, type: { enum: ['User', 'Team'] } },
      },
    },
    rolloutStatus: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string' } },
    },
  },
  required: ['rolloutStatus'],
});

const FIXED = ['id', 'name', 'trafficType', 'creationTime', 'rolloutStatusTimestamp'] as const;

/**
 * The flag as a patch makes it. Lists that are sent as null, or not at all, are empty ones to the patch, so that the
 * first tag can be added.
 *
 * @throws Problem (400) the patch cannot be run, or touches what cannot be changed.
 */
export function flagPatched(
  flag: WireFlag & { readonly owners?: readonly unknown[] },
  operations: readonly PatchOperation[],
): FlagContent {
  const before = { ...flag, tags: flag.tags ?? [], owners: flag.owners ?? [] };
  const after = applyPatch(before, operations);
  checkShape(hasShape, after, 'Feature flag');
  const patched = after as {
    description?: string | null;
    tags?: { name: string }[] | null;
    owners?: unknown[] | null;
    rolloutStatus: { id: string };
  };
  checkUntouched(before, patched, FIXED);
  return {
    description: patched.description ?? '',
    tags: [...new Set((patched.tags ?? []).map(({ name }) => name))],
    owners: patched.owners ?? [],
    rolloutStatusId: patched.rolloutStatus.id,
  };
}
