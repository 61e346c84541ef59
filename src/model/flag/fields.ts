import type { WireFlag, WirePatchOperation, WireRolloutStatus } from '../../admin-api/wire.js';
import type { FlagSpec } from '../../generated/flag.schema.d.js';
import { sameJson, sortedSet } from '../json.js';

/** At workspace level. Git does not manage an absent field. */
export interface FlagFields {
  readonly description?: string;
  /** Sorted, unique. */
  readonly tags?: readonly string[];
  readonly rolloutStatus?: string;
}

export type FlagField = keyof FlagFields;

export interface FlagFieldsChange {
  /** Only fields that the patch writes and whose value was known. */
  readonly before: FlagFields;
  readonly after: FlagFields;
}

/** Decides how a value is written into a file, checked in a state, and shown: `names` is a sorted set. */
export type FieldType = 'prose' | 'name' | 'names';

interface FieldRow<V> {
  readonly type: FieldType;
  /** Undefined if git does not manage the field. */
  readonly fromSpec: (spec: FlagSpec) => V | undefined;
  /** An empty value where the service has none. */
  readonly fromWire: (wire: WireFlag) => V;
  readonly toPatch: (value: V, rolloutStatuses: readonly WireRolloutStatus[]) => WirePatchOperation;
}

/**
 * One row for each field of a flag at workspace level, in the order in which plans show them. Two canonical values are
 * compared as JSON.
 */
export const FLAG_FIELD_ROWS: {
  readonly [F in FlagField]: FieldRow<Required<FlagFields>[F]>;
} = {
  description: {
    type: 'prose',
    fromSpec: ({ description }) => description,
    fromWire: ({ description }) => description ?? '',
    toPatch: (value) => ({ op: 'replace', path: '/description', value }),
  },
  tags: {
    type: 'names',
    fromSpec: ({ tags }) => tags && sortedSet(tags),
    fromWire: ({ tags }) => sortedSet((tags ?? []).map(({ name }) => name)),
    toPatch: (tags) => ({ op: 'replace', path: '/tags', value: tags.map((name) => ({ name })) }),
  },
  rolloutStatus: {
    type: 'name',
    fromSpec: ({ rolloutStatus }) => rolloutStatus,
    fromWire: ({ rolloutStatus }) => rolloutStatus?.name ?? '',
    toPatch: (name, rolloutStatuses) => {
      const status = rolloutStatuses.find((each) => each.name === name);
      if (!status) throw new Error(`bug: rollout status "${name}" was not checked`);
      return { op: 'replace', path: '/rolloutStatus/id', value: status.id };
    },
  },
};

export const FLAG_FIELDS = Object.keys(FLAG_FIELD_ROWS) as readonly FlagField[];

const isSet = (field: FlagField): number => Number(FLAG_FIELD_ROWS[field].type === 'names');
export const FLAG_FIELDS_IN_FILE = FLAG_FIELDS.toSorted((a, b) => isSet(a) - isSet(b));

export function flagFieldType(path: string): FieldType | undefined {
  const field = FLAG_FIELDS.find((each) => path === `/${each}`);
  return field && FLAG_FIELD_ROWS[field].type;
}

export function flagFieldsFromSpec(spec: FlagSpec): FlagFields {
  // Set one after the other: conditional spreads would give each of ten thousand flags a hidden class of its own.
  const fields: Record<string, unknown> = {};
  for (const field of FLAG_FIELDS) {
    const value = FLAG_FIELD_ROWS[field].fromSpec(spec);
    if (value !== undefined) fields[field] = value;
  }
  return fields;
}

/** The fields with one more tag; unchanged without one. @param tags those beside it. Default: those of the fields. */
export function withTag(
  fields: FlagFields,
  added: string | undefined,
  tags: readonly string[] = fields.tags ?? [],
): FlagFields {
  return added === undefined ? fields : { ...fields, tags: sortedSet([...tags, added]) };
}

/** Whether a flag differs in nothing but this tag, which it lacks on the service. */
export function lacksOnly(
  tag: string | undefined,
  fields: readonly { readonly path: string; readonly before?: unknown; readonly after?: unknown }[],
): boolean {
  const isLacked = ({ path, before, after }: (typeof fields)[number]): boolean =>
    path === '/tags' && sameJson(withTag({ tags: before as readonly string[] }, tag).tags, after);
  return tag !== undefined && fields.every(isLacked);
}

export function flagFieldsFromWire(wire: WireFlag): Required<FlagFields> {
  const values = FLAG_FIELDS.map((field) => [field, FLAG_FIELD_ROWS[field].fromWire(wire)]);
  return Object.fromEntries(values) as Required<FlagFields>;
}

export function flagFieldsPatch(
  fields: FlagFields,
  rolloutStatuses: readonly WireRolloutStatus[],
): WirePatchOperation[] {
  return FLAG_FIELDS.flatMap((field) => {
    const value = fields[field];
    return value === undefined
      ? []
      : FLAG_FIELD_ROWS[field].toPatch(value as never, rolloutStatuses);
  });
}
