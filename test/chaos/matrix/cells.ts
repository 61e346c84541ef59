import type { Cell } from './cell.js';
import { FAULTS, INTERRUPTS, SIGNALS } from './faults.js';
import type { Moment } from './front.js';
import { READS, WRITES } from './requests.js';

const MOMENTS: readonly Moment[] = ['before', 'done', 'answered'];

/**
 * Every cell that means something. A read does nothing, so that it makes no difference when its answer is spoilt; pages
 * are those of lists that have more than one. Each fault comes by itself, and with each interrupt in the middle of it.
 */
export function allCells(): Cell[] {
  const kinds = [...READS, ...WRITES];
  const struck = kinds.flatMap((kind) =>
    SIGNALS.flatMap((what) => MOMENTS.map((moment) => ({ kind, what, moment }))),
  );
  const spoilt = FAULTS.flatMap((what) =>
    kinds.flatMap((kind): Cell[] => {
      const isRead = kind.method === 'GET';
      if (what.meets === 'pages') {
        return kind.isPaged === true ? [{ kind, what, moment: 'done' }] : [];
      }
      if (isRead) return what.meets === 'writes' ? [] : [{ kind, what, moment: 'done' }];
      const done: Cell = { kind, what, moment: 'done' };
      return what.meets === 'done' ? [done] : [{ kind, what, moment: 'before' }, done];
    }),
  );
  const interrupted = spoilt.flatMap((cell) =>
    INTERRUPTS.map((interrupt): Cell => ({ ...cell, interrupt })),
  );
  return [...spoilt, ...struck, ...interrupted];
}
