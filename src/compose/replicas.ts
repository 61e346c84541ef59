import { realTime } from '../api/time.js';
import type { OperatorSettings } from '../config.js';
import type { Replicas } from '../daemon/replicas/replicas.js';
import { FlaghoistError } from '../errors.js';
import type { Log } from '../log.js';

/** With less, a pause of the machine would be taken for a replica's end. */
const MIN_LEASE_MS = 1_000;

/**
 * Where the replicas meet; undefined: there is one alone.
 *
 * @throws FlaghoistError `USAGE`
 */
export function databaseOf(
  { database, embedded }: { readonly database?: string; readonly embedded?: boolean },
  settings: OperatorSettings,
): string | undefined {
  const url = database ?? settings.database();
  if (url === undefined) return undefined;
  if (embedded === true) {
    throw new FlaghoistError('USAGE', 'cannot use --database with --embedded: nobody shares that');
  }
  if (URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)) return url;
  throw new FlaghoistError('USAGE', 'cannot use the database: a URL postgres://… is expected');
}

/** @throws FlaghoistError `USAGE`, `STATE_UNREADABLE` */
export async function openReplicas(
  database: string | undefined,
  leaseMs: number,
  log: Log,
): Promise<Replicas | undefined> {
  if (database === undefined) return undefined;
  if (leaseMs < MIN_LEASE_MS) {
    throw new FlaghoistError('USAGE', `cannot lease for less than ${MIN_LEASE_MS} ms`);
  }
  // Loaded only where it is used: it brings the queue and the driver of the database.
  const { Replicas: Loaded } = await import('../daemon/replicas/replicas.js');
  return Loaded.open({ url: database, leaseMs, time: realTime, log });
}

/** The password, as it stands in the URL and as it is meant. */
export function secretsInUrl(url: string): readonly string[] {
  const { password } = new URL(url);
  return password === '' ? [] : [password, decodeURIComponent(password)];
}
