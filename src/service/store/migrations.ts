import { sql, type Kysely, type Migration } from 'kysely';
import type { Dialect } from './tables.js';

/**
 * All steps of the migration, by the names under which the store records them. A published step never changes; further
 * changes of the tables need a new step.
 */
export function migrations(dialect: Dialect): Record<string, Migration> {
  const types = dialectTypesOf(dialect);
  const { text, time } = types;
  return {
    '0001-first': step([
      ...workspaceTables(types),
      ...flagTables(types),
      ...segmentTables(types),
      ...accessTables(types),
    ]),
    '0002-key-ids-in-the-audit-log': step([`alter table audit add column key_id ${text}`]),
    '0003-keys-without-a-reference': step(keysWithoutReference(types)),
    '0006-keys-that-end-and-their-last-use': step([
      `alter table admin_keys add column expiration_time ${time}`,
      `alter table admin_keys add column last_use_time ${time}`,
    ]),
    '0007-sessions-of-the-console': step([
      `create table sessions (
        hash ${text} primary key, key_id ${text} not null, expiration_time ${time} not null)`,
    ]),
    '0008-archived-flags': step([
      `create table archived_flags (
        id ${text} primary key,
        workspace_id ${text} not null,
        name ${text} not null,
        archived_time ${time} not null,
        rows_json ${text} not null,
        unique (workspace_id, name))`,
    ]),
    '0009-change-requests': step(changeRequestTables(types)),
    '0010-attributes-of-traffic-types': step([
      `create table attributes (
        traffic_type_id ${text} not null references traffic_types (id),
        id ${text} not null,
        display_name ${text} not null,
        description ${text} not null,
        data_type ${text},
        is_searchable integer not null,
        suggested_values_json ${text} not null,
        primary key (traffic_type_id, id))`,
    ]),
    '0011-keys-with-exact-restrictions': step([
      'alter table admin_keys add column is_exact integer not null default 0',
    ]),
    '0012-keys-of-applications': step([
      `alter table admin_keys add column key_type ${text} not null default 'admin'`,
    ]),
    '0013-what-applications-are-served': step(servingTables(types, dialect)),
    '0014-keys-in-blocks': step(keysInBlocks(types, dialect)),
  };
}

function step(statements: readonly string[]): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      // One after the other, because statements need the tables of earlier ones.
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

/**
 * Uploads insert and delete tens of thousands of keys, always for an existing activation. Checking the reference for
 * each of them took most of the time of an upload.
 */
function keysWithoutReference({ text, time, clustered }: DialectTypes): string[] {
  return [
    `create table keys_without_reference (
      activation_id ${time} not null,
      key ${text} not null,
      primary key (activation_id, key))${clustered}`,
    'insert into keys_without_reference select activation_id, key from segment_keys',
    'drop table segment_keys',
    'alter table keys_without_reference rename to segment_keys',
  ];
}

function keysInBlocks({ text, time, clustered }: DialectTypes, dialect: Dialect): string[] {
  const list = {
    sqlite: 'json_group_array(key order by key)',
    postgres: 'json_agg(key order by key)::text',
  };
  return [
    `create table key_blocks (
      activation_id ${time} not null,
      first ${text} not null,
      key_count integer not null,
      keys_json ${text} not null,
      primary key (activation_id, first))${clustered}`,
    `insert into key_blocks (activation_id, first, key_count, keys_json)
      select activation_id, min(key), count(*), ${list[dialect]}
      from (
        select activation_id, key,
          (row_number() over (partition by activation_id order by key) - 1) / 500 as block
        from segment_keys) as numbered
      group by activation_id, block`,
    'drop table segment_keys',
  ];
}

function servingTables({ text, time }: DialectTypes, dialect: Dialect): string[] {
  const seed =
    dialect === 'sqlite'
      ? '1 + abs(random() % 2147483646)'
      : 'cast(1 + floor(random() * 2147483646) as integer)';
  return [
    'alter table definitions add column seed integer not null default 0',
    'alter table definitions add column allocation_seed integer not null default 0',
    `update definitions set seed = ${seed}, allocation_seed = ${seed}`,
    `create table key_changes (
      environment_id ${text} not null,
      segment ${text} not null,
      number ${time} not null,
      added_json ${text} not null,
      removed_json ${text} not null,
      primary key (environment_id, segment, number))`,
  ];
}

function changeRequestTables({ text, time, counter }: DialectTypes): string[] {
  return [
    `create table change_requests (
      position ${counter},
      id ${text} not null unique,
      workspace_id ${text} not null,
      environment_id ${text} not null,
      kind ${text} not null,
      name ${text} not null,
      operation ${text} not null,
      status ${text} not null,
      title ${text},
      comment ${text},
      content_json ${text} not null,
      rollout_status_id ${text},
      approvers_json ${text} not null,
      comments_json ${text} not null,
      author_id ${text} not null,
      author_name ${text} not null,
      creation_time ${time} not null)`,
    'create index change_requests_by_object on change_requests (workspace_id, kind, name)',
    `alter table definitions add column open_change_request_id ${text}`,
    `alter table activations add column open_change_request_id ${text}`,
  ];
}

