import { hash } from 'node:crypto';
import { CompiledQuery, type Insertable } from 'kysely';
import { partsOf } from '../parts.js';
import { dialectOf, type Db, type Dialect, type Tables } from './tables.js';

type Value = string | number | null;
type Statement<Result, Values extends readonly Value[]> = (
  source: Db | LookUp,
  ...values: Values
) => Promise<Result>;

/** A text that is prepared once under its name, which is unique. */
export interface Lookup {
  readonly name: string;
  readonly compiled: CompiledQuery;
  /** It reads much and returns little, such as a number, so its result is kept until something changes. */
  readonly isKept: boolean;
}

/** Runs one statement on the newest committed state, without a transaction. */
export type LookUp = <Row>(lookup: Lookup, values: readonly unknown[]) => Promise<Row[]>;

/**
 * A statement whose text is built once, because building it takes longer than running it. Both databases take `$1`,
 * `$2`, … for its values; each has to occur first in this order. Gives the rows that it selects.
 */
export function statement<Row = never, Values extends readonly Value[] = readonly Value[]>(
  text: string,
  { isKept = false } = {},
): Statement<Row[], Values> {
  const lookup = {
    name: hash('sha256', text, 'base64url'),
    compiled: CompiledQuery.raw(text),
    isKept,
  };
  return async (source, ...values) =>
    typeof source === 'function' ? source<Row>(lookup, values) : runIn<Row>(source, lookup, values);
}

export async function runIn<Row>(
  db: Db,
  { compiled }: Lookup,
  parameters: readonly unknown[],
): Promise<Row[]> {
  const { rows } = await db.executeQuery({ ...compiled, parameters });
  return rows as Row[];
}

/** A statement with a text for each database. */
export function statementFor<Row = never>(
  textFor: (dialect: Dialect) => string,
): (db: Db, ...values: readonly Value[]) => Promise<Row[]> {
  const made = {
    sqlite: statement<Row>(textFor('sqlite')),
    postgres: statement<Row>(textFor('postgres')),
  };
  return async (db, ...values) => made[dialectOf(db)](db, ...values);
}

export function firstRow<Row, Values extends readonly Value[] = readonly Value[]>(
  text: string,
  options: { readonly isKept?: boolean } = {},
): Statement<Row | undefined, Values> {
  const rows = statement<Row, Values>(text, options);
  return async (source, ...values) => (await rows(source, ...values))[0];
}

export function statements<Values extends readonly Value[]>(
  ...texts: readonly string[]
): Statement<void, Values> {
  const all = texts.map((text) => statement<never, Values>(text));
  return async (source, ...values) => {
    for (const each of all) await each(source, ...values);
  };
}

/**
 * A statement that looks for many names at once, and gives those that it finds.
 *
 * @param textFor gets the list of names to stand behind `in`. The statement has one value before it, and selects `name`.
 */
export function namesFound(
  textFor: (names: string) => string,
): (db: Db, within: string, names: readonly string[]) => Promise<Set<string>> {
  const find = statementFor<{ readonly name: string }>((dialect) =>
    textFor(`(select value ->> 0 from ${givenRows(dialect, '$2')})`),
  );
  return async (db, within, names) => {
    const rows = names.length === 0 ? [] : await find(db, within, given(names));
    return new Set(rows.map(({ name }) => name));
  };
}

/** Like `namesFound`, but gives the names that the statement does not find, in the given order. */
export function namesMissing(textFor: Parameters<typeof namesFound>[0]) {
  const find = namesFound(textFor);
  return async (db: Db, within: string, names: readonly string[]): Promise<string[]> => {
    const found = await find(db, within, names);
    return names.filter((name) => !found.has(name));
  };
}

/** A row with the name by which lists are sorted, byte by byte: upper and lower case make no difference. */
export function sorted<Row extends { readonly name: string }>(row: Row) {
  return { ...row, sort_name: row.name.toLowerCase() };
}

/** The most rows of up to four columns in one statement: both databases limit its parameters. */
const ROWS_AT_ONCE = 5_000;

export async function insert<Table extends keyof Tables>(
  db: Db,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
): Promise<void> {
  for await (const part of partsOf(rows, ROWS_AT_ONCE)) {
    await db.insertInto(table).values(part).execute();
  }
}

/**
 * Rows as one parameter, for use behind `from`: JSON of a list of rows that the database unfolds, where `value ->> N` is
 * column N of a row as text. As single parameters, rows would exceed the limit of either database, and each number of
 * rows would need a prepared statement of its own.
 */
export function givenRows(dialect: Dialect, parameter: string): string {
  return dialect === 'sqlite'
    ? `json_each(${parameter}) as given`
    : `json_array_elements(${parameter}::json) as given (value)`;
}

/** Texts in the form of `givenRows`, as the only column. */
export function given(texts: readonly string[]): string {
  return JSON.stringify(texts.map((text) => [text]));
}
