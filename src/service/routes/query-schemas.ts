import type { Schema } from '../rules/matchers.js';

/** Parameters of queries, for the description of the service. The modules in `rules/` interpret them. */

const text = (description: string): Schema => ({ type: 'string', description });

const TEXT: Schema = { type: 'string' };

/** A whole number. An empty parameter counts as not given. */
const NUMBER: Schema = { type: ['integer', 'string'], maximum: 999_999_999_999_999, maxLength: 0 };

/** For lists with pages. The limits themselves are in `rules/paging.ts`. */
export const PAGE_QUERY: Readonly<Record<string, Schema>> = {
  offset: {
    ...NUMBER,
    minimum: 0,
    default: 0,
    description: 'Skips so many objects.',
  },
  limit: {
    ...NUMBER,
    minimum: 1,
    description: 'Size of the page. One that is too large is cut, and the answer says to what.',
  },
};

/** For every change. The contract names them for the PATCH of a definition. */
export const WORDS_QUERY: Readonly<Record<string, Schema>> = {
  title: text('Title of the change, for the audit log.'),
  comment: text('Comment on the change, for the audit log.'),
};

/** `nameOp` says how `name` is compared. */
export const WORKSPACE_QUERY: Readonly<Record<string, Schema>> = {
  ...PAGE_QUERY,
  name: text('Of the workspaces.'),
  nameOp: { enum: ['IS', 'STARTS_WITH', 'CONTAINS', ''], default: 'IS' },
};

/** All filters that are given have to match. */
export const FLAG_QUERY: Readonly<Record<string, Schema>> = {
  ...PAGE_QUERY,
  name: text('Part of the name, in any case.'),
  tag: { ...text('May be repeated: flags that have all of them.'), type: 'array', items: TEXT },
  rolloutStatus: text('Id of a rollout status.'),
};

/** Both filters that are given have to match. */
export const AUDIT_QUERY: Readonly<Record<string, Schema>> = {
  ...PAGE_QUERY,
  object: text('`KIND/NAME`, or a name.'),
  environment: text('Id or name.'),
};

/** Pages follow each other by a marker. */
export const CHANGE_REQUEST_QUERY: Readonly<Record<string, Schema>> = {
  limit: {
    ...NUMBER,
    minimum: 1,
    default: 20,
    description: 'One above 100 is cut, and the answer says so.',
  },
  after: { ...text('`nextMarker` of the page before.'), pattern: '^[0-9]{0,15}$' },
  environmentId: text('Id or name.'),
  status: text('`REQUESTED`, `PUBLISHED`, `REJECTED` or `WITHDRAWN`.'),
};

/** Pages follow each other by markers, where they are asked for. */
export const ATTRIBUTE_QUERY: Readonly<Record<string, Schema>> = {
  paginate: text('`true`: one page. Otherwise all attributes as a bare list.'),
  searchPrefix: text('How their ids begin, in any case.'),
  afterMarker: text('`nextMarker` of the page before.'),
  beforeMarker: text('`previousMarker` of the page after.'),
  markerLimit: {
    ...NUMBER,
    minimum: 0,
    default: 50,
    description: 'Size of the page. One above 200 is cut, and the answer says so.',
  },
};

/** The contract names the workspace of this list in the query and not in the path. */
export const ROLLOUT_STATUS_QUERY: Readonly<Record<string, Schema>> = {
  wsId: text('Id or name of a workspace. Default: all workspaces that the key sees.'),
};

/** Without `replace` an upload adds keys. That an upload may replace them follows public documentation. */
export const UPLOAD_QUERY: Readonly<Record<string, Schema>> = {
  replace: {
    ...text('`true`, in any case, or empty: keys that are not sent are removed.'),
    pattern: '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])?$',
  },
};
