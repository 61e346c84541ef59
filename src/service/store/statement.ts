import { CompiledQuery } from 'kysely';
import type { Db } from './tables.js';

/**
 * A statement of every change. Its text is built once, because building it takes longer than running it. Both databases
 * take `$1`, `$2`, … for its values; each has to occur first in this order.
 *
 * @returns a function that runs the statement in a transaction, and gives the rows that it selects.
 */
export function statement<Row = never>(
  text: string,
): (db: Db, ...values: readonly (string | number | null)[]) => Promise<Row[]> {
  const compiled = CompiledQuery.raw(text);
  return async (db, ...values) => {
    const { rows } = await db.executeQuery({ ...compiled, parameters: values });
    return rows as Row[];
  };
}
