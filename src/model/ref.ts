export const KINDS = ['flag', 'segment', 'identities'] as const;

export type Kind = (typeof KINDS)[number];

/** The unit of comparison and change: an object at workspace level, or its part in one environment. */
export interface ObjectRef {
  readonly kind: Kind;
  readonly name: string;
  /** Name of the environment on the service, which may differ from its name in the config. */
  readonly environment: string | null;
}

/** `KIND/NAME`. */
export type ObjectKey = string;

/** `KIND/NAME` or `KIND/NAME@ENVIRONMENT`. */
export type ObjectId = string;

export function keyOf(kind: Kind, name: string): ObjectKey {
  return `${kind}/${name}`;
}

export function objectId({ kind, name, environment }: ObjectRef): ObjectId {
  const key = keyOf(kind, name);
  return environment === null ? key : `${key}@${environment}`;
}

export function definitionId(at: {
  readonly flag: string;
  readonly environment: string;
}): ObjectId {
  return objectId({ kind: 'flag', name: at.flag, environment: at.environment });
}

/** Undefined for an unknown kind. For an id the environment stays a part of the name: see `keyOfId`. */
export function parseKey(
  key: ObjectKey,
): { readonly kind: Kind; readonly name: string } | undefined {
  const slash = key.indexOf('/');
  const kind = KINDS.find((each) => each === key.slice(0, slash));
  return slash === -1 || kind === undefined ? undefined : { kind, name: key.slice(slash + 1) };
}

export function keyOfId(id: ObjectId): ObjectKey {
  return id.split('@', 1)[0] ?? id;
}

export function refOfId(id: ObjectId): ObjectRef | undefined {
  const object = parseKey(keyOfId(id));
  const at = id.indexOf('@');
  return object && { ...object, environment: at === -1 ? null : id.slice(at + 1) };
}

/*
 * The product's guide gives the rules for names of flags and the reserved words of treatments; the contract gives none.
 * Where no source is known, the pattern only excludes what a path or a file name could not hold.
 */
export const FLAG_NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;
export const SEGMENT_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
export const TREATMENT_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

export const RESERVED_FLAG_NAMES: ReadonlySet<string> = new Set(
  'datetime string set integer'.split(' '),
);

/** The product's editor refuses these names, and names that do not begin with a letter. */
export const RESERVED_TREATMENT_NAMES: ReadonlySet<string> = new Set(
  (
    'all and between contain contains control datetime does end ends false has have if in is match matches not ' +
    'number set split start starts string then treatment true with'
  ).split(' '),
);

export const TREATMENT_COUNT = { least: 2, most: 20 } as const;
