/** Kinds of objects that a plan can change. */
export const KINDS = ['flag', 'segment', 'identities'] as const;

export type Kind = (typeof KINDS)[number];

/**
 * One thing that is compared and changed by itself: an object at workspace level (`environment` null), or its part in
 * one environment.
 */
export interface ObjectRef {
  readonly kind: Kind;
  readonly name: string;
  /** Name of the environment as the service has it, not as the config writes it. */
  readonly environment: string | null;
}

/** `KIND/NAME`: an object as a whole, as the state and the filters of a run name it. */
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

/** Undefined where the kind is none of ours. An id gives its environment as a part of the name: see `keyOfId`. */
export function parseKey(
  key: ObjectKey,
): { readonly kind: Kind; readonly name: string } | undefined {
  const slash = key.indexOf('/');
  const kind = KINDS.find((each) => each === key.slice(0, slash));
  return slash === -1 || kind === undefined ? undefined : { kind, name: key.slice(slash + 1) };
}

/** The whole object that an id is about. */
export function keyOfId(id: ObjectId): ObjectKey {
  return id.split('@', 1)[0] ?? id;
}

/** What an id is about; undefined where its kind is none of ours. */
export function refOfId(id: ObjectId): ObjectRef | undefined {
  const object = parseKey(keyOfId(id));
  const at = id.indexOf('@');
  return object && { ...object, environment: at === -1 ? null : id.slice(at + 1) };
}
