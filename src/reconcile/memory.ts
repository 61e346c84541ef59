import type { Unknown } from '../model/outcome.js';
import type { Plan } from '../model/plan.js';
import { hasUnremembered } from '../plan/inferred-bases.js';
import type { StateHome } from '../state/store.js';
import type { Applied, Remembered } from './context.js';

/** Warnings about the state that a run must show before it applies anything. */
export function memoryUnknowns({ home, isWritten }: Remembered, changes: Plan): readonly Unknown[] {
  const isNothing = !isWritten && hasUnremembered(changes);
  return [...(isNothing ? [NOTHING_REMEMBERED] : []), ...notRead(home)];
}

const NOTHING_REMEMBERED: Unknown = {
  code: 'nothing-remembered',
  message:
    'no run remembers what was applied from here, so that what differs may be ours or a change by hand: protected environments hold it (share the state over origin, or look at the values and run once with --adopt)',
};

function notRead(home: StateHome | null): readonly Unknown[] {
  const missing = home?.notShared() ?? null;
  if (missing === null || missing.isRead) return [];
  const message = `what runs on other machines applied is not known here: ${missing.why}`;
  return [{ code: 'state-not-read', message }];
}

/** Warns if runs on other machines will not know of the writes. */
export function withSharing(done: Applied): Applied {
  const missing = done.remembered.home?.notShared() ?? null;
  if (missing === null || done.unsaved !== undefined || !wroteAny(done)) return done;
  const message = `what this run applied is remembered on this machine alone, because ${missing.why}; a fresh clone will apply what its own push changed and hold in protected environments whatever else differs (let runs push refs/flagkeel/* and refs/flagkeel-lock/* to origin, or say \`state: { push: false }\`)`;
  return { ...done, unknowns: [...done.unknowns, { code: 'state-not-shared', message }] };
}

function wroteAny({ outcomes }: Applied): boolean {
  return [...outcomes.values()].some(
    (outcome) => outcome.status === 'applied' || (outcome.status === 'failed' && outcome.partly),
  );
}
