import type { PreparedRead } from '../store/lookup.js';
import type { Store } from '../store/store.js';
import type { Db } from '../store/tables.js';
import type { Schema } from '../rules/matchers.js';
import type { GivenNote } from '../rules/note.js';

/** Who asks, and what stands in the audit log of what it does. */
export interface Caller {
  /** Id of the Admin API key. Null where the change comes without one: from a seed, or from whoever holds the store. */
  readonly keyId: string | null;
  readonly keyName: string;
  readonly scope: Scope;
  readonly note: GivenNote;
  /** Id of this request; the body of an error holds it too. */
  readonly transactionId: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What a key may touch, as ids; null means everything. */
export interface Scope {
  readonly workspaces: readonly string[] | null;
  readonly environments: readonly string[] | null;
}

/** A request as an endpoint sees it: checked, and by a known caller. */
export interface ApiRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Held against the endpoint's schema; undefined where none was sent. */
  readonly body: unknown;
  readonly caller: Caller;
  /** Whether the service is a strict one: what a patch makes must be in the contract too. */
  readonly isStrict?: boolean;
  /** Id of the change request that is being published: the change was approved. */
  readonly publishes?: string;
}

/** An answer that is JSON text already and is sent as it is. */
export class JsonText {
  readonly text: string;
  /**
   * `KIND/NAME` of the one object that the text tells of. Null where it tells of several, so that
   * any change may make it untrue.
   */
  readonly subject: string | null;

  constructor(text: string, subject: string | null = null) {
    this.text = text;
    this.subject = subject;
  }
}

/** What the contract shows of a request; a strict service refuses everything else. */
export interface ContractForm {
  /** Beside title and comment of a change. Default: none. */
  readonly query?: Readonly<Record<string, Schema>>;
  /** Default: there is no body. */
  readonly body?: Schema;
}

interface EndpointBase {
  /** More than one where clients are known to use either. */
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE')[];
  /** After the prefix; `:name` is a parameter. */
  readonly path: string;
  /** Default: the contract does not show the endpoint, and a strict service does not have it. */
  readonly contract?: ContractForm;
  readonly summary: string;
  /** Schema of the body of a 200. */
  readonly answer: Schema;
  /** Parameters that the query may hold, beside title and comment of a change. Others are passed over. */
  readonly query?: Readonly<Record<string, Schema>>;
  /** Schema of the body; absent: a body is passed over. */
  readonly body?: Schema;
  /** Takes ten thousand keys or identities at one time: its bodies may be that large. */
  readonly takesMany?: boolean;
  /** A body that is no JSON is taken as text. */
  readonly takesText?: boolean;
  /** A form with a file of keys is taken for the JSON object that says the same. */
  readonly takesFile?: boolean;
}

/**
 * One operation of the service. It knows nothing of HTTP but its place: what it returns is the body of a 200, what it
 * throws (`Problem`) is a refusal.
 */
export type Endpoint = EndpointBase &
  (
    | {
        readonly read: (db: Db, request: ApiRequest) => Promise<unknown>;
        /** Tells of what changes without an entry in the audit log, so that no answer is kept. */
        readonly isReadAnew?: boolean;
        /** A shorter way to the same answer. Undefined: only `read` can tell. */
        readonly lookUp?: (
          lookUp: PreparedRead,
          request: ApiRequest,
        ) => Promise<JsonText | undefined>;
      }
    /** Runs alone and whole: what it throws undoes all it did. */
    | { readonly write: (db: Db, request: ApiRequest, store: Store) => Promise<unknown> }
  );
