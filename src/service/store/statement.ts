import { CompiledQuery } from 'kysely';
import type { Db } from './tables.js';

/**
 * A statement that every change runs: its text is put together once, because to build it takes longer than to run it.
 * Both databases take `$1`, `$2`, … for its values, where each comes first in this order.
 *
 * @returns runs it in a transaction, and gives the rows that it selects.
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
