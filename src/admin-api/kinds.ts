import type { Actual, Scope } from '../model/actual.js';
import type { Kind } from '../model/ref.js';
import { DEFINITION_WRITES } from './definition-writes.js';
import { FLAG_WRITES } from './flag-writes.js';
import { FlagObservation, typesOf } from './flags.js';
import { IDENTITY_WRITES } from './identities.js';
import type { AdminReader } from './reader.js';
import { listSegments, observeSegments, SEGMENT_WRITES } from './segments.js';
import type { Catalog } from './workspace.js';
import type { Writes } from './write-call.js';

export const KIND_WRITES = {
  ...FLAG_WRITES,
  ...DEFINITION_WRITES,
  ...SEGMENT_WRITES,
  ...IDENTITY_WRITES,
} satisfies Partial<Writes>;

/**
 * Reads the objects in scope. Equal answers give equal values in any order of arrival.
 *
 * @param onSeen called with the number of further definitions and activations that were seen, or found absent.
 * @throws FlagkeelError if anything could not be read completely; nothing is guessed.
 */
export async function observe(
  reader: AdminReader,
  at: Catalog,
  scope: Scope,
  onSeen: (count: number) => void = () => undefined,
): Promise<Actual> {
  const [{ types, ...flags }, { listed, ...segments }] = await Promise.all([
    new FlagObservation(reader, at, scope, onSeen).flags(),
    observeSegments(reader, at, scope, onSeen),
  ]);
  return {
    rolloutStatuses: at.rolloutStatuses ?? [],
    trafficTypeIds: new Map([...typesOf(listed), ...types, ...at.trafficTypeIds]),
    ...flags,
    ...segments,
  };
}

type Listed = readonly { readonly name: string }[] | null;

const LISTS: Readonly<Record<Kind, (reader: AdminReader, id: string) => Promise<Listed>>> = {
  flag: async (reader, id) => reader.listFlags(id),
  segment: listSegments,
  identities: async () => Promise.resolve(null),
};

/** Names of all objects of a kind, in the service's order; null if the service has no list of them. */
export async function namesOnService(
  reader: AdminReader,
  { workspace: { id } }: Catalog,
  kind: Kind,
): Promise<readonly string[] | null> {
  const listed = await LISTS[kind](reader, id);
  return listed?.map(({ name }) => name) ?? null;
}
