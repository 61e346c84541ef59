import type { LookUp } from '../store/statement.js';
import type { Db } from '../store/tables.js';
import type { Schema } from '../rules/shape.js';
import type { GivenNote } from '../rules/members.js';

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

/** A key with any restriction cannot change who may do what. */
export function isUnrestricted({ scope }: Pick<Caller, 'scope'>): boolean {
  return scope.environments === null && scope.workspaces === null;
}

export function isPlaceVisible(
  { scope }: Pick<Caller, 'scope'>,
  workspaceId: string,
  environmentId: string,
): boolean {
  return isVisible(scope.workspaces, workspaceId) && isVisible(scope.environments, environmentId);
}

export function isVisible(allowed: readonly string[] | null, id: string): boolean {
  return allowed === null || allowed.includes(id);
}

export interface ApiRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Fits the endpoint's schema; undefined if the request has no body. */
  readonly body: unknown;
  readonly caller: Caller;
  /** Whether the result of a patch must fit the contract too. */
  readonly isStrict?: boolean;
  /** Id of the approved change request that this change carries out. */
  readonly publishes?: string;
}

/** The form of a request in the contract; a strict service refuses everything else. */
interface ContractForm {
  /** Parameters beside title and comment of a change. Default: none. */
  readonly query?: Readonly<Record<string, Schema>>;
  /** Default: no body. */
  readonly body?: Schema;
}

interface OperationBase {
  /** Default: a strict service does not have it. Its path and bodies are those of public documentation, or of clients. */
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

/** The work of an endpoint in a transaction; see `at`. A string is JSON text already, and is sent unchanged. */
export type Step<T = unknown> = (db: Db, request: ApiRequest) => Promise<T>;

/** Knows nothing of HTTP: it returns the body of a 200, and throws a `Problem` to refuse. */
type Operation = OperationBase &
  (
    | {
        readonly read: Step;
        /** The answer can change without an entry in the audit log, so the service does not cache it. */
        readonly isReadAnew?: boolean;
        /** A shortcut to the answer of `read`. It gives undefined where it cannot decide and `read` has to. */
        readonly lookUp?: (lookUp: LookUp, request: ApiRequest) => Promise<string | undefined>;
      }
    /** Runs in a write transaction of its own, which is rolled back if it throws. */
    | { readonly write: Step }
  );

/**
 * Operations by method and path behind the prefix: `GET /workspaces/:ws`, where `:name` is a parameter. Several methods
 * stand with commas, where clients are known to use either.
 */
export type Endpoints = Readonly<Record<string, Operation>>;

export type Endpoint = Operation & {
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE')[];
  readonly path: string;
};

export function endpointsIn(operations: Endpoints): Endpoint[] {
  return Object.entries(operations).map(([place, operation]) => {
    const [methods = '', path = ''] = place.split(' ');
    return { ...operation, path, methods: methods.split(',') as Endpoint['methods'] };
  });
}
