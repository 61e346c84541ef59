import type { ChangeNote } from '../../model/outcome.js';
import type { OpenRun } from './cycle.js';
import type { Leadership } from './leadership.js';
import type { Upstream } from '../upstream/upstream.js';

/** What one source is, and how it is kept in line. */
export interface SourceOptions {
  readonly name: string;
  readonly upstream: Upstream;
  readonly openRun: OpenRun;
  readonly intervalMs: number;
  readonly jitterMs: number;
  readonly debounceMs: number;
  /** Fields of cron; null: no full check by the clock. */
  readonly schedule: string | null;
  readonly allowOlder: boolean;
  /** Replace what the commits say. */
  readonly note: Partial<ChangeNote>;
  /** Absent: nobody else keeps the source. */
  readonly leadership?: Leadership | undefined;
}
