import type { WireFlag, WirePatchOperation, WireRolloutStatus } from '../../admin-api/wire.js';
import type { FlagSpec } from '../../generated/flag.schema.d.js';
import { sortedSet } from '../json.js';
import { FLAG_FIELDS, type FlagField, type FlagFields } from './flag.js';

/**
 * What kind of value a field has, which decides how it is written into a file, checked in a state, and shown: `prose` is
 * text for people, `name` the name of something, `names` a sorted set of them.
 */
export type FieldType = 'prose' | 'name' | 'names';

interface FieldRow<V> {
  readonly type: FieldType;
  /** Where the field stands among the others in a file that is written; lowest first. */
  readonly fileRank: number;
  /** Canonical value of what the spec says. Undefined: not managed. */
  readonly fromSpec: (spec: FlagSpec) => V | undefined;
  /** Canonical value of what the service answers; empty where it has none. */
  readonly fromWire: (wire: WireFlag) => V;
  readonly toPatch: (value: V, rolloutStatuses: readonly WireRolloutStatus[]) => WirePatchOperation;
}

/** One row for each field of a flag at workspace level. Two canonical values are compared as JSON. */
export const FLAG_FIELD_ROWS: {
  readonly [F in FlagField]: FieldRow<Required<FlagFields>[F]>;
} = {
  description: {
    type: 'prose',
    fileRank: 0,
    fromSpec: ({ description }) => description,
    fromWire: ({ description }) => description ?? '',
    toPatch: (value) => ({ op: 'replace', path: '/description', value }),
  },
  tags: {
    type: 'names',
    fileRank: 2,
    fromSpec: ({ tags }) => tags && sortedSet(tags),
    fromWire: ({ tags }) => sortedSet((tags ?? []).map(({ name }) => name)),
    toPatch: (tags) => ({ op: 'replace', path: '/tags', value: tags.map((name) => ({ name })) }),
  },
  rolloutStatus: {
    type: 'name',
    fileRank: 1,
    fromSpec: ({ rolloutStatus }) => rolloutStatus,
    fromWire: ({ rolloutStatus }) => rolloutStatus?.name ?? '',
    toPatch: (name, rolloutStatuses) => {
      const status = rolloutStatuses.find((each) => each.name === name);
      if (!status) throw new Error(`bug: rollout status "${name}" was not checked`);
      return { op: 'replace', path: '/rolloutStatus/id', value: status.id };
    },
  },
};

/** Undefined: the JSON Pointer of a changed field names none of a flag's workspace level. */
export function flagFieldType(path: string): FieldType | undefined {
  const field = FLAG_FIELDS.find((each) => path === `/${each}`);
  return field && FLAG_FIELD_ROWS[field].type;
}

/** In the order in which a file has them. */
export const FLAG_FIELDS_IN_FILE: readonly FlagField[] = FLAG_FIELDS.toSorted(
  (a, b) => FLAG_FIELD_ROWS[a].fileRank - FLAG_FIELD_ROWS[b].fileRank,
);

/** The managed fields of a spec. */
export function flagFieldsFromSpec(spec: FlagSpec): FlagFields {
  // Set one after the other: of ten thousand flags, spreads that depend would give each a hidden class of its own.
  const fields: Record<string, unknown> = {};
  for (const field of FLAG_FIELDS) {
    const value = FLAG_FIELD_ROWS[field].fromSpec(spec);
    if (value !== undefined) fields[field] = value;
  }
  return fields;
}

/** Canonical form of the service's flag, every field of it. */
export function flagFieldsFromWire(wire: WireFlag): Required<FlagFields> {
  const values = FLAG_FIELDS.map((field) => [field, FLAG_FIELD_ROWS[field].fromWire(wire)]);
  return Object.fromEntries(values) as Required<FlagFields>;
}

/** What writes the fields that are given. @param rolloutStatuses those of the workspace. */
export function flagFieldsPatch(
  fields: FlagFields,
  rolloutStatuses: readonly WireRolloutStatus[],
): WirePatchOperation[] {
  return FLAG_FIELDS.flatMap((field) => operationOf(field, fields[field], rolloutStatuses));
}

/** One field: the compiler pairs a row with its own value only where the field is one. */
function operationOf<F extends FlagField>(
  field: F,
  value: Required<FlagFields>[F] | undefined,
  rolloutStatuses: readonly WireRolloutStatus[],
): WirePatchOperation[] {
  return value === undefined ? [] : [FLAG_FIELD_ROWS[field].toPatch(value, rolloutStatuses)];
}
