/**
 * Errors of the run: thrown, typed, and mapped to an exit code in one table. Faults in the specs are diagnostics
 * (`model/diagnostic.ts`) and failed steps are outcomes (`model/run.ts`), not errors of this kind; a plain `Error`
 * whose message starts with `bug:` is a bug of flagkeel. Behaviour depends on `code`, never on the text.
 */

/** Exit codes of the command; docs/operations.md says what each means. */
export const EXIT = {
  ok: 0,
  failed: 1,
  changes: 2,
  invalidSpecs: 3,
  guardRefused: 4,
  notConverged: 5,
  unreadable: 6,
  refused: 7,
  held: 8,
  usage: 64,
  sigint: 130,
  sigterm: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Exit code of a process that a signal ended. @param signal its reason is the signal's name. */
export function exitCodeOfSignal({ reason }: Pick<AbortSignal, 'reason'>): ExitCode {
  return reason === 'SIGINT' ? EXIT.sigint : EXIT.sigterm;
}

const EXIT_OF_CODE = {
  /** The command line is wrong. */
  USAGE: EXIT.usage,
  /** The config or the specs are absent or invalid. */
  SPECS_INVALID: EXIT.invalidSpecs,
  /** No Admin API key was given, or the file that should hold it cannot be read. */
  NO_KEY: EXIT.unreadable,
  /** The repository proposes a service that the operator did not allow. */
  ORIGIN_NOT_ALLOWED: EXIT.unreadable,
  /** No answer within the tries that the kind of request allows. */
  UNREACHABLE: EXIT.unreadable,
  /** The service refused the key (401, 403). */
  UNAUTHORISED: EXIT.unreadable,
  /** The service answered something that the contract does not permit, or only part of a list. */
  UNREADABLE: EXIT.unreadable,
  /** The service has no such workspace, environment, traffic type. */
  NOT_ON_SERVICE: EXIT.unreadable,
  /** The service refused one request for a reason of its own (4xx). */
  REJECTED: EXIT.failed,
  /** The operator demands signatures, and none of the named signers signed HEAD. */
  UNSIGNED: EXIT.guardRefused,
  /** The plan is not the reviewed one. */
  PLAN_DIFFERS: EXIT.refused,
  /** HEAD is older than what was applied last. */
  OLDER_HEAD: EXIT.refused,
  /** Another run holds the state or the store. */
  IN_USE: EXIT.refused,
  /** The result could not be written to its destination. */
  OUTPUT: EXIT.failed,
  /** Git could not do what was asked. */
  GIT: EXIT.failed,
  /** The forge of a review refused a request. */
  FORGE: EXIT.failed,
  /** The state ref holds something that this version cannot read. */
  STATE_UNREADABLE: EXIT.failed,
  /** SIGINT or SIGTERM came. */
  INTERRUPTED: EXIT.sigint,
} as const satisfies Record<string, ExitCode>;

export type ErrorCode = keyof typeof EXIT_OF_CODE;

interface Circumstances extends ErrorOptions {
  fateUnknown?: boolean | undefined;
}

export class FlagkeelError extends Error {
  readonly code: ErrorCode;
  /** Whether the failed write may have taken effect all the same. */
  readonly fateUnknown: boolean;
  /** What the message counts or sums up, one on a line each. */
  readonly items: readonly string[];

  /**
   * @param message `cannot <do what to which thing>: <why>`, lower case, no full stop, the remedy in brackets. Never
   *   contains a key.
   * @param options `fateUnknown`: by default derived from the code, because most errors concern a single request.
   */
  constructor(
    code: ErrorCode,
    message: string,
    options: Circumstances & { items?: readonly string[] } = {},
  ) {
    super(message, options);
    this.name = 'FlagkeelError';
    this.code = code;
    this.items = options.items ?? [];
    this.fateUnknown = options.fateUnknown ?? (code === 'UNREACHABLE' || code === 'UNREADABLE');
  }

  get exitCode(): ExitCode {
    return EXIT_OF_CODE[this.code];
  }
}

/**
 * The service answered one request with an error status. A write has code `UNAUTHORISED` for 401 and `REJECTED` for
 * every other status; its effect is unknown from status 500 on, and after an earlier try without an answer. A read has
 * `UNAUTHORISED` for 401 and 403, and `UNREADABLE` for every other status.
 */
export class RejectedError extends FlagkeelError {
  readonly status: number;
  /** The service's own words; untrusted text. */
  readonly serviceMessage: string;
  readonly transactionId: string | null;

  constructor(
    message: string,
    answer: { status: number; serviceMessage: string; transactionId: string | null },
    options: Circumstances & { code?: 'UNAUTHORISED' | 'UNREADABLE' | 'REJECTED' } = {},
  ) {
    const { code = answer.status === 401 ? 'UNAUTHORISED' : 'REJECTED', ...rest } = options;
    super(code, message, {
      ...rest,
      fateUnknown: rest.fateUnknown ?? (answer.status >= 500 || undefined),
    });
    this.name = 'RejectedError';
    this.status = answer.status;
    this.serviceMessage = answer.serviceMessage;
    this.transactionId = answer.transactionId;
  }
}

export function isRefusedWith(error: unknown, statuses: readonly number[]): error is RejectedError {
  return error instanceof RejectedError && statuses.includes(error.status);
}

/** Message of any thrown value, which need not be an `Error`. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
