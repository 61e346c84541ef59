import { firstRow, given, givenRows, insert, statement, statementFor } from './statement.js';
import type { AttributeRow, Db, IdentityRow } from './tables.js';

export interface IdentityPlace {
  readonly trafficTypeId: string;
  readonly environmentId: string;
}

export interface Identity {
  readonly key: string;
  /** By attribute. */
  readonly values: Readonly<Record<string, string>>;
}

/** Key → values; keys without an identity are left out. */
export async function findIdentities(
  db: Db,
  { environmentId, trafficTypeId }: IdentityPlace,
  keys: readonly string[],
): Promise<Map<string, Identity['values']>> {
  const rows = await identitiesOf(db, given(keys), environmentId, trafficTypeId);
  return new Map(
    rows.map(({ key, values_json }) => [key, JSON.parse(values_json) as Identity['values']]),
  );
}

/** The `offset` keeps PostgreSQL from comparing every given key with every stored key. */
const identitiesOf = statementFor<Pick<IdentityRow, 'key' | 'values_json'>>((dialect) =>
  dialect === 'sqlite'
    ? `select key, values_json from identities
       where key in (select value ->> 0 from ${givenRows(dialect, '$1')})
         and environment_id = $2 and traffic_type_id = $3`
    : `select found.key, found.values_json from ${givenRows(dialect, '$1')} cross join lateral (
         select key, values_json from identities
         where environment_id = $2 and traffic_type_id = $3 and key = given.value ->> 0 offset 0) as found`,
);

/** Writes all values of each key, whether or not the key has an identity. */
export async function saveIdentities(
  db: Db,
  { environmentId, trafficTypeId }: IdentityPlace,
  identities: ReadonlyMap<string, Identity['values']>,
): Promise<void> {
  const rows = [...identities].map(([key, values]) => [key, JSON.stringify(values)]);
  await upsertIdentities(db, environmentId, trafficTypeId, JSON.stringify(rows));
}

const upsertIdentities = statementFor(
  (dialect) => `
    insert into identities (environment_id, traffic_type_id, key, values_json)
    select cast($1 as text), cast($2 as text), value ->> 0, value ->> 1
    from ${givenRows(dialect, '$3')} where true
    on conflict (environment_id, traffic_type_id, key) do update set values_json = excluded.values_json`,
);

export const deleteIdentity = statement<
  never,
  [environmentId: string, trafficTypeId: string, key: string]
>('delete from identities where environment_id = $1 and traffic_type_id = $2 and key = $3');

export const listAttributes = statement<AttributeRow, [trafficTypeId: string]>(
  'select * from attributes where traffic_type_id = $1 order by id',
);

export const findAttribute = firstRow<AttributeRow, [trafficTypeId: string, id: string]>(
  'select * from attributes where traffic_type_id = $1 and id = $2',
);

export async function saveAttribute(db: Db, row: AttributeRow): Promise<void> {
  await deleteAttribute(db, row.traffic_type_id, row.id);
  await insert(db, 'attributes', [row]);
}

export const deleteAttribute = statement<never, [trafficTypeId: string, id: string]>(
  'delete from attributes where traffic_type_id = $1 and id = $2',
);
