import { LeaseKeeper, type Leases, type LeaseTerm } from '../../src/daemon/replicas/leases.js';

const TTL_MS = 60_000;
const NO_WAIT = { sleep: async () => Promise.resolve() };

/** The table of leases, in memory; the time of a lease ends when the test says so. */
export class MemoryLeases {
  readonly #rows = new Map<string, { holder: string; term: number; isOver: boolean }>();

  /** Term and holder of a lease; null: nobody ever had it. */
  row(
    name: string,
  ): { readonly holder: string; readonly term: number; readonly isOver: boolean } | null {
    return this.#rows.get(name) ?? null;
  }

  /** The time of all leases is over. */
  expire(): void {
    for (const row of this.#rows.values()) row.isOver = true;
  }

  keeper(holder: string): LeaseKeeper {
    const isOurs = ({ name, term }: LeaseTerm): boolean => {
      const row = this.#rows.get(name);
      return row?.holder === holder && row.term === term && !row.isOver;
    };
    const table = {
      take: async (name: string): Promise<LeaseTerm | null> => {
        const row = this.#rows.get(name);
        if (row && !row.isOver) return Promise.resolve(null);
        const term = (row?.term ?? 0) + 1;
        this.#rows.set(name, { holder, term, isOver: false });
        return Promise.resolve({ name, term });
      },
      renew: async (held: readonly LeaseTerm[]) =>
        Promise.resolve(held.filter(isOurs).map(({ name }) => name)),
      leftMs: async (held: readonly LeaseTerm[]) =>
        Promise.resolve(held.every(isOurs) ? TTL_MS : null),
      giveBack: async (held: readonly LeaseTerm[]) => {
        for (const each of held.filter(isOurs)) {
          const row = this.#rows.get(each.name);
          if (row) row.isOver = true;
        }
        return Promise.resolve();
      },
    };
    // The class has private members, and nothing of it but these four is ever called.
    return new LeaseKeeper(table as unknown as Leases, TTL_MS, NO_WAIT);
  }
}
