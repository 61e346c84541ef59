import { FlaghoistError } from '../../errors.js';
import type { Fence } from '../../model/fence.js';
import type { HeldLease, LeaseKeeper } from './lease-keeper.js';

interface Fencing {
  readonly keeper: LeaseKeeper;
  /** Ends the run: it would only ask again. */
  readonly doubt: AbortController;
  /** When the source was looked at, by this process's steady clock. */
  readonly seenAtMs: number;
}

const CUT = 'lease';

/**
 * So long after a look at git its kills are what git orders now. A process that was frozen, or cannot reach git either, knows
 * of no restore that came since.
 */
const FRESH_MS = 15_000;

/** Of the replica that keeps the source. */
export function leaseFence(lease: HeldLease, fencing: Fencing): Fence {
  const { keeper } = fencing;
  const held: HeldLease[] = [lease];
  return {
    lease: lease.name,
    term: lease.term,
    check: checkOf(held, fencing),
    enter: async (name, wait) => {
      const entered = await keeper.await(name, wait);
      held.push(entered);
      return async () => {
        // Nobody can be told: it is over by itself, and no reason to lose what the run came to.
        await keeper.giveBack(entered).catch(() => undefined);
      };
    },
  };
}

/** Of a replica that keeps nothing, as far as it knows, while nobody can tell who does. */
export function killsFence(lease: string, fencing: Fencing): Fence {
  return {
    lease,
    term: 0,
    check: checkOf([], fencing),
    enter: async () => {
      fencing.doubt.abort(CUT);
      return Promise.reject(
        new FlaghoistError(
          'INTERRUPTED',
          'cannot go on: the database of the replicas does not answer, and until it does nothing but kills is sent',
        ),
      );
    },
  };
}

function checkOf(held: readonly HeldLease[], { keeper, doubt, seenAtMs }: Fencing): Fence['check'] {
  return async ({ isKill }) => {
    const isOurs = await keeper.mayWrite(held).catch(() => 'unknown' as const);
    if (isOurs === true) return;
    const isFresh = performance.now() - seenAtMs < FRESH_MS;
    if (isOurs === 'unknown' && isKill && isFresh) return;
    doubt.abort(CUT);
    throw new FlaghoistError('INTERRUPTED', 'cannot write: another replica may have taken over');
  };
}
