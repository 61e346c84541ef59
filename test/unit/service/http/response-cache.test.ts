import { beforeEach, describe, expect, it } from 'vitest';
import { Invalidation } from '../../../../src/service/http/response-cache.js';
import type { Lookup } from '../../../../src/service/store/lookup.js';

interface Row {
  readonly id: number;
  readonly kind: string;
  readonly name: string;
}

/** An audit log, and the looks at it that were asked for and not answered yet. */
let log: Row[];
let looks: (() => void)[];
let told: string[];
let version: number | null;
let versionsAsked: number;

beforeEach(() => {
  log = [];
  looks = [];
  told = [];
  version = null;
  versionsAsked = 0;
});

function change(name: string): void {
  log.push({ id: log.length + 1, kind: 'flag', name });
}

function news({ answersAtOnce = true } = {}): Invalidation {
  const lookUp = async <T>({ name }: Lookup, [after]: readonly unknown[]): Promise<T[]> => {
    const last = log.at(-1)?.id ?? 0;
    const rows =
      name === 'last-change'
        ? [{ id: last }]
        : log.filter(({ id }) => id > Number(after)).slice(0, 1_000);
    if (!answersAtOnce) await new Promise<void>((resolve) => looks.push(resolve));
    return rows as T[];
  };
  const listen = (changes: readonly { readonly name: string }[]): void => {
    told.push(...changes.map(({ name }) => name));
  };
  const askVersion = (): number | null => {
    versionsAsked += 1;
    return version;
  };
  const made = new Invalidation({ version: askVersion, lookUp });
  made.listen(listen);
  return made;
}

/** Lets what can go on go on. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('the news of changes', () => {
  it('begin with the first look: what was before it is known to nobody', async () => {
    change('old');
    const it = news();

    await it.catchUp();
    change('new');
    await it.catchUp();

    expect(told).toEqual(['new']);
  });

  it('are told whole where they are more than one look takes', async () => {
    const it = news();
    await it.catchUp();
    for (let count = 0; count < 2_500; count += 1) change(`f-${count}`);

    await it.catchUp();

    expect(told).toHaveLength(2_500);
  });

  it('are not looked for where this process alone writes and did not', async () => {
    version = 1;
    const it = news();
    await it.catchUp();
    change('unseen');

    await it.catchUp();
    expect(told).toEqual([]);
    version = 2;
    await it.catchUp();
    expect(told).toEqual(['unseen']);
  });

  it('are looked for once for all who ask in one turn, after the last of them', async () => {
    version = 1;
    const it = news();
    await it.catchUp();
    versionsAsked = 0;

    const early = it.catchUp();
    // What else the turn has to do, each of which may be the request of another.
    for (let left = 20; left > 0; left -= 1) await Promise.resolve();
    version = 2;
    change('meanwhile');
    await Promise.all([early, it.catchUp(), it.catchUp()]);

    expect(told).toEqual(['meanwhile']);
    expect(versionsAsked).toBe(1);
  });

  it('of a change are not taken from a look that began before it', async () => {
    const it = news({ answersAtOnce: false });
    const first = it.catchUp();
    await settle();
    looks.shift()?.();
    await first;
    const early = it.catchUp();
    await settle();
    change('late');

    const both = Promise.all([it.catchUp(), it.catchUp()]);
    await settle();
    looks.shift()?.();
    await early;
    await settle();

    expect(told).toEqual([]);
    // One look for both.
    expect(looks).toHaveLength(1);
    looks.shift()?.();
    await both;
    expect(told).toEqual(['late']);
  });
});
