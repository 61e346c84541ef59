import { grouped, sortedMap } from './collections.js';
import { byCodeUnits, canonicalJson, sha256 } from './json.js';

/** Attribute → value. */
export type Attributes = Readonly<Record<string, string>>;

/** Key → attributes. */
export type Identities = ReadonlyMap<string, Attributes>;

/** Identities that share a set of attributes, as a base remembers them: enough to find which key lost which attribute. */
export interface IdentityGroup {
  /** Sorted. */
  readonly attributes: readonly string[];
  /** Key → digest of its attributes with their values. */
  readonly keys: Readonly<Record<string, string>>;
}

/** Hex digits of a key's digest: enough to notice changes, not to prove anything. */
const DIGEST_LENGTH = 16;

/** Each key is in one group, and groups are sorted by their attributes: equal identities give equal groups. */
export function identityGroups(identities: Identities): readonly IdentityGroup[] {
  return groupsOf([...identities].map(([key, attributes]) => [key, rememberedOf(attributes)]));
}

/** All of it sorted. */
export interface IdentitiesDifference {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  /** Keys that were written but are no longer wanted. */
  readonly gone: readonly string[];
  /** Keys that are now wanted with fewer attributes. */
  readonly thinned: readonly string[];
}

export function identitiesDifference(
  wanted: Identities,
  base: readonly IdentityGroup[],
): IdentitiesDifference {
  const before = remembered(base);
  const keys = [...wanted].toSorted(([a], [b]) => byCodeUnits(a, b));
  const added = keys.filter(([key]) => !before.has(key));
  const changed = keys.filter(([key, attributes]) => {
    const was = before.get(key);
    return was !== undefined && was.digest !== digestOf(attributes);
  });
  const thinned = changed.filter(([key, attributes]) =>
    before.get(key)?.attributes.some((attribute) => !Object.hasOwn(attributes, attribute)),
  );
  return {
    added: added.map(([key]) => key),
    changed: changed.map(([key]) => key),
    gone: [...before.keys()].filter((key) => !wanted.has(key)).sort(byCodeUnits),
    thinned: thinned.map(([key]) => key),
  };
}

export function withWritten(
  base: readonly IdentityGroup[],
  written: Identities,
): readonly IdentityGroup[] {
  const all = remembered(base);
  for (const [key, attributes] of written) all.set(key, rememberedOf(attributes));
  return groupsOf(all);
}

/** The order does not matter. */
export function identitiesSha256(identities: Iterable<readonly [string, Attributes]>): string {
  const lines = Array.from(identities, (identity) => canonicalJson(identity)).sort(byCodeUnits);
  return sha256(lines.map((line) => `${line}\n`).join(''));
}

interface Remembered {
  readonly attributes: readonly string[];
  readonly digest: string;
}

function rememberedOf(attributes: Attributes): Remembered {
  return { attributes: Object.keys(attributes).sort(byCodeUnits), digest: digestOf(attributes) };
}

function digestOf(attributes: Attributes): string {
  return sha256(canonicalJson(attributes)).slice(0, DIGEST_LENGTH);
}

/** A map, because a key may be any word, such as `constructor`, which plain objects inherit. */
function remembered(groups: readonly IdentityGroup[]): Map<string, Remembered> {
  return new Map(
    groups.flatMap(({ attributes, keys }) =>
      Object.entries(keys).map(([key, digest]) => [key, { attributes, digest }] as const),
    ),
  );
}

function groupsOf(all: Iterable<readonly [string, Remembered]>): readonly IdentityGroup[] {
  return [...grouped(all, ([, { attributes }]) => canonicalJson(attributes))]
    .toSorted(([a], [b]) => byCodeUnits(a, b))
    .map(([, group]) => ({
      attributes: group[0]?.[1].attributes ?? [],
      keys: Object.fromEntries(sortedMap(group.map(([key, { digest }]) => [key, digest]))),
    }));
}
