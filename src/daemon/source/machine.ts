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
export type Machine =
  | { readonly phase: 'idle'; readonly failures: number }
  | Waiting<'debouncing'>
  | { readonly phase: 'running'; readonly failures: number }
  | Waiting<'queued'>
  | Waiting<'backing-off'>
  | { readonly phase: 'stopping' }
  | { readonly phase: 'stopped' };

interface Waiting<P extends Phase> {
  readonly phase: P;
  /** In order of arrival, without duplicates. */
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

export interface Transition {
  readonly state: Machine;
  readonly effects: readonly Effect[];
}

export const INITIAL: Machine = { phase: 'idle', failures: 0 };

/** These may come in streams. For all others a person, a kill or the clock waits: no debouncing and no backing off. */
const PATIENT: readonly Trigger[] = ['files', 'commit', 'webhook'];

function isUrgent(trigger: Trigger): boolean {
  return !PATIENT.includes(trigger);
}

/** Total: an event that a phase does not expect changes nothing. */
export function next(state: Machine, event: MachineEvent): Transition {
  if (state.phase === 'stopped') return stay(state);
  switch (event.type) {
    case 'trigger':
      return triggered(state, event.trigger);
    case 'time-is-up':
      return timeIsUp(state);
    case 'ended':
      return ended(state, event.failed);
    case 'stop':
      return stop(state);
  }
}

function triggered(state: Machine, trigger: Trigger): Transition {
  switch (state.phase) {
    case 'idle':
      if (isUrgent(trigger)) return run([trigger], state.failures);
      return {
        state: { phase: 'debouncing', pending: [trigger], failures: state.failures },
        effects: [{ do: 'wait', for: 'debounce' }],
      };
    case 'debouncing':
    case 'backing-off': {
      const pending = merged(state.pending, trigger);
      if (!isUrgent(trigger)) return stay({ ...state, pending });
      return run(pending, state.failures, [{ do: 'cancel-wait' }]);
    }
    case 'running':
    case 'queued': {
      const pending = state.phase === 'queued' ? state.pending : [];
      const isNews = trigger === 'kill' && !pending.includes('kill');
      return {
        state: { phase: 'queued', pending: merged(pending, trigger), failures: state.failures },
        effects: isNews ? [{ do: 'interrupt' }] : [],
      };
    }
    case 'stopping':
    case 'stopped':
      return stay(state);
  }
}

function timeIsUp(state: Machine): Transition {
  if (state.phase === 'debouncing') return run(state.pending, state.failures);
  if (state.phase === 'backing-off') return run(merged(state.pending, 'retry'), state.failures);
  return stay(state);
}

function ended(state: Machine, failed: boolean): Transition {
  if (state.phase === 'stopping') {
    return { state: { phase: 'stopped' }, effects: [{ do: 'stopped' }] };
  }
  if (state.phase !== 'running' && state.phase !== 'queued') return stay(state);
  const pending = state.phase === 'queued' ? state.pending : [];
  const failures = failed ? state.failures + 1 : 0;
  const goesOn = !failed || pending.some(isUrgent);
  if (pending.length > 0 && goesOn) return run(pending, failures);
  if (!failed) return stay({ phase: 'idle', failures });
  return {
    state: { phase: 'backing-off', pending, failures },
    effects: [{ do: 'wait', for: 'retry', failures }],
  };
}

function stop(state: Machine): Transition {
  switch (state.phase) {
    case 'idle':
      return { state: { phase: 'stopped' }, effects: [{ do: 'stopped' }] };
    case 'debouncing':
    case 'backing-off':
      return {
        state: { phase: 'stopped' },
        effects: [{ do: 'cancel-wait' }, { do: 'stopped' }],
      };
    case 'running':
    case 'queued':
      return { state: { phase: 'stopping' }, effects: [{ do: 'interrupt' }] };
    case 'stopping':
    case 'stopped':
      return stay(state);
  }
}

function run(
  triggers: readonly Trigger[],
  failures: number,
  before: readonly Effect[] = [],
): Transition {
  return {
    state: { phase: 'running', failures },
    effects: [...before, { do: 'run', triggers }],
  };
}

function merged(pending: readonly Trigger[], trigger: Trigger): readonly Trigger[] {
  return pending.includes(trigger) ? pending : [...pending, trigger];
}

function stay(state: Machine): Transition {
  return { state, effects: [] };
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
