import type { PreparedRead } from '../store/statement.js';
import type { Store } from '../store/store.js';
import type { Db, EnvironmentRow, TrafficTypeRow, WorkspaceRow } from '../store/tables.js';
import type { Schema } from '../rules/matchers.js';
import type { GivenNote, NoteRequirement } from '../rules/note.js';
import type { PlacedDefinition } from '../store/definition-lookups.js';
import type { StoredFlag } from '../store/flags.js';
import type { StoredActivation, StoredSegment } from '../store/segments.js';

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
  /** Then the result of a patch must fit the contract too. */
  readonly isStrict?: boolean;
  /** Id of the approved change request that this change carries out. */
  readonly publishes?: string;
}

/** The objects that paths name, by the word with which an endpoint asks for them. */
export interface Places {
  readonly nothing: object;
  readonly workspace: { readonly workspace: WorkspaceRow };
  /** The path may leave out the workspace. */
  readonly environment: Places['workspace'] & { readonly environment: EnvironmentRow };
  readonly trafficType: Places['workspace'] & { readonly trafficType: TrafficTypeRow };
  readonly identities: Places['environment'] & { readonly trafficType: TrafficTypeRow };
  readonly flag: Places['workspace'] & { readonly flag: StoredFlag };
  /** A flag with the environments that have a definition of it. */
  readonly flagEverywhere: Places['flag'] & { readonly environments: readonly EnvironmentRow[] };
  readonly newDefinition: Places['environment'] & { readonly flag: StoredFlag };
  readonly definition: PlacedDefinition;
  readonly segment: Places['workspace'] & { readonly segment: StoredSegment };
  /** A segment without keys that wait for approval in some environment. */
  readonly segmentEverywhere: Places['segment'];
  readonly newActivation: Places['environment'] & { readonly segment: StoredSegment };
  readonly activation: Places['environment'] & { readonly activation: StoredActivation };
}

/** A request with the objects that its path names, in the transaction of its endpoint. */
export type Work<At extends keyof Places> = ApiRequest &
  Places[At] & { readonly db: Db; readonly store: Store };

/** The conditions of a change beside the existence of its object. */
export interface Demands {
  /** A key that is restricted to environments, or for `everything` a key with any restriction, is refused. */
  readonly reach?: 'workspace' | 'everything';
  readonly note?: NoteRequirement;
  /** Whether environments may demand an approval. */
  readonly approval?: true;
  /** Whether the change waits while a change request for the object is open. */
  readonly unrequested?: true;
  /**
   * Recognises a change that moves the kill and nothing else. An environment may exempt kills from approvals, and open
   * change requests concern neither kills nor restores.
   */
  readonly moves?: (request: ApiRequest) => 'kill' | 'restore' | undefined;
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
  /**
   * Default: the endpoint is not in the contract, and a strict service does not have it. Its path and bodies are those
   * of public documentation of such services, and of clients.
   */
  readonly contract?: ContractForm;
  readonly summary: string;
  /** Of the body of a 200. */
  readonly answer: Schema;
  /** Parameters of the query, beside title and comment of a change. The service ignores others. */
  readonly query?: Readonly<Record<string, Schema>>;
  /** Without one the service ignores any body. */
  readonly body?: Schema;
  /** Raises the limit of the body to ten thousand keys or identities. */
  readonly takesMany?: boolean;
  readonly takesText?: boolean;
  /** Also takes a form with a file of keys, in place of the equivalent JSON object. */
  readonly takesFile?: boolean;
}

/** Does the work of an endpoint in a transaction; see `at`. */
export type Step<T = unknown> = (db: Db, request: ApiRequest, store: Store) => Promise<T>;

/**
 * One operation of the service. It knows nothing of HTTP but its path: it returns the body of a 200, and throws a
 * `Problem` to refuse.
 */
export type Endpoint = EndpointBase &
  (
    | {
        readonly read: Step;
        /** The answer can change without an entry in the audit log, so the service does not cache it. */
        readonly isReadAnew?: boolean;
        /** A shortcut to the answer of `read`. It gives undefined where it cannot decide and `read` has to. */
        readonly lookUp?: (
          lookUp: PreparedRead,
          request: ApiRequest,
        ) => Promise<JsonText | undefined>;
      }
    /** Runs in a write transaction of its own, which is rolled back if it throws. */
    | { readonly write: Step }
  );
