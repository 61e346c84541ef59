import type { StatusFlags } from '../compose/commit-statuses.js';
import type { OperationsFlags } from '../compose/operations.js';
/** Options that several commands share, as commander hands them over. Absent: not given. */
export interface CommonFlags {
  readonly format?: 'text' | 'json' | 'markdown';
  readonly output?: string;
  readonly showKeys?: boolean;
  /** Commander's form of `--no-color`. */
  readonly color: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly logFormat?: 'pretty' | 'json';
}

export interface ServiceFlags {
  readonly url?: string;
  readonly embedded?: boolean;
  readonly embeddedDir?: string;
  readonly environment: readonly string[];
  readonly only: readonly string[];
  /** Milliseconds. */
  readonly timeout?: number;
  readonly concurrency?: number;
}

export interface ReconcileFlags extends CommonFlags, ServiceFlags {
  readonly dryRun?: boolean;
  readonly detailedExitcode?: boolean;
  readonly prune?: boolean;
  readonly adopt?: boolean;
  readonly revertDrift?: boolean;
  readonly identities?: boolean;
  readonly plan?: string;
  readonly planHash?: string;
  readonly since?: string;
  readonly approve?: string;
  readonly force?: boolean;
  readonly allowOlder?: boolean;
  readonly allowDirty?: boolean;
  readonly title?: string;
  readonly comment?: string;
  /** Milliseconds. */
  readonly lockTimeout: number;
}

export interface ReviewFlags extends CommonFlags, ServiceFlags {
  readonly since?: string;
  readonly target?: string;
  readonly offline?: boolean;
  readonly forge?: 'github' | 'gitlab' | 'none';
  readonly forgeUrl?: string;
  readonly repository?: string;
  readonly pullRequest?: number;
  readonly commit?: string;
  readonly planUrl?: string;
  readonly sarif?: string;
  readonly junit?: string;
}

export interface StateFlags extends CommonFlags, ServiceFlags {
  /** Milliseconds. */
  readonly lockTimeout: number;
}

export interface KillFlags extends CommonFlags {
  readonly url?: string;
  readonly embedded?: boolean;
  readonly embeddedDir?: string;
  /** As flaghoist.yaml names it. */
  readonly environment: string;
  readonly reason?: string;
  /** Milliseconds. */
  readonly timeout?: number;
}

export interface WatchFlags
  extends Omit<CommonFlags, 'format' | 'output' | 'showKeys'>, OperationsFlags, StatusFlags {
  readonly repo?: string;
  readonly branch?: string;
  readonly path?: string;
  readonly config?: string;
  /** URL; where replicas meet. */
  readonly database?: string;
  /** Milliseconds. */
  readonly lease: number;
  /** Milliseconds; likewise the two below. */
  readonly interval: number;
  readonly jitter?: number;
  readonly debounce: number;
  /** Fields of cron, or `off`. */
  readonly schedule: string;
  readonly url?: string;
  readonly embedded?: boolean;
  readonly embeddedDir?: string;
  readonly environment: readonly string[];
  readonly concurrency?: number;
  readonly prune?: boolean;
  readonly adopt?: boolean;
  readonly revertDrift?: boolean;
  readonly allowOlder?: boolean;
  readonly title?: string;
  readonly comment?: string;
  /** Milliseconds; likewise below. */
  readonly timeout?: number;
  readonly lockTimeout: number;
}

export type ValidateFlags = CommonFlags;

/** What a command talks to: the process, or a test's stand-in for it. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted by SIGINT or SIGTERM; the reason is the signal's name. */
  readonly signal: AbortSignal;
  /** Calls the listener at each SIGHUP from now on. */
  readonly onHangup?: (listener: () => void) => void;
}
