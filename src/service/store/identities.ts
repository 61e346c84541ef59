import type { Db } from './tables.js';

interface IdentityPlace {
  readonly trafficTypeId: string;
  readonly environmentId: string;
  readonly key: string;
}

/** Attribute → value; undefined where the key has no identity. */
export async function findIdentity(
  db: Db,
  place: IdentityPlace,
): Promise<Record<string, string> | undefined> {
  const row = await db
    .selectFrom('identities')
    .select('values_json')
    .where('environment_id', '=', place.environmentId)
    .where('traffic_type_id', '=', place.trafficTypeId)
    .where('key', '=', place.key)
    .executeTakeFirst();
  return row && (JSON.parse(row.values_json) as Record<string, string>);
}

export async function saveIdentity(
  db: Db,
  place: IdentityPlace,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const values_json = JSON.stringify(values);
  await db
    .insertInto('identities')
    .values({
      environment_id: place.environmentId,
      traffic_type_id: place.trafficTypeId,
      key: place.key,
      values_json,
    })
    .onConflict((conflict) =>
      conflict.columns(['environment_id', 'traffic_type_id', 'key']).doUpdateSet({ values_json }),
    )
    .execute();
}

export async function deleteIdentity(db: Db, place: IdentityPlace): Promise<void> {
  await db
    .deleteFrom('identities')
    .where('environment_id', '=', place.environmentId)
    .where('traffic_type_id', '=', place.trafficTypeId)
    .where('key', '=', place.key)
    .execute();
}
