import type { Generated, Kysely } from 'kysely';

/**
 * The tables, the same in SQLite and PostgreSQL: text, whole numbers, and nothing that only one of them has. Times are
 * milliseconds since the epoch, truth values 0 and 1, columns that end in `_json` JSON text. `sort_name` is the name
 * in lower case: lists are in its order, by bytes.
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
  identities: IdentityRow;
  admin_keys: AdminKeyRow;
  sessions: SessionRow;
  change_requests: ChangeRequestTable;
  audit: AuditTable;
}

/**
 * The columns that tell the rows of a table apart, and by which they are found in their order; tables before those that
 * refer to them. Sessions are not among them: nobody copies or restores these.
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
  identities: ['environment_id', 'traffic_type_id', 'key'],
  admin_keys: ['id'],
  change_requests: ['position'],
  audit: ['id'],
};

/** So many names, or rows of up to four columns, stand in one statement: both databases bound its parameters. */
export const NAMES_AT_ONCE = 5_000;

/** Either the whole store or one transaction. */
export type Db = Kysely<Tables>;

export interface WorkspaceRow {
  id: string;
  name: string;
  sort_name: string;
  requires_title_and_comments: number;
}

export interface EnvironmentRow {
  id: string;
  workspace_id: string;
  name: string;
  sort_name: string;
  production: number;
  approvals_required: number;
  /** Whether a kill needs no approval where all else does. */
  allow_kills: number;
  creation_time: number;
}

export interface TrafficTypeRow {
  id: string;
  workspace_id: string;
  name: string;
  display_attribute_id: string | null;
}

/** What is known of an attribute of a traffic type. */
export interface AttributeRow {
  traffic_type_id: string;
  id: string;
  display_name: string;
  description: string;
  data_type: string | null;
  is_searchable: number;
  suggested_values_json: string;
}

export interface RolloutStatusRow {
  id: string;
  workspace_id: string;
  name: string;
  description: string;
  position: number;
}

export interface FlagRow {
  id: string;
  workspace_id: string;
  name: string;
  sort_name: string;
  description: string;
  traffic_type_id: string;
  creation_time: number;
  rollout_status_id: string;
  rollout_status_timestamp: number;
  /** Names, in the order in which they were given. */
  tags_json: string;
  owners_json: string;
}

export interface DefinitionRow {
  flag_id: string;
  environment_id: string;
  killed: number;
  /** The members from `treatments` to `defaultRule` as one JSON object, ready to be sent. */
  body_json: string;
  creation_time: number;
  last_update_time: number;
  /** Id of the change request that keeps it from being changed. */
  open_change_request_id: string | null;
}

/** What a definition refers to by name; one row per name. */
export interface DefinitionUseRow {
  flag_id: string;
  environment_id: string;
  kind: 'segment' | 'flag';
  name: string;
}

/** A flag that is kept out of everyone's way. */
export interface ArchivedFlagRow {
  id: string;
  workspace_id: string;
  name: string;
  archived_time: number;
  /** Its rows in the tables above, see `archive.ts`. */
  rows_json: string;
}

export interface SegmentRow {
  id: string;
  workspace_id: string;
  name: string;
  sort_name: string;
  description: string;
  traffic_type_id: string;
  creation_time: number;
  tags_json: string;
}

/** A segment in an environment. */
export interface ActivationTable {
  id: Generated<number>;
  segment_id: string;
  environment_id: string;
  creation_time: number;
  last_update_time: number;
  key_count: number;
  /** Id of the change request that keeps the keys from being changed. */
  open_change_request_id: string | null;
}

export interface SegmentKeyRow {
  activation_id: number;
  key: string;
}

export interface IdentityRow {
  traffic_type_id: string;
  environment_id: string;
  key: string;
  values_json: string;
}

export interface AdminKeyRow {
  id: string;
  name: string;
  /** SHA-256 of the whole key in lower-case hex. */
  hash: string;
  creation_time: number;
  revocation_time: number | null;
  /** From this moment on the key is refused; null: it does not end by itself. */
  expiration_time: number | null;
  /** Exact to the hour: it is written seldom. Null: it was not used since this is kept. */
  last_use_time: number | null;
  /** Ids of what the key may touch; null: everything. */
  workspaces_json: string | null;
  environments_json: string | null;
  /** 0: an earlier version made it, which gave a key more than its restrictions said where workspaces share names. */
  is_exact: number;
}

/** Of a browser that is signed in to the console. */
export interface SessionRow {
  /** SHA-256 of what the browser holds, in lower-case hex. */
  hash: string;
  key_id: string;
  expiration_time: number;
}

/** A change that somebody asked for, and what became of it. */
export interface ChangeRequestTable {
  /** Grows with every request. */
  position: Generated<number>;
  id: string;
  workspace_id: string;
  environment_id: string;
  kind: ChangeRequestKind;
  /** Of the flag or the segment. */
  name: string;
  operation: ChangeRequestOperation;
  status: ChangeRequestStatus;
  title: string | null;
  comment: string | null;
  /** `DefinitionContent` of a definition that would be written, or the list of keys; otherwise null. */
  content_json: string;
  rollout_status_id: string | null;
  /** `{id, name}` of the Admin API keys that alone may approve; empty: any but the author's. */
  approvers_json: string;
  comments_json: string;
  author_id: string;
  author_name: string;
  creation_time: number;
}

export type ChangeRequestKind = 'flag' | 'segment';
export type ChangeRequestOperation = 'CREATE' | 'UPDATE' | 'KILL' | 'RESTORE' | 'ARCHIVE';
/** `REQUESTED` is open; the others are its ends. */
export type ChangeRequestStatus = 'REQUESTED' | 'PUBLISHED' | 'REJECTED' | 'WITHDRAWN';

export interface AuditTable {
  id: Generated<number>;
  time: number;
  transaction_id: string;
  workspace_id: string | null;
  environment_id: string | null;
  environment_name: string | null;
  kind: string;
  name: string;
  action: string;
  title: string | null;
  comment: string | null;
  key_id: string | null;
  key_name: string | null;
  difference_json: string;
}
