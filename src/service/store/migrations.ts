import { sql, type Kysely, type Migration } from 'kysely';
import type { Dialect } from './tables.js';

/** The words of the steps that differ between the databases. */
const WORDS: Readonly<Record<Dialect, Readonly<Record<string, string>>>> = {
  sqlite: {
    TEXT: 'text',
    COUNTER: 'integer primary key autoincrement',
    INT64: 'integer',
    // Stores the rows of a table only in the index of their key.
    CLUSTERED: 'without rowid',
    SEED: '1 + abs(random() % 2147483646)',
    KEYS: 'json_group_array(key order by key)',
  },
  postgres: {
    // Compared byte by byte, so that both databases sort alike.
    TEXT: 'text collate "C"',
    COUNTER: 'bigint generated always as identity primary key',
    INT64: 'bigint',
    CLUSTERED: '',
    SEED: 'cast(1 + floor(random() * 2147483646) as integer)',
    KEYS: 'json_agg(key order by key)::text',
  },
};

/** All steps of the migration, by the names under which the store records them. */
export function migrations(dialect: Dialect): Record<string, Migration> {
  const migrationOf = (step: string): Migration => ({
    up: async (db: Kysely<unknown>) => {
      const text = step.replaceAll(/[A-Z0-9]{4,}/g, (word) => WORDS[dialect][word] ?? word);
      // One after the other, because statements need the tables of earlier ones.
      for (const statement of text.split(';')) await sql.raw(statement).execute(db);
    },
  });
  return Object.fromEntries(Object.entries(STEPS).map(([name, step]) => [name, migrationOf(step)]));
}

