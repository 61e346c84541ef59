/** Schema of our tables; the queue has its own. */
export const SCHEMA = 'flagkeel_daemon';

/** An arbitrary number, unique to this lock: replicas that start together update the tables one by one. */
const MIGRATION_LOCK = 7_204_118_553;

/**
 * Brings the tables up to date in one transaction. Safe to repeat, also by several replicas at once.
 *
 * - `lease`: who may write what until when. `term` grows with each holder and never goes back, because rows are never
 *   deleted.
 * - `replica`: which replicas exist, and until when at least.
 * - `hold`: requests that hold back a source.
 * - `run`: results of the last runs of each source.
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
