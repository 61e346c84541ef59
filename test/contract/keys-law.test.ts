import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { aServedWorld } from '../support/applications.js';

/** More keys than two blocks of the store hold, so that blocks are begun, split and emptied. */
const KEYS = 4_000;
const PATH = '/segments/staging/changing';
const PAGE = 100;

/** Characters of one byte to four, of which the last stands for itself behind all others by bytes, but not by code units. */
const ENDS = ['', 'a', 'é', '\u{FF5E}', '\u{1F600}'] as const;

const keyNumbered = (number: number): string =>
  `k${String(Math.floor(number / ENDS.length))}${ENDS[number % ENDS.length] ?? ''}`;

interface Turn {
  readonly how: 'add' | 'replace' | 'remove';
  readonly keys: readonly string[];
}

/** Every so many keys from a place on, in an order of their own, some of them twice. */
const someKeys = fc
  .record({
    from: fc.nat(KEYS),
    step: fc.constantFrom(1, 37, 333),
    count: fc.constantFrom(0, 1, 7, 400, 2_500),
  })
  .map(({ from, step, count }) =>
    Array.from({ length: count }, (_, at) => keyNumbered((from + at * step) % KEYS)),
  );

const someTurn: fc.Arbitrary<Turn> = fc.record({
  how: fc.constantFrom('add', 'replace', 'remove'),
  keys: someKeys,
});

const world = aServedWorld();

beforeAll(async () => {
  await world.admin.segment('changing');
});

/** The keys on all pages. */
async function listed(): Promise<string[]> {
  const found: string[] = [];
  for (;;) {
    const { keys, count } = await world.admin.ok<{ keys: { key: string }[]; count: number }>(
      'GET',
      `${PATH}/keys?limit=${PAGE}&offset=${found.length}`,
    );
    found.push(...keys.map(({ key }) => key));
    if (keys.length < PAGE) {
      expect(found).toHaveLength(count);
      return found;
    }
  }
}

/** The keys that an application gets. */
async function served(): Promise<readonly string[]> {
  const path = '/sdk/segmentChanges/changing?since=-1';
  return (await world.ask<{ added: readonly string[] }>(path)).added;
}

async function take({ how, keys }: Turn): Promise<void> {
  const words = { title: 't', comment: 'c' };
  if (how === 'remove') await world.admin.ok('PUT', `${PATH}/removeKeys`, { keys, ...words });
  else
    await world.admin.ok('PUT', `${PATH}/uploadKeys?replace=${String(how === 'replace')}`, {
      keys,
      ...words,
    });
}

function after(held: ReadonlySet<string>, { how, keys }: Turn): Set<string> {
  if (how === 'replace') return new Set(keys);
  if (how === 'add') return new Set([...held, ...keys]);
  const gone = new Set(keys);
  return new Set([...held].filter((key) => !gone.has(key)));
}

it('has the keys of all changes, sorted by their bytes, on its pages and for applications', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someTurn, { minLength: 1, maxLength: 6 }), async (turns) => {
      let held = new Set(await served());
      for (const turn of turns) {
        await take(turn);
        held = after(held, turn);
        const sorted = [...held].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
        expect(await served()).toEqual(sorted);
        if (turn === turns.at(-1)) expect(await listed()).toEqual(sorted);
      }
    }),
    { numRuns: 10 },
  );
});

it('finds, removes and adds single keys wherever they stand among many', async () => {
  const keys = Array.from({ length: 3_000 }, (_, index) => `k${String(index).padStart(4, '0')}`);
  const some = keys.filter((_, index) => index % 250 === 0).slice(0, 11);
  await take({ how: 'replace', keys });
  for (const key of [...some, 'a', 'z']) {
    const { ms } = await world.ask<{ ms: { k: { n: string }[] } }>(`/sdk/memberships/${key}`);
    expect(ms.k.map(({ n }) => n)).toEqual(keys.includes(key) ? ['changing'] : []);
  }
  for (const key of some.slice(0, 5)) await take({ how: 'remove', keys: [key] });
  await take({ how: 'remove', keys: some });
  await take({ how: 'add', keys: ['z', 'a'] });

  expect(await served()).toEqual(['a', ...keys.filter((key) => !some.includes(key)), 'z']);
});
