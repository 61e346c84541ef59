import type { RunRecord } from '../view.js';
import type { CycleEnd } from './cycle.js';

/** Limit of entries per list in a record: enough to begin with. */
const MOST_DETAILS = 50;

/** The lists that a record of a run has beside its plan. */
export function detailsOf({
  diagnostics = [],
  kills = [],
  unmanaged,
  open,
}: CycleEnd): Pick<RunRecord, 'diagnostics' | 'kills' | 'unmanaged' | 'open'> {
  const shown = diagnostics.slice(0, MOST_DETAILS).map(({ severity, code, location, message }) => {
    return { severity, code, ...location, message };
  });
  return {
    ...(shown.length > 0 && { diagnostics: shown }),
    ...(kills.length > 0 && { kills: kills.slice(0, MOST_DETAILS) }),
    ...(open && { open }),
    ...(unmanaged && {
      unmanaged: {
        flags: unmanaged.flags.slice(0, MOST_DETAILS),
        segments: unmanaged.segments.slice(0, MOST_DETAILS),
      },
    }),
  };
}
