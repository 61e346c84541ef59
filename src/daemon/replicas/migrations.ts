/** Where our tables stand; the queue has a schema of its own. */
export const SCHEMA = 'flagkeel_daemon';

/** Any number that nobody else locks by: replicas that start together bring the tables up to date one by one. */
const MIGRATION_LOCK = 7_204_118_553;

/**
 * Brings the tables up to date; may be repeated, and by several at once. Runs as one transaction.
 *
 * - `lease`: who may write what until when. `term` grows with each holder and never goes back: rows are never deleted.
 * - `replica`: who is there, until when at least.
 * - `hold`: what is held back by request, for each source.
 * - `run`: what the last runs of each source came to.
 */
export const MIGRATION = `
begin;
select pg_advisory_xact_lock(${MIGRATION_LOCK});
create schema if not exists ${SCHEMA};
create table if not exists ${SCHEMA}.lease (
  name text primary key,
  holder text not null,
  term bigint not null,
  expires_at timestamptz not null
);
create table if not exists ${SCHEMA}.replica (
  id text primary key,
  expires_at timestamptz not null
);
create table if not exists ${SCHEMA}.hold (
  source text not null,
  kind text not null,
  value jsonb not null,
  primary key (source, kind)
);
create table if not exists ${SCHEMA}.run (
  number bigint generated always as identity primary key,
  source text not null,
  replica text not null,
  run jsonb not null
);
create index if not exists run_source on ${SCHEMA}.run (source, number);
commit;
`;
