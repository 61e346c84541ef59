/** Kinds of objects that a plan can change. */
export type Kind = 'flag' | 'segment' | 'identities';

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

/** `KIND/NAME` or `KIND/NAME@ENVIRONMENT`. */
export type ObjectId = string;

export function objectId(ref: ObjectRef): ObjectId {
  const base = `${ref.kind}/${ref.name}`;
  return ref.environment === null ? base : `${base}@${ref.environment}`;
}
