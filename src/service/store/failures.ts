export interface StoreFailure {
  /** 507 if the disk is full, otherwise 503. A write may have been made completely or not at all. */
  readonly status: 503 | 507;
  readonly message: string;
  /** Code of the system, of SQLite, or of PostgreSQL (SQLSTATE, appendix A of its manual); empty if it gave none. */
  readonly code: string;
}

/** The first row whose pattern fits decides. SQLite reports a quota, or a disk that became read-only, as a failed write. */
const FAILURES: readonly (readonly [RegExp, StoreFailure['status'], string])[] = [
  [/^(SQLITE_FULL|53100)$/, 507, 'The disk of the store is full'],
  [
    /^SQLITE_IOERR_WRITE$/,
    507,
    'The disk of the store takes no writes: full, over a quota, or read-only',
  ],
  [/^(SQLITE_READONLY.*|25006)$/, 503, 'The store is read-only'],
  [
    /^(SQLITE_BUSY.*|SQLITE_LOCKED.*|55P03|40P01|40001)$/,
    503,
    'Another process holds the lock of the store',
  ],
  [/^(SQLITE_CORRUPT.*|SQLITE_NOTADB|XX00[12])$/, 503, 'The store is damaged'],
  [/^(SQLITE_IOERR.*|SQLITE_CANTOPEN.*|SQLITE_NOMEM|58.{3})$/, 503, 'The disk of the store fails'],
  [/^(28.{3}|3D000|42501)$/, 503, 'The store does not let the service in'],
  [
    /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)$/,
    503,
    'The store does not answer',
  ],
  [/^(08.{3}|53.{3}|57014|57P0.|25P03)$/, 503, 'The store does not answer'],
];

/** Messages of `pg` about a connection that broke, or was not made in time. They have no code. */
const WORDS =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect)/;

/** @returns undefined if the error is about something else: a refusal by the rules, or a bug. */
export function failureOf(error: unknown): StoreFailure | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const row = FAILURES.find(([pattern]) => pattern.test(code));
  if (row !== undefined) return { status: row[1], message: row[2], code };
  return WORDS.test(error.message) ? { ...NO_ANSWER, code } : undefined;
}

const NO_ANSWER = { status: 503, message: 'The store does not answer' } as const;

/** An error of the kind that `failureOf` reads. */
export function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

interface Failed {
  readonly error: unknown;
  readonly again: () => Promise<unknown>;
}

/** Health checks usually give up after a few seconds. */
const CHECK_WITHIN_MS = 3_000;

/**
 * Remembers the last failure of a store. A full disk or a damaged page fails only the work that meets it, so a check
 * that reads something else would call the store well.
 */
export function storeHealth(ping: () => Promise<unknown>, afterFailure: (code: string) => void) {
  let last: Failed | undefined;
  let checking: Promise<void> | undefined;
  const check = async (): Promise<void> => {
    const failed = last;
    const late = failure('ETIMEDOUT', `the store did not answer within ${CHECK_WITHIN_MS} ms`);
    const tries = ping().then(async () => {
      if (failed !== undefined) await stillFails(failed);
    });
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject((failed?.error as Error | undefined) ?? late);
      }, CHECK_WITHIN_MS);
    });
    try {
      await Promise.race([tries, tooLate]);
    } catch (error) {
      afterFailure(failureOf(error)?.code ?? '');
      throw error;
    } finally {
      clearTimeout(timer);
    }
    if (last === failed) last = undefined;
  };
  return {
    /** @param again what a check tries if the store fails `work`, and leaves nothing behind. Default: the same. */
    noting: async <T>(work: () => Promise<T>, again: () => Promise<unknown> = work): Promise<T> =>
      work().catch((error: unknown) => {
        const failed = failureOf(error);
        if (failed !== undefined) {
          last = { error, again };
          afterFailure(failed.code);
        }
        throw error;
      }),
    check: async (): Promise<void> => {
      checking ??= check().finally(() => {
        checking = undefined;
      });
      return checking;
    },
  };
}

/** Another error than a failure of the store shows that the store answers. */
async function stillFails({ again }: Failed): Promise<void> {
  await again().catch((error: unknown) => {
    if (failureOf(error) !== undefined) throw error;
  });
}
