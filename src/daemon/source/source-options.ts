import type { ChangeNote } from '../../model/outcome.js';
import type { OpenRun } from './cycle.js';
import type { Leadership } from './leadership.js';
import type { Upstream } from '../upstream/upstream.js';

/** Identity and settings of one source. */
export interface SourceOptions {
  readonly name: string;
  readonly upstream: Upstream;
  readonly openRun: OpenRun;
  readonly intervalMs: number;
  readonly jitterMs: number;
  readonly debounceMs: number;
  /** Cron fields; null for no scheduled full check. */
  readonly schedule: string | null;
  readonly allowOlder: boolean;
  /** Fields that replace those of the commits. */
  readonly note: Partial<ChangeNote>;
  /** Not set without replicas: this process always leads. */
  readonly leadership?: Leadership | undefined;
}
