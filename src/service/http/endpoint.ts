import type { PreparedRead } from '../store/statement.js';
import type { Store } from '../store/store.js';
import type { Db } from '../store/tables.js';
import type { Schema } from '../rules/matchers.js';
import type { GivenNote } from '../rules/note.js';

/** The caller of a request, with the facts that the audit log records of it. */
export interface Caller {
  /** Id of the Admin API key; null for changes without one: from a seed, or by the operator of the store. */
  readonly keyId: string | null;
  readonly keyName: string;
  readonly scope: Scope;
  readonly note: GivenNote;
  /** Id of this request; error bodies hold it too. */
  readonly transactionId: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Ids of the workspaces and environments that a key may touch; null means all of them. */
export interface Scope {
  readonly workspaces: readonly string[] | null;
  readonly environments: readonly string[] | null;
}

/** A request as an endpoint sees it: its shape was checked, and its caller is known. */
export interface ApiRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Fits the endpoint's schema; undefined if the request has no body. */
  readonly body: unknown;
  readonly caller: Caller;
  /** Whether the service is strict: then the result of a patch must fit the contract too. */
  readonly isStrict?: boolean;
  /** Id of the approved change request that this change carries out. */
  readonly publishes?: string;
}

/** An answer that is JSON text already; the service sends it unchanged. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The form of a request in the contract; a strict service refuses everything else. */
export interface ContractForm {
  /** Parameters beside title and comment of a change. Default: none. */
  readonly query?: Readonly<Record<string, Schema>>;
  /** Default: no body. */
  readonly body?: Schema;
}

interface EndpointBase {
  /** Several where clients are known to use either. */
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE')[];
  /** The path behind the prefix; `:name` is a parameter. */
  readonly path: string;
  /** Default: the endpoint is not in the contract, and a strict service does not have it. */
  readonly contract?: ContractForm;
  readonly summary: string;
  /** Schema of the body of a 200. */
  readonly answer: Schema;
  /** Parameters of the query, beside title and comment of a change. The service ignores others. */
  readonly query?: Readonly<Record<string, Schema>>;
  /** Schema of the body. Without one the service ignores any body. */
  readonly body?: Schema;
  /** Raises the limit of the body to ten thousand keys or identities. */
  readonly takesMany?: boolean;
  /** Takes a body that is no JSON as text. */
  readonly takesText?: boolean;
  /** Also takes a form with a file of keys, in place of the equivalent JSON object. */
  readonly takesFile?: boolean;
}

/**
 * One operation of the service. It knows nothing of HTTP but its path: it returns the body of a 200, and throws a
 * `Problem` to refuse.
 */
export type Endpoint = EndpointBase &
  (
    | {
        readonly read: (db: Db, request: ApiRequest) => Promise<unknown>;
        /** The answer can change without an entry in the audit log, so the service does not cache it. */
        readonly isReadAnew?: boolean;
        /** A shortcut to the answer of `read`. It gives undefined where it cannot decide and `read` has to. */
        readonly lookUp?: (
          lookUp: PreparedRead,
          request: ApiRequest,
        ) => Promise<JsonText | undefined>;
      }
    /** Runs in a write transaction of its own, which is rolled back if it throws. */
    | { readonly write: (db: Db, request: ApiRequest, store: Store) => Promise<unknown> }
  );
