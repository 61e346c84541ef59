import { PostgresAdapter, type Generated, type Kysely } from 'kysely';

/**
 * The tables, equal in SQLite and PostgreSQL. Times are milliseconds since the epoch, truth values 0 and 1, and columns
 * that end in `_json` hold JSON text. `sort_name` is the name in lower case; lists are sorted by its bytes.
 */
export interface Tables {
  workspaces: WorkspaceRow;
  environments: EnvironmentRow;
  traffic_types: TrafficTypeRow;
  attributes: AttributeRow;
  rollout_statuses: RolloutStatusRow;
  flags: FlagRow;
  definitions: DefinitionRow;
  definition_uses: DefinitionUseRow;
  archived_flags: ArchivedFlagRow;
  segments: SegmentRow;
  activations: ActivationTable;
  segment_keys: SegmentKeyRow;
  key_blocks: KeyBlockRow;
  key_changes: KeyChangeRow;
  identities: IdentityRow;
  admin_keys: AdminKeyRow;
  sessions: SessionRow;
  change_requests: ChangeRequestTable;
  audit: AuditTable;
}

/**
 * The primary key of each table, which also gives the order of its rows; tables come before those that refer to them.
 * Sessions are left out, because backups do not include them.
 */
export const PRIMARY_KEYS: {
  readonly [Table in Exclude<keyof Tables, 'sessions'>]: readonly (keyof Tables[Table])[];
} = {
  workspaces: ['id'],
  environments: ['id'],
  traffic_types: ['id'],
  attributes: ['traffic_type_id', 'id'],
  rollout_statuses: ['id'],
  flags: ['id'],
  definitions: ['flag_id', 'environment_id'],
  definition_uses: ['environment_id', 'kind', 'name', 'flag_id'],
  archived_flags: ['id'],
  segments: ['id'],
  activations: ['id'],
  segment_keys: ['activation_id', 'key'],
  key_blocks: ['activation_id', 'first'],
  key_changes: ['environment_id', 'segment', 'number'],
  identities: ['environment_id', 'traffic_type_id', 'key'],
  admin_keys: ['id'],
  change_requests: ['position'],
  audit: ['id'],
};

/** Either the whole store or one transaction, which has one connection: its statements run one after the other. */
export type Db = Kysely<Tables>;

export type Dialect = 'sqlite' | 'postgres';

export function dialectOf(db: Db): Dialect {
  return db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite';
}

export interface WorkspaceRow {
  id: string;
  name: string;
  sort_name: string;
  requires_title_and_comments: number;
}

/** An object in a workspace. */
interface OwnedRow {
  id: string;
  workspace_id: string;
  name: string;
}

export interface EnvironmentRow extends OwnedRow {
  sort_name: string;
  production: number;
  approvals_required: number;
  /** Whether kills need no approval although other changes do. */
  allow_kills: number;
  creation_time: number;
}

export interface TrafficTypeRow extends OwnedRow {
  display_attribute_id: string | null;
}

export interface AttributeRow {
  traffic_type_id: string;
  id: string;
  display_name: string;
  description: string;
  data_type: string | null;
  is_searchable: number;
  suggested_values_json: string;
}

export interface RolloutStatusRow extends OwnedRow {
  description: string;
  position: number;
}

export interface SegmentRow extends OwnedRow {
  sort_name: string;
  description: string;
  traffic_type_id: string;
  creation_time: number;
  /** Names, in the order in which they were given. */
  tags_json: string;
}

export interface FlagRow extends SegmentRow {
  rollout_status_id: string;
  rollout_status_timestamp: number;
  owners_json: string;
}

export interface DefinitionRow {
  flag_id: string;
  environment_id: string;
  killed: number;
  /** The members from `treatments` to `defaultRule` as one JSON object, in the form of answers. */
  body_json: string;
  creation_time: number;
  last_update_time: number;
  /** Id of the open change request that blocks changes. */
  open_change_request_id: string | null;
  /** Decide which keys a share and the traffic allocation reach: whole numbers of 31 bits, not 0. */
  seed: number;
  allocation_seed: number;
}

/** Where an object is looked for: in one environment of a workspace, or without one in all of them. */
export interface Within {
  readonly workspace: { readonly id: string };
  readonly environment?: { readonly id: string };
}

export interface DefinitionUseRow {
  flag_id: string;
  environment_id: string;
  kind: 'segment' | 'flag';
  name: string;
}

export interface ArchivedFlagRow extends OwnedRow {
  archived_time: number;
  /** An `ArchivedFlag`. */
  rows_json: string;
}

