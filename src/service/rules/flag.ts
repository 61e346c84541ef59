import type { WireFlag } from '../../admin-api/wire.js';
import { badRequest } from '../http/problem.js';
import { applyPatch, type PatchOperation } from './json-patch.js';
import { closed, checkShape, checkUntouched, compileSchema, type Schema } from './shape.js';
import { NAME_SCHEMA, WORDS_MEMBERS } from './members.js';

export interface FlagContent {
  readonly description: string;
  /** Unique, in the order given. */
  readonly tags: readonly string[];
  readonly owners: readonly unknown[];
  /** The service refuses a name that is not that of the status with this id. */
  readonly rolloutStatus: { readonly id: string; readonly name?: string };
}

/**
 * The members of a flag that clients may set. The contract leaves the shape of an owner and of a tag open; these shapes
 * are those of public documentation.
 */
const MEMBERS = {
  description: { type: 'string', maxLength: 10_000 },
  tags: {
    type: ['array', 'null'],
    maxItems: 1_000,
    items: closed({ name: { type: 'string', minLength: 1, maxLength: 256 } }, ['name']),
  },
  owners: {
    type: 'array',
    maxItems: 1_000,
    items: closed({ id: { type: 'string' }, type: { enum: ['User', 'Team'] } }, ['id', 'type']),
  },
} satisfies Readonly<Record<string, Schema>>;

export const NEW_FLAG_SCHEMA: Schema = closed({ name: NAME_SCHEMA, ...MEMBERS, ...WORDS_MEMBERS }, [
  'name',
]);

/** Members that a patch cannot change. Name and traffic type are fixed when a flag is created. */
const FIXED = ['id', 'name', 'trafficType', 'creationTime', 'rolloutStatusTimestamp'] as const;

const hasShape = compileSchema(
  closed(
    {
      ...Object.fromEntries(FIXED.map((name) => [name, true])),
      ...MEMBERS,
      rolloutStatus: closed({ id: { type: 'string' }, name: { type: 'string' } }, ['id']),
    },
    ['rolloutStatus'],
  ),
);

export interface GivenFlagMembers {
  readonly description?: string;
  readonly tags?: readonly { readonly name: string }[] | null;
  readonly owners?: readonly unknown[];
}

/** Tags may be null. */
export function flagMembersFrom(given: GivenFlagMembers): Omit<FlagContent, 'rolloutStatus'> {
  return {
    description: given.description ?? '',
    tags: [...new Set((given.tags ?? []).map(({ name }) => name))],
    owners: given.owners ?? [],
  };
}

/**
 * The patch sees empty lists in place of lists that are null or absent in answers, so that it can add the first tag.
 *
 * @throws Problem (400)
 */
export function flagPatched(
  flag: WireFlag & { readonly owners?: readonly unknown[] },
  operations: readonly PatchOperation[],
  isStrict = false,
): FlagContent {
  const before = { ...flag, tags: flag.tags ?? [], owners: flag.owners ?? [] };
  const after = applyPatch(before, operations);
  checkShape(hasShape, after, 'Feature flag');
  const patched = after as GivenFlagMembers & Pick<FlagContent, 'rolloutStatus'>;
  // The contract does not show the shape of an owner.
  checkUntouched(before, patched, isStrict ? [...FIXED, 'owners'] : FIXED);
  return {
    ...flagMembersFrom(patched),
    rolloutStatus: statusFrom(flag.rolloutStatus, patched.rolloutStatus),
  };
}

/** If the patch changed the id alone, the name is still that of the old status and is ignored. */
function statusFrom(
  before: WireFlag['rolloutStatus'],
  { id, name }: FlagContent['rolloutStatus'],
): FlagContent['rolloutStatus'] {
  if (name === undefined || name === before?.name) return { id };
  if (id === before?.id) throw badRequest('rolloutStatus/name cannot be changed');
  return { id, name };
}

/**
 * From JSON text or plain text; no body is an empty description.
 *
 * @throws Problem (400) the body is JSON but no text, or longer than 10,000 characters.
 */
export function descriptionFrom(body: unknown): string {
  const text = body ?? '';
  if (typeof text !== 'string') throw badRequest('Body must be the description as text');
  if (text.length > 10_000) throw badRequest('A description has at most 10000 characters');
  return text;
}
