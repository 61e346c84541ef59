import { counter, gauge, histogram, type Metric } from '../../platform/prometheus.js';

const RUN_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const REQUEST_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** All metrics. Labels have a bounded number of values: never a flag, segment, key, commit or a person's reason. */
export const METRICS = {
  info: gauge('flagkeel_info', ['version'], 'Always 1.'),
  runs: counter('flagkeel_runs_total', ['source', 'result'], 'Runs that ended.'),
  runSeconds: histogram(
    'flagkeel_run_duration_seconds',
    ['source', 'result'],
    RUN_BUCKETS,
    'How long runs took.',
  ),
  lastRun: gauge('flagkeel_last_run_timestamp_seconds', ['source'], 'When the newest run ended.'),
  lastSuccess: gauge(
    'flagkeel_last_success_timestamp_seconds',
    ['source'],
    'When the newest run ended after which nothing was held, failed or unknown.',
  ),
  changes: counter(
    'flagkeel_changes_total',
    ['source', 'kind', 'action', 'outcome'],
    'Changes that a run tried to write: applied, failed or skipped.',
  ),
  objects: gauge(
    'flagkeel_objects',
    ['source', 'environment', 'standing'],
    'Objects that git orders, by what became of them: live, waits, held, failed, unknown.',
  ),
  drift: gauge(
    'flagkeel_drift_objects',
    ['source', 'environment'],
    'Objects that were changed on the service and not put back.',
  ),
  withheld: gauge(
    'flagkeel_withheld_objects',
    ['source', 'environment'],
    'Changes that are held back.',
  ),
  liveKills: gauge(
    'flagkeel_live_kills',
    ['source', 'environment'],
    'Flags that are killed on the service and not by git.',
  ),
  reminders: gauge(
    'flagkeel_reminders',
    ['source', 'what'],
    'Kills past their `review`, flags past their `expires`.',
  ),
  heldRamps: gauge('flagkeel_held_ramps', ['source'], 'Ramps of which no step is taken.'),
  unmanaged: gauge(
    'flagkeel_unmanaged_objects',
    ['source', 'kind'],
    'Objects of the workspace that no file declares; absent where the service cannot list them.',
  ),
  appliedCommit: gauge(
    'flagkeel_applied_commit_timestamp_seconds',
    ['source'],
    'When the newest applied commit was made.',
  ),
  lag: gauge(
    'flagkeel_lag_seconds',
    ['source'],
    'How long ago the newest commit was made, while it is not applied; otherwise 0.',
  ),
  progressDone: gauge(
    'flagkeel_progress_done',
    ['source', 'phase'],
    'Objects looked at, or steps sent, in the phase of the run under way; absent between runs.',
  ),
  progressTotal: gauge(
    'flagkeel_progress_total',
    ['source', 'phase'],
    'How many the phase of the run under way has in all; 0 while unknown, absent between runs.',
  ),
  guardRefusals: counter(
    'flagkeel_guard_refusals_total',
    ['source', 'guard'],
    'Runs that a guard refused.',
  ),
  ready: gauge('flagkeel_ready', ['source'], '1: in `/readyz` nothing is missing for this source.'),
  trouble: gauge(
    'flagkeel_trouble',
    ['source', 'what'],
    '1: this part cannot be reached or used: checkout, remote, service, key-missing, key-refused, place (workspace or environment), database.',
  ),
  suspended: gauge('flagkeel_suspended', ['source'], '1: nothing but kills is written.'),
  pinned: gauge('flagkeel_pinned', ['source'], '1: held at one commit.'),
  unsigned: gauge(
    'flagkeel_unsigned',
    ['source'],
    '1: no allowed signer signed the newest commit, which is not applied.',
  ),
  leader: gauge('flagkeel_leader', ['source'], '1: this process is the one that writes.'),
  serviceRequests: counter(
    'flagkeel_service_requests_total',
    ['method', 'route', 'status'],
    'Requests to the service, tries counted one by one; status `none`: no whole answer came.',
  ),
  serviceSeconds: histogram(
    'flagkeel_service_request_duration_seconds',
    ['method', 'route'],
    REQUEST_BUCKETS,
    'How long the service took to answer.',
  ),
  serviceWaits: counter(
    'flagkeel_service_wait_seconds_total',
    [],
    'How long requests waited for their turn, because the pace is limited.',
  ),
  serviceRetries: counter(
    'flagkeel_service_retries_total',
    [],
    'Requests that were sent once more.',
  ),
  webhooks: counter(
    'flagkeel_webhooks_total',
    ['result'],
    'Webhooks that came: accepted, ignored, repeated or refused.',
  ),
  notifications: counter(
    'flagkeel_notifications_total',
    ['format', 'result'],
    'Notifications: sent, failed or dropped.',
  ),
} satisfies Readonly<Record<string, Metric>>;
