export interface Metric {
  /** Prometheus's: counters end in `_total`, sizes are in seconds. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
  /** Upper bounds of a histogram, in seconds. */
  readonly buckets?: readonly number[];
}

const RUN_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const REQUEST_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Everything that is measured. Labels are of a bounded number: no flag, segment, key, commit or reason that a person
 * wrote is among them.
 */
export const METRICS = {
  info: {
    name: 'flaghoist_info',
    type: 'gauge',
    labels: ['version'],
    help: 'Always 1.',
  },
  runs: {
    name: 'flaghoist_runs_total',
    type: 'counter',
    labels: ['source', 'result'],
    help: 'Runs that ended.',
  },
  runSeconds: {
    name: 'flaghoist_run_duration_seconds',
    type: 'histogram',
    labels: ['source', 'result'],
    help: 'How long runs took.',
    buckets: RUN_BUCKETS,
  },
  lastRun: {
    name: 'flaghoist_last_run_timestamp_seconds',
    type: 'gauge',
    labels: ['source'],
    help: 'When the newest run ended.',
  },
  lastSuccess: {
    name: 'flaghoist_last_success_timestamp_seconds',
    type: 'gauge',
    labels: ['source'],
    help: 'When the newest run ended that left everything in line.',
  },
  changes: {
    name: 'flaghoist_changes_total',
    type: 'counter',
    labels: ['source', 'kind', 'action', 'outcome'],
    help: 'Changes that a run tried to write: applied, failed or skipped.',
  },
  drift: {
    name: 'flaghoist_drift_objects',
    type: 'gauge',
    labels: ['source', 'environment'],
    help: 'Objects that were changed on the service and not put back.',
  },
  withheld: {
    name: 'flaghoist_withheld_objects',
    type: 'gauge',
    labels: ['source', 'environment'],
    help: 'Changes that are held back and wait for somebody.',
  },
  unmanaged: {
    name: 'flaghoist_unmanaged_objects',
    type: 'gauge',
    labels: ['source', 'kind'],
    help: 'Objects of the workspace that no file declares; absent where the service cannot list them.',
  },
  appliedCommit: {
    name: 'flaghoist_applied_commit_timestamp_seconds',
    type: 'gauge',
    labels: ['source'],
    help: 'When the newest applied commit was made.',
  },
  lag: {
    name: 'flaghoist_lag_seconds',
    type: 'gauge',
    labels: ['source'],
    help: 'How long ago the newest commit was made, while it is not applied; otherwise 0.',
  },
  guardRefusals: {
    name: 'flaghoist_guard_refusals_total',
    type: 'counter',
    labels: ['source', 'guard'],
    help: 'Runs that a guard refused.',
  },
  ready: {
    name: 'flaghoist_ready',
    type: 'gauge',
    labels: ['source'],
    help: '1: in `/readyz` nothing is missing for this source.',
  },
  suspended: {
    name: 'flaghoist_suspended',
    type: 'gauge',
    labels: ['source'],
    help: '1: nothing but kills is written.',
  },
  pinned: {
    name: 'flaghoist_pinned',
    type: 'gauge',
    labels: ['source'],
    help: '1: held at one commit.',
  },
  leader: {
    name: 'flaghoist_leader',
    type: 'gauge',
    labels: ['source'],
    help: '1: this process is the one that writes.',
  },
  serviceRequests: {
    name: 'flaghoist_service_requests_total',
    type: 'counter',
    labels: ['method', 'route', 'status'],
    help: 'Requests to the service, tries counted one by one; status `none`: no whole answer came.',
  },
  serviceSeconds: {
    name: 'flaghoist_service_request_duration_seconds',
    type: 'histogram',
    labels: ['method', 'route'],
    help: 'How long the service took to answer.',
    buckets: REQUEST_BUCKETS,
  },
  serviceWaits: {
    name: 'flaghoist_service_wait_seconds_total',
    type: 'counter',
    labels: [],
    help: 'How long requests waited for their turn, because the pace is limited.',
  },
  serviceRetries: {
    name: 'flaghoist_service_retries_total',
    type: 'counter',
    labels: [],
    help: 'Requests that were sent once more.',
  },
  webhooks: {
    name: 'flaghoist_webhooks_total',
    type: 'counter',
    labels: ['result'],
    help: 'Webhooks that came: accepted, ignored, repeated or refused.',
  },
  notifications: {
    name: 'flaghoist_notifications_total',
    type: 'counter',
    labels: ['format', 'result'],
    help: 'Notifications: sent, failed or dropped.',
  },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricKey = keyof typeof METRICS;
