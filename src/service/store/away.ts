/**
 * Codes of the system where a server cannot be reached, and of PostgreSQL (SQLSTATE, appendix A of its manual) where it
 * ends connections, starts, stops, or has no connection left. Class 08 is about connections as a whole. `SQLITE_BUSY`: another
 * process has been writing for longer than anybody waits.
 */
const CODES =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|08.{3}|57P0[1-3]|53300|SQLITE_BUSY.*)$/;

/** What `pg` says of a connection that broke, without a code. */
const WORDS =
  /^(Connection terminated|Client has encountered a connection error|Client was closed)/;

/**
 * Whether an error says that the store could not be asked, or that its answer did not come. A write that failed so
 * was made whole or not at all, and nobody here knows which.
 */
export function isStoreAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (WORDS.test(error.message)) return true;
  return 'code' in error && typeof error.code === 'string' && CODES.test(error.code);
}
