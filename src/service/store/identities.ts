import { sql } from 'kysely';
import { insert, jsonRows, statement } from './statement.js';
import type { Dialect } from './migrations.js';
import type { AttributeRow, Db } from './tables.js';

export interface IdentityPlace {
  readonly trafficTypeId: string;
  readonly environmentId: string;
}

/** Attribute → value. */
export type IdentityValues = Readonly<Record<string, string>>;

/** Key → values; keys without an identity are left out. */
export async function findIdentities(
  db: Db,
  dialect: Dialect,
  place: IdentityPlace,
  keys: readonly string[],
): Promise<Map<string, IdentityValues>> {
  const given = jsonRows(
    dialect,
    keys.map((key) => [key]),
  );
  // The `offset` keeps PostgreSQL from comparing every given key with every stored key.
  const { rows } = await (
    dialect === 'sqlite'
      ? sql<{ key: string; values_json: string }>`
          select key, values_json from identities
          where environment_id = ${place.environmentId} and traffic_type_id = ${place.trafficTypeId}
            and key in (select value ->> 0 from ${given})`
      : sql<{ key: string; values_json: string }>`
          select found.key, found.values_json from ${given} cross join lateral (
            select key, values_json from identities
            where environment_id = ${place.environmentId} and traffic_type_id = ${place.trafficTypeId}
              and key = given.value ->> 0 offset 0) as found`
  ).execute(db);
  return new Map(
    rows.map(({ key, values_json }) => [key, JSON.parse(values_json) as IdentityValues]),
  );
}

/** Writes all values of each key, whether or not the key has an identity. */
export async function saveIdentities(
  db: Db,
  dialect: Dialect,
  place: IdentityPlace,
  identities: ReadonlyMap<string, IdentityValues>,
): Promise<void> {
  const rows = [...identities].map(([key, values]) => [key, JSON.stringify(values)]);
  await sql`
    insert into identities (environment_id, traffic_type_id, key, values_json)
    select cast(${place.environmentId} as text), cast(${place.trafficTypeId} as text), value ->> 0, value ->> 1
    from ${jsonRows(dialect, rows)} where true
    on conflict (environment_id, traffic_type_id, key) do update set values_json = excluded.values_json`.execute(
    db,
  );
}

export const deleteIdentity = statement<
  never,
  [environmentId: string, trafficTypeId: string, key: string]
>('delete from identities where environment_id = $1 and traffic_type_id = $2 and key = $3');

/** Sorted by the bytes of their ids. */
export const listAttributes = statement<AttributeRow, [trafficTypeId: string]>(
  'select * from attributes where traffic_type_id = $1 order by id',
);

/** Creates the attribute, or replaces all of it. */
export async function saveAttribute(db: Db, row: AttributeRow): Promise<void> {
  await deleteAttribute(db, row.traffic_type_id, row.id);
  await insert(db, 'attributes', [row]);
}

export const deleteAttribute = statement<never, [trafficTypeId: string, id: string]>(
  'delete from attributes where traffic_type_id = $1 and id = $2',
);
