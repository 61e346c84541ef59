import { FlaghoistError, type ExitCode } from '../errors.js';
import type { StateReading } from '../git/state-ref.js';
import { SharedStateHome } from '../git/state-shared.js';
import { clean, quoted } from '../report/clean.js';
import { shownEntry, stateRows, stateText } from '../report/state-text.js';
import { withState } from './open-state.js';
import type { StateFlags, Terminal } from './options.js';

const NOTHING: Pick<StateReading, 'state'> = { state: new Map() };

/** The inventory: every object with the commit of its base, and what is pending. */
export async function runStateList(
  directory: string,
  flags: StateFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  return withState(directory, flags, terminal, async (opened) => {
    const { state } = (await opened?.home.read()) ?? NOTHING;
    const rows = stateRows(state, opened?.environments ?? {});
    const json = { formatVersion: 1, ref: opened?.home.ref ?? null, objects: rows };
    return flags.format === 'json' ? asJson(json) : stateText(rows);
  });
}

/** All that is remembered of one object, as JSON. */
export async function runStateShow(
  object: string,
  directory: string,
  flags: StateFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  return withState(directory, flags, terminal, async (opened) => {
    const { state } = (await opened?.home.read()) ?? NOTHING;
    const entry = state.get(object);
    if (!entry) throw notThere('show', object);
    const shown = shownEntry(entry, { showKeys: flags.showKeys === true });
    const environments = Object.entries(shown.environments).map(([id, base]) => {
      const name = opened?.environments[id];
      return [id, { ...(name !== undefined && { environment: name }), ...base }] as const;
    });
    return asJson({ ...shown, environments: Object.fromEntries(environments) });
  });
}

/**
 * Forgets one object: it counts as never ours. Nothing is asked of the service, and nothing on it changes.
 *
 * @throws FlaghoistError `IN_USE` a run is under way.
 */
export async function runStateRm(
  object: string,
  directory: string,
  flags: StateFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  return withState(directory, flags, terminal, async (opened) => {
    if (!opened) throw notThere('forget', object);
    const { home } = opened;
    const release = await home.lock(flags.lockTimeout, terminal.signal);
    try {
      const { state, head } = await home.read();
      if (!state.has(object)) throw notThere('forget', object);
      const left = new Map([...state].filter(([key]) => key !== object));
      await home.write(left, { head, message: `Forget ${object}` });
    } finally {
      await release();
    }
    return (
      `Forgot ${quoted(object)}. On the service nothing changed.\n` +
      'From now on it was never ours: where the specs declare it the next run adopts it again, and where they do not it is never pruned.\n'
    );
  });
}

/** Frees the lock of a shared state whose holder is gone. The lock of this machine ends with its holder. */
export async function runStateUnlock(
  directory: string,
  flags: StateFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  return withState(directory, flags, terminal, async (opened) => {
    const shared = opened?.home instanceof SharedStateHome ? opened.home : null;
    const holder = await shared?.lockHolder();
    if (!shared || !holder) {
      return shared
        ? 'Nothing to unlock: nobody holds the lock of the shared state.\n'
        : 'Nothing to unlock: a state that is not shared is locked by a run that is alive, and by nothing else.\n';
    }
    if (!(await shared.breakLock(holder))) {
      throw new FlaghoistError(
        'IN_USE',
        'cannot unlock the shared state: its lock moved meanwhile, so its holder is alive',
      );
    }
    return `Unlocked. It was held by ${clean(holder.who)}.\n`;
  });
}

function notThere(verb: string, object: string): FlaghoistError {
  const why = object.includes('@') ? 'an object has no environment in its id' : 'it is not there';
  return new FlaghoistError(
    'USAGE',
    `cannot ${verb} ${quoted(object)}: ${why} (flaghoist state list shows what is)`,
  );
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
