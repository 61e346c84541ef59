import type { Metric } from '../../platform/prometheus.js';

const RUN_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const REQUEST_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** All metrics. Labels have a bounded number of values: never a flag, segment, key, commit or a person's reason. */
export const METRICS = {
  info: {
    name: 'flagkeel_info',
    type: 'gauge',
    labels: ['version'],
    help: 'Always 1.',
  },
  runs: {
    name: 'flagkeel_runs_total',
    type: 'counter',
    labels: ['source', 'result'],
    help: 'Runs that ended.',
  },
  runSeconds: {
    name: 'flagkeel_run_duration_seconds',
    type: 'histogram',
    labels: ['source', 'result'],
    help: 'How long runs took.',
    buckets: RUN_BUCKETS,
  },
  lastRun: {
    name: 'flagkeel_last_run_timestamp_seconds',
    type: 'gauge',
    labels: ['source'],
    help: 'When the newest run ended.',
  },
  lastSuccess: {
    name: 'flagkeel_last_success_timestamp_seconds',
    type: 'gauge',
    labels: ['source'],
    help: 'When the newest run ended after which nothing was held, failed or unknown.',
  },
  changes: {
    name: 'flagkeel_changes_total',
    type: 'counter',
    labels: ['source', 'kind', 'action', 'outcome'],
    help: 'Changes that a run tried to write: applied, failed or skipped.',
  },
  objects: {
    name: 'flagkeel_objects',
    type: 'gauge',
    labels: ['source', 'environment', 'standing'],
    help: 'Objects that git orders, by what became of them: live, waits, held, failed, unknown.',
  },
  drift: {
    name: 'flagkeel_drift_objects',
    type: 'gauge',
    labels: ['source', 'environment'],
    help: 'Objects that were changed on the service and not put back.',
  },
  withheld: {
    name: 'flagkeel_withheld_objects',
    type: 'gauge',
    labels: ['source', 'environment'],
    help: 'Changes that are held back.',
  },
  liveKills: {
    name: 'flagkeel_live_kills',
    type: 'gauge',
    labels: ['source', 'environment'],
    help: 'Flags that are killed on the service and not by git.',
  },
  reminders: {
    name: 'flagkeel_reminders',
    type: 'gauge',
    labels: ['source', 'what'],
    help: 'Kills past their `review`, flags past their `expires`.',
  },
  heldRamps: {
    name: 'flagkeel_held_ramps',
    type: 'gauge',
    labels: ['source'],
    help: 'Ramps of which no step is taken.',
  },
  unmanaged: {
    name: 'flagkeel_unmanaged_objects',
    type: 'gauge',
    labels: ['source', 'kind'],
    help: 'Objects of the workspace that no file declares; absent where the service cannot list them.',
  },
  appliedCommit: {
    name: 'flagkeel_applied_commit_timestamp_seconds',
    type: 'gauge',
    labels: ['source'],
    help: 'When the newest applied commit was made.',
  },
  lag: {
    name: 'flagkeel_lag_seconds',
    type: 'gauge',
    labels: ['source'],
    help: 'How long ago the newest commit was made, while it is not applied; otherwise 0.',
  },
  progressDone: {
    name: 'flagkeel_progress_done',
    type: 'gauge',
    labels: ['source', 'phase'],
    help: 'Objects looked at, or steps sent, in the phase of the run under way; absent between runs.',
  },
  progressTotal: {
    name: 'flagkeel_progress_total',
    type: 'gauge',
    labels: ['source', 'phase'],
    help: 'How many the phase of the run under way has in all; 0 while unknown, absent between runs.',
  },
  guardRefusals: {
    name: 'flagkeel_guard_refusals_total',
    type: 'counter',
    labels: ['source', 'guard'],
    help: 'Runs that a guard refused.',
  },
  ready: {
    name: 'flagkeel_ready',
    type: 'gauge',
    labels: ['source'],
    help: '1: in `/readyz` nothing is missing for this source.',
  },
  trouble: {
    name: 'flagkeel_trouble',
    type: 'gauge',
    labels: ['source', 'what'],
    help: '1: this part cannot be reached or used: checkout, remote, service, key-missing, key-refused, place (workspace or environment), database.',
  },
  suspended: {
    name: 'flagkeel_suspended',
    type: 'gauge',
    labels: ['source'],
    help: '1: nothing but kills is written.',
  },
  pinned: {
    name: 'flagkeel_pinned',
    type: 'gauge',
    labels: ['source'],
    help: '1: held at one commit.',
  },
  unsigned: {
    name: 'flagkeel_unsigned',
    type: 'gauge',
    labels: ['source'],
    help: '1: no allowed signer signed the newest commit, which is not applied.',
  },
  leader: {
    name: 'flagkeel_leader',
    type: 'gauge',
    labels: ['source'],
    help: '1: this process is the one that writes.',
  },
  serviceRequests: {
    name: 'flagkeel_service_requests_total',
    type: 'counter',
    labels: ['method', 'route', 'status'],
    help: 'Requests to the service, tries counted one by one; status `none`: no whole answer came.',
  },
  serviceSeconds: {
    name: 'flagkeel_service_request_duration_seconds',
    type: 'histogram',
    labels: ['method', 'route'],
    help: 'How long the service took to answer.',
    buckets: REQUEST_BUCKETS,
  },
  serviceWaits: {
    name: 'flagkeel_service_wait_seconds_total',
    type: 'counter',
    labels: [],
    help: 'How long requests waited for their turn, because the pace is limited.',
  },
  serviceRetries: {
    name: 'flagkeel_service_retries_total',
    type: 'counter',
    labels: [],
    help: 'Requests that were sent once more.',
  },
  webhooks: {
    name: 'flagkeel_webhooks_total',
    type: 'counter',
    labels: ['result'],
    help: 'Webhooks that came: accepted, ignored, repeated or refused.',
  },
  notifications: {
    name: 'flagkeel_notifications_total',
    type: 'counter',
    labels: ['format', 'result'],
    help: 'Notifications: sent, failed or dropped.',
  },
} as const satisfies Readonly<Record<string, Metric>>;