/** A published step never changes; further changes of the tables need a new step. */
const STEPS: Readonly<Record<string, string>> = {
  '0001-first': `
    create table workspaces (
      id TEXT primary key,
      name TEXT not null unique,
      sort_name TEXT not null,
      requires_title_and_comments integer not null);
    create table environments (
      id TEXT primary key,
      workspace_id TEXT not null references workspaces (id),
      name TEXT not null,
      sort_name TEXT not null,
      production integer not null,
      approvals_required integer not null,
      allow_kills integer not null,
      creation_time INT64 not null,
      unique (workspace_id, name));
    create table traffic_types (
      id TEXT primary key,
      workspace_id TEXT not null references workspaces (id),
      name TEXT not null,
      display_attribute_id TEXT,
      unique (workspace_id, name));
    create table rollout_statuses (
      id TEXT primary key,
      workspace_id TEXT not null references workspaces (id),
      name TEXT not null,
      description TEXT not null,
      position integer not null,
      unique (workspace_id, name));
    create table flags (
      id TEXT primary key,
      workspace_id TEXT not null references workspaces (id),
      name TEXT not null,
      sort_name TEXT not null,
      description TEXT not null,
      traffic_type_id TEXT not null references traffic_types (id),
      creation_time INT64 not null,
      rollout_status_id TEXT not null references rollout_statuses (id),
      rollout_status_timestamp INT64 not null,
      tags_json TEXT not null,
      owners_json TEXT not null,
      unique (workspace_id, name));
    create index flags_by_sort_name on flags (workspace_id, sort_name, name);
    create table definitions (
      flag_id TEXT not null references flags (id),
      environment_id TEXT not null references environments (id),
      killed integer not null,
      body_json TEXT not null,
      creation_time INT64 not null,
      last_update_time INT64 not null,
      primary key (flag_id, environment_id));
    create index definitions_by_environment on definitions (environment_id);
    create table definition_uses (
      flag_id TEXT not null,
      environment_id TEXT not null,
      kind TEXT not null,
      name TEXT not null,
      primary key (environment_id, kind, name, flag_id),
      foreign key (flag_id, environment_id) references definitions (flag_id, environment_id)) CLUSTERED;
    create index definition_uses_by_definition on definition_uses (flag_id, environment_id);
    create table segments (
      id TEXT primary key,
      workspace_id TEXT not null references workspaces (id),
      name TEXT not null,
      sort_name TEXT not null,
      description TEXT not null,
      traffic_type_id TEXT not null references traffic_types (id),
      creation_time INT64 not null,
      tags_json TEXT not null,
      unique (workspace_id, name));
    create index segments_by_sort_name on segments (workspace_id, sort_name, name);
    create table activations (
      id COUNTER,
      segment_id TEXT not null references segments (id),
      environment_id TEXT not null references environments (id),
      creation_time INT64 not null,
      last_update_time INT64 not null,
      key_count integer not null,
      unique (segment_id, environment_id));
    create index activations_by_environment on activations (environment_id);
    create table segment_keys (
      activation_id INT64 not null references activations (id),
      key TEXT not null,
      primary key (activation_id, key)) CLUSTERED;
    create table identities (
      traffic_type_id TEXT not null references traffic_types (id),
      environment_id TEXT not null references environments (id),
      key TEXT not null,
      values_json TEXT not null,
      primary key (environment_id, traffic_type_id, key)) CLUSTERED;
    create table admin_keys (
      id TEXT primary key,
      name TEXT not null,
      hash TEXT not null,
      creation_time INT64 not null,
      revocation_time INT64,
      workspaces_json TEXT,
      environments_json TEXT);
    create table audit (
      id COUNTER,
      time INT64 not null,
      transaction_id TEXT not null,
      workspace_id TEXT,
      environment_id TEXT,
      environment_name TEXT,
      kind TEXT not null,
      name TEXT not null,
      action TEXT not null,
      title TEXT,
      comment TEXT,
      key_name TEXT,
      difference_json TEXT not null);
    create index audit_by_object on audit (workspace_id, kind, name, id)`,
  '0002-key-ids-in-the-audit-log': `
    alter table audit add column key_id TEXT`,
  // Uploads insert and delete tens of thousands of keys, always for an existing activation. Checking the reference for
  // each of them took most of the time of an upload.
  '0003-keys-without-a-reference': `
    create table keys_without_reference (
      activation_id INT64 not null,
      key TEXT not null,
      primary key (activation_id, key)) CLUSTERED;
    insert into keys_without_reference select activation_id, key from segment_keys;
    drop table segment_keys;
    alter table keys_without_reference rename to segment_keys`,
  '0006-keys-that-end-and-their-last-use': `
    alter table admin_keys add column expiration_time INT64;
    alter table admin_keys add column last_use_time INT64`,
  '0007-sessions-of-the-console': `
    create table sessions (
      hash TEXT primary key,
      key_id TEXT not null,
      expiration_time INT64 not null)`,
  '0008-archived-flags': `
    create table archived_flags (
      id TEXT primary key,
      workspace_id TEXT not null,
      name TEXT not null,
      archived_time INT64 not null,
      rows_json TEXT not null,
      unique (workspace_id, name))`,
  '0009-change-requests': `
    create table change_requests (
      position COUNTER,
      id TEXT not null unique,
      workspace_id TEXT not null,
      environment_id TEXT not null,
      kind TEXT not null,
      name TEXT not null,
      operation TEXT not null,
      status TEXT not null,
      title TEXT,
      comment TEXT,
      content_json TEXT not null,
      rollout_status_id TEXT,
      approvers_json TEXT not null,
      comments_json TEXT not null,
      author_id TEXT not null,
      author_name TEXT not null,
      creation_time INT64 not null);
    create index change_requests_by_object on change_requests (workspace_id, kind, name);
    alter table definitions add column open_change_request_id TEXT;
    alter table activations add column open_change_request_id TEXT`,
  '0010-attributes-of-traffic-types': `
    create table attributes (
      traffic_type_id TEXT not null references traffic_types (id),
      id TEXT not null,
      display_name TEXT not null,
      description TEXT not null,
      data_type TEXT,
      is_searchable integer not null,
      suggested_values_json TEXT not null,
      primary key (traffic_type_id, id))`,
  '0011-keys-with-exact-restrictions': `
    alter table admin_keys add column is_exact integer not null default 0`,
  '0012-keys-of-applications': `
    alter table admin_keys add column key_type TEXT not null default 'admin'`,
  '0013-what-applications-are-served': `
    alter table definitions add column seed integer not null default 0;
    alter table definitions add column allocation_seed integer not null default 0;
    update definitions set seed = SEED, allocation_seed = SEED;
    create table key_changes (
      environment_id TEXT not null,
      segment TEXT not null,
      number INT64 not null,
      added_json TEXT not null,
      removed_json TEXT not null,
      primary key (environment_id, segment, number))`,
  '0014-keys-in-blocks': `
    create table key_blocks (
      activation_id INT64 not null,
      first TEXT not null,
      key_count integer not null,
      keys_json TEXT not null,
      primary key (activation_id, first)) CLUSTERED;
    insert into key_blocks (activation_id, first, key_count, keys_json)
      select activation_id, min(key), count(*), KEYS
      from (
        select activation_id, key,
          (row_number() over (partition by activation_id order by key) - 1) / 500 as block
        from segment_keys) as numbered
      group by activation_id, block;
    drop table segment_keys`,
};