export interface ActivationTable {
  id: Generated<number>;
  segment_id: string;
  environment_id: string;
  creation_time: number;
  last_update_time: number;
  key_count: number;
  /** Id of the open change request that blocks changes of the keys. */
  open_change_request_id: string | null;
}

/** Only stores of earlier versions have this table, and backups of them. */
export interface SegmentKeyRow {
  activation_id: number;
  key: string;
}

export interface KeyBlockRow {
  activation_id: number;
  first: string;
  key_count: number;
  /** Sorted by bytes. */
  keys_json: string;
}

/** One change of a segment's keys, for applications that ask for the changes since their last question. */
export interface KeyChangeRow {
  environment_id: string;
  segment: string;
  /** Id of the change in the audit log. */
  number: number;
  added_json: string;
  removed_json: string;
}

export interface IdentityRow {
  traffic_type_id: string;
  environment_id: string;
  key: string;
  values_json: string;
}

/** What a key opens: `admin` the administration, the others what the applications of one environment ask. */
export type KeyType = 'admin' | 'server_side' | 'client_side';

export interface AdminKeyRow {
  id: string;
  name: string;
  key_type: KeyType;
  /** SHA-256 of the whole key in lower-case hex. */
  hash: string;
  creation_time: number;
  revocation_time: number | null;
  /** The service refuses the key from this moment on; null for a key that does not end by itself. */
  expiration_time: number | null;
  /** Exact to the hour, because it is written seldom; null while no use was recorded (older versions recorded none). */
  last_use_time: number | null;
  /** Ids of the workspaces and environments that the key may touch; null means all of them. */
  workspaces_json: string | null;
  environments_json: string | null;
  /** 0 for a key of an earlier version, which might reach more than its restrictions said. */
  is_exact: number;
}

/** A browser that is signed in to the console. */
export interface SessionRow {
  /** SHA-256 of the browser's token, in lower-case hex. */
  hash: string;
  key_id: string;
  expiration_time: number;
}

export interface ChangeRequestTable {
  position: Generated<number>;
  id: string;
  workspace_id: string;
  environment_id: string;
  kind: ChangeRequestKind;
  name: string;
  operation: ChangeRequestOperation;
  status: ChangeRequestStatus;
  title: string | null;
  comment: string | null;
  /** The new definition (`DefinitionContent`) or the list of keys; otherwise JSON null. */
  content_json: string;
  rollout_status_id: string | null;
  /** `{id, name}` of the Admin API keys that alone may approve; empty means any but the author's. */
  approvers_json: string;
  comments_json: string;
  author_id: string;
  author_name: string;
  creation_time: number;
}

export type ChangeRequestKind = 'flag' | 'segment';
export const OPERATIONS = ['CREATE', 'UPDATE', 'KILL', 'RESTORE', 'ARCHIVE'] as const;
export type ChangeRequestOperation = (typeof OPERATIONS)[number];
/** `REQUESTED` is open; the others are final. */
export type ChangeRequestStatus = 'REQUESTED' | 'PUBLISHED' | 'REJECTED' | 'WITHDRAWN';

export interface AuditTable {
  id: Generated<number>;
  time: number;
  transaction_id: string;
  workspace_id: string | null;
  environment_id: string | null;
  /** At the time of the change; null for changes at the level of the workspace. */
  environment_name: string | null;
  kind: AuditKind;
  name: string;
  action: AuditAction;
  title: string | null;
  comment: string | null;
  /**
   * Of the Admin API key; null for changes without one (seed, operator), and in entries of versions that recorded names
   * alone. The id of a lent key is in no list of keys, and a later key may have the name of a revoked one.
   */
  key_id: string | null;
  key_name: string | null;
  difference_json: string;
}

export type AuditKind =
  | 'flag'
  | 'segment'
  | 'identity'
  | 'workspace'
  | 'environment'
  | 'traffic-type'
  | 'attribute'
  | 'admin-key'
  | 'audit-log';

/** The kind of change. `kill` and `restore` are changes of a definition that move `killed`. */
export type AuditAction =
  | 'create'
  | 'update'
  | 'delete'
  | 'archive'
  | 'unarchive'
  | 'kill'
  | 'restore'
  | 'reallocate'
  | 'activate'
  | 'deactivate'
  | 'add-keys'
  | 'remove-keys'
  | 'replace-keys'
  | 'request-change'
  | 'approve'
  | 'reject'
  | 'withdraw'
  | 'expire'
  | 'prune';
