import type { Phase, Trigger } from '../view.js';

/**
 * Decides when one source runs. Pure: events go in, effects come out as values. Callers have clock, timers and chance.
 *
 * ```
 *            trigger               time is up             settled
 *   idle ─────────────► debouncing ──────────► running ─────────────► idle
 *    │                      │ urgent            ▲  │ ▲ │
 *    │ urgent               └───────────────────┘  │ │ │ failed
 *    └─────────────────────────────────────────────┘ │ └───────────► backing-off ──┐
 *                              trigger while running │                   ▲         │ time is up,
 *                             ┌──────────────────────┘                   │ failed  │ or urgent
 *                             ▼           settled, or urgent             │         │
 *                           queued ────────────────────────► running ◄───┼─────────┘
 *                             └──────────────────────────────────────────┘
 *
 *   from anywhere: stop ─► stopping (a run under way ends) ─► stopped
 * ```
 *
 * Waiting triggers merge into the next run. A trigger does not extend the debouncing window that it falls into, so that
 * a stream of changes cannot delay a run for ever.
 */
export interface Machine {
  readonly phase: Phase | 'stopped';
  /** Triggers of the next run, in order of arrival, without duplicates. */
  readonly pending: readonly Trigger[];
  /** Number of failed runs in a row. */
  readonly failures: number;
}

export type MachineEvent =
  | { readonly type: 'trigger'; readonly trigger: Trigger }
  /** The last requested wait is over. */
  | { readonly type: 'time-is-up' }
  /** `failed`: another try may succeed without anyone's help. */
  | { readonly type: 'ended'; readonly failed: boolean }
  | { readonly type: 'stop' };

export type Effect =
  | { readonly do: 'run'; readonly triggers: readonly Trigger[] }
  /** Only one wait exists at a time: the one before is over or was cancelled. */
  | { readonly do: 'wait'; readonly for: 'debounce' }
  | { readonly do: 'wait'; readonly for: 'retry'; readonly failures: number }
  | { readonly do: 'cancel-wait' }
  /** End the run after its request under way. */
  | { readonly do: 'interrupt' }
  | { readonly do: 'stopped' };

interface Transition {
  readonly state: Machine;
  readonly effects: readonly Effect[];
}

export const INITIAL: Machine = { phase: 'idle', pending: [], failures: 0 };

/** These may come in streams. For all others a person, a kill or the clock waits: no debouncing and no backing off. */
const PATIENT: readonly Trigger[] = ['files', 'commit', 'webhook'];

function isUrgent(trigger: Trigger): boolean {
  return !PATIENT.includes(trigger);
}

/** Total: an event that a phase does not expect changes nothing. */
export function next(state: Machine, event: MachineEvent): Transition {
  switch (event.type) {
    case 'trigger':
      return triggered(state, event.trigger);
    case 'time-is-up':
      if (state.phase === 'debouncing') return run(state);
      return state.phase === 'backing-off'
        ? run(withTrigger(state, 'retry'))
        : { state, effects: [] };
    case 'ended':
      return ended(state, event.failed);
    case 'stop':
      return stop(state);
  }
}

function triggered(before: Machine, trigger: Trigger): Transition {
  const state = withTrigger(before, trigger);
  switch (before.phase) {
    case 'idle':
      if (isUrgent(trigger)) return run(state);
      return {
        state: { ...state, phase: 'debouncing' },
        effects: [{ do: 'wait', for: 'debounce' }],
      };
    case 'debouncing':
    case 'backing-off':
      return isUrgent(trigger) ? run(state, [{ do: 'cancel-wait' }]) : { state, effects: [] };
    case 'running':
    case 'queued': {
      const isNews = trigger === 'kill' && !before.pending.includes('kill');
      return { state: { ...state, phase: 'queued' }, effects: isNews ? [{ do: 'interrupt' }] : [] };
    }
    case 'stopping':
    case 'stopped':
      return { state: before, effects: [] };
  }
}

function ended(before: Machine, failed: boolean): Transition {
  const { phase, pending } = before;
  if (phase === 'stopping') return stopped(before);
  if (phase !== 'running' && phase !== 'queued') return { state: before, effects: [] };
  const failures = failed ? before.failures + 1 : 0;
  const state = { ...before, failures };
  if (pending.length > 0 && (!failed || pending.some(isUrgent))) return run(state);
  if (!failed) return { state: { ...state, phase: 'idle' }, effects: [] };
  return {
    state: { ...state, phase: 'backing-off' },
    effects: [{ do: 'wait', for: 'retry', failures }],
  };
}

function stop(state: Machine): Transition {
  switch (state.phase) {
    case 'idle':
      return stopped(state);
    case 'debouncing':
    case 'backing-off':
      return stopped(state, [{ do: 'cancel-wait' }]);
    case 'running':
    case 'queued':
      return { state: { ...state, phase: 'stopping' }, effects: [{ do: 'interrupt' }] };
    case 'stopping':
    case 'stopped':
      return { state, effects: [] };
  }
}

function run({ pending, failures }: Machine, before: readonly Effect[] = []): Transition {
  return {
    state: { phase: 'running', pending: [], failures },
    effects: [...before, { do: 'run', triggers: pending }],
  };
}

function stopped(state: Machine, before: readonly Effect[] = []): Transition {
  return { state: { ...state, phase: 'stopped' }, effects: [...before, { do: 'stopped' }] };
}

function withTrigger(state: Machine, trigger: Trigger): Machine {
  const { pending } = state;
  return pending.includes(trigger) ? state : { ...state, pending: [...pending, trigger] };
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 120_000;

/**
 * Time to back off: doubles with each failure up to two minutes, then takes a random value in the upper half, so that
 * many daemons that failed together do not return together.
 *
 * @param failures from 1 on.
 * @param random from 0 (inclusive) to 1 (exclusive).
 */
export function retryDelayMs(failures: number, random: number): number {
  const fullMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 16));
  return Math.round((fullMs / 2) * (1 + random));
}