/** The few words that differ between the two databases. */
interface DialectTypes {
  /** Text compared byte by byte, so that both databases sort alike. */
  readonly text: string;
  /** An id that grows with every row and is never reused. */
  readonly counter: string;
  /** Whole numbers of 64 bits. */
  readonly time: string;
  /** Makes SQLite store the rows of a table only in the index of their key. */
  readonly clustered: string;
}

function dialectTypesOf(dialect: Dialect): DialectTypes {
  if (dialect === 'sqlite') {
    return {
      text: 'text',
      counter: 'integer primary key autoincrement',
      time: 'integer',
      clustered: ' without rowid',
    };
  }
  return {
    text: 'text collate "C"',
    counter: 'bigint generated always as identity primary key',
    time: 'bigint',
    clustered: '',
  };
}

function workspaceTables({ text, time }: DialectTypes): string[] {
  return [
    `create table workspaces (
      id ${text} primary key,
      name ${text} not null unique,
      sort_name ${text} not null,
      requires_title_and_comments integer not null)`,
    `create table environments (
      id ${text} primary key,
      workspace_id ${text} not null references workspaces (id),
      name ${text} not null,
      sort_name ${text} not null,
      production integer not null,
      approvals_required integer not null,
      allow_kills integer not null,
      creation_time ${time} not null,
      unique (workspace_id, name))`,
    `create table traffic_types (
      id ${text} primary key,
      workspace_id ${text} not null references workspaces (id),
      name ${text} not null,
      display_attribute_id ${text},
      unique (workspace_id, name))`,
    `create table rollout_statuses (
      id ${text} primary key,
      workspace_id ${text} not null references workspaces (id),
      name ${text} not null,
      description ${text} not null,
      position integer not null,
      unique (workspace_id, name))`,
  ];
}

function flagTables({ text, time, clustered }: DialectTypes): string[] {
  return [
    `create table flags (
      id ${text} primary key,
      workspace_id ${text} not null references workspaces (id),
      name ${text} not null,
      sort_name ${text} not null,
      description ${text} not null,
      traffic_type_id ${text} not null references traffic_types (id),
      creation_time ${time} not null,
      rollout_status_id ${text} not null references rollout_statuses (id),
      rollout_status_timestamp ${time} not null,
      tags_json ${text} not null,
      owners_json ${text} not null,
      unique (workspace_id, name))`,
    'create index flags_by_sort_name on flags (workspace_id, sort_name, name)',
    `create table definitions (
      flag_id ${text} not null references flags (id),
      environment_id ${text} not null references environments (id),
      killed integer not null,
      body_json ${text} not null,
      creation_time ${time} not null,
      last_update_time ${time} not null,
      primary key (flag_id, environment_id))`,
    'create index definitions_by_environment on definitions (environment_id)',
    `create table definition_uses (
      flag_id ${text} not null,
      environment_id ${text} not null,
      kind ${text} not null,
      name ${text} not null,
      primary key (environment_id, kind, name, flag_id),
      foreign key (flag_id, environment_id) references definitions (flag_id, environment_id))${clustered}`,
    'create index definition_uses_by_definition on definition_uses (flag_id, environment_id)',
  ];
}

function segmentTables({ text, time, counter, clustered }: DialectTypes): string[] {
  return [
    `create table segments (
      id ${text} primary key,
      workspace_id ${text} not null references workspaces (id),
      name ${text} not null,
      sort_name ${text} not null,
      description ${text} not null,
      traffic_type_id ${text} not null references traffic_types (id),
      creation_time ${time} not null,
      tags_json ${text} not null,
      unique (workspace_id, name))`,
    'create index segments_by_sort_name on segments (workspace_id, sort_name, name)',
    `create table activations (
      id ${counter},
      segment_id ${text} not null references segments (id),
      environment_id ${text} not null references environments (id),
      creation_time ${time} not null,
      last_update_time ${time} not null,
      key_count integer not null,
      unique (segment_id, environment_id))`,
    'create index activations_by_environment on activations (environment_id)',
    `create table segment_keys (
      activation_id ${time} not null references activations (id),
      key ${text} not null,
      primary key (activation_id, key))${clustered}`,
    `create table identities (
      traffic_type_id ${text} not null references traffic_types (id),
      environment_id ${text} not null references environments (id),
      key ${text} not null,
      values_json ${text} not null,
      primary key (environment_id, traffic_type_id, key))${clustered}`,
  ];
}

function accessTables({ text, time, counter }: DialectTypes): string[] {
  return [
    `create table admin_keys (
      id ${text} primary key,
      name ${text} not null,
      hash ${text} not null,
      creation_time ${time} not null,
      revocation_time ${time},
      workspaces_json ${text},
      environments_json ${text})`,
    `create table audit (
      id ${counter},
      time ${time} not null,
      transaction_id ${text} not null,
      workspace_id ${text},
      environment_id ${text},
      environment_name ${text},
      kind ${text} not null,
      name ${text} not null,
      action ${text} not null,
      title ${text},
      comment ${text},
      key_name ${text},
      difference_json ${text} not null)`,
    'create index audit_by_object on audit (workspace_id, kind, name, id)',
  ];
}
