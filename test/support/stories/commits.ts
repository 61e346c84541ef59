import type { CommitKind, Event } from './events.js';
import {
  aFlag,
  aSegment,
  blocksOf,
  ENVIRONMENTS,
  FLAGS,
  KEYS,
  SEGMENTS,
  share,
  type EnvironmentName,
  type Member,
  type Members,
  type Specs,
} from './specs.js';

type Numbers = Event['numbers'];

/**
 * What the next commit says. Where an event has nothing to change it says the same again.
 *
 * @param earlier what the commits before said, the oldest first.
 */
export function committed(
  kind: CommitKind,
  numbers: Numbers,
  now: Specs,
  earlier: readonly Specs[],
): Specs {
  const next = structuredClone(now);
  COMMITTED[kind](next, numbers, earlier);
  withoutDangling(next);
  return next;
}

/** The contract shows no configuration of a treatment, and a strict service takes none. */
export function withoutConfigurations({ flags }: Specs): void {
  for (const { treatments } of Object.values(flags)) {
    if (typeof treatments !== 'object' || Array.isArray(treatments)) continue;
    for (const each of Object.values(treatments)) {
      if (typeof each === 'object' && !Array.isArray(each)) delete each['configuration'];
    }
  }
}

type Change = (specs: Specs, numbers: Numbers, earlier: readonly Specs[]) => void;

const COMMITTED: Readonly<Record<CommitKind, Change>> = {
  ramp: ({ flags }, numbers) => {
    inBlock(flags, numbers, (block) => {
      block['defaultRule'] = { on: share(numbers[2]), off: 'rest' };
    });
  },
  allocate: ({ flags }, numbers) => {
    inBlock(flags, numbers, (block) => {
      block['trafficAllocation'] = share(numbers[2]) + 1;
    });
  },
  target: ({ flags }, numbers) => {
    inBlock(flags, numbers, (block) => {
      const keys = someKeys(numbers[2]);
      if (keys.length === 0) delete block['targets'];
      else block['targets'] = { on: keys };
    });
  },
  rule: ({ flags, segments }, numbers) => {
    inBlock(flags, numbers, (block, name, environment) => {
      const conditions = conditionsFor(name, environment, flags, segments);
      const condition = pick([null, ...conditions], numbers[2]);
      if (!condition) delete block['rules'];
      else block['rules'] = [{ if: condition, serve: { on: share(numbers[1]), off: 'rest' } }];
    });
  },
  describe: ({ flags }, [which, what, value]) => {
    const flag = flags[pick(Object.keys(flags), which) ?? ''];
    if (!flag) return;
    const word = `word ${Math.floor(value * 5)}`;
    if (what < 0.3) flag['description'] = word;
    else if (what < 0.4) delete flag['description'];
    else if (what < 0.6) flag['tags'] = ['story', word.replace(' ', '-')];
    else if (what < 0.8) flag['treatments'] = { on: word, off: '' };
    else flag['treatments'] = { on: { configuration: { steps: Math.floor(value * 5) } }, off: {} };
  },
  'order-kill': ({ flags }, numbers) => {
    inBlock(flags, numbers, (block) => {
      const killed = pick([true, true, false, undefined], numbers[2]);
      if (killed === undefined) delete block['killed'];
      else block['killed'] = killed;
    });
  },
  'list-kill': ({ kills }, [which, where, what]) => {
    const list = (kills[where < 0.7 ? 'production' : 'staging'] ??= {});
    const flag = pick(FLAGS.slice(0, 4), which) ?? '';
    if (list[flag] === undefined) list[flag] = { reason: `INC-${Math.floor(what * 9)}` };
    else Reflect.deleteProperty(list, flag);
  },
  'lose-list': ({ kills }) => {
    delete kills.production;
  },
  keys: ({ segments }, [which, where, what]) => {
    const block = segmentBlock(segments, which, where);
    if (block) block['keys'] = someKeys(what);
  },
  mode: ({ segments }, [which, where, what]) => {
    const block = segmentBlock(segments, which, where);
    if (block?.['keys'] === undefined) return;
    if (what < 0.5) block['mode'] = 'add-only';
    else delete block['mode'];
  },
  'add-flag': ({ flags }, [which, seed]) => {
    const name = pick(FLAGS, which) ?? '';
    flags[name] ??= aFlag(name, Math.floor(seed * 1e6));
  },
  'remove-flag': ({ flags }, [which]) => {
    if (Object.keys(flags).length === 1) return;
    Reflect.deleteProperty(flags, pick(Object.keys(flags), which) ?? '');
  },
  'remove-block': ({ flags, segments }, [which, where, what]) => {
    const files = what < 0.7 ? flags : segments;
    const file = files[pick(Object.keys(files), which) ?? ''];
    if (file) Reflect.deleteProperty(blocksOf(file), environmentOf(where));
  },
  'add-segment': ({ segments }, [which, seed]) => {
    const name = pick(SEGMENTS, which) ?? '';
    segments[name] ??= aSegment(name, Math.floor(seed * 1e6));
  },
  'remove-segment': ({ segments }, [which]) => {
    Reflect.deleteProperty(segments, pick(Object.keys(segments), which) ?? '');
  },
  revert: (specs, _, earlier) => {
    const before = earlier.at(-1);
    if (before) Object.assign(specs, structuredClone(before));
  },
  break: (specs) => {
    specs.isBroken = !specs.isBroken;
  },
  touch: ({ config }, [number]) => {
    config['references'] = { flags: [`other-${Math.floor(number * 9)}`] };
  },
};

export function pick<T>(values: readonly T[], chance: number): T | undefined {
  return values[Math.floor(chance * values.length)];
}

export function environmentOf(chance: number): EnvironmentName {
  return ENVIRONMENTS[chance < 0.3 ? 0 : 1];
}

export function someKeys(chance: number): string[] {
  const bits = Math.floor(chance * 2 ** KEYS.length);
  return KEYS.filter((_, index) => (bits >> index) % 2 === 1);
}

/** The first number is for the flag, the second for the environment, the third is left. */
function inBlock(
  flags: Specs['flags'],
  [which, where]: Numbers,
  change: (block: Members, flag: string, environment: EnvironmentName) => void,
): void {
  const name = pick(Object.keys(flags), which) ?? '';
  const environment = environmentOf(where);
  const block = flags[name] && blocksOf(flags[name])[environment];
  if (block) change(block, name, environment);
}

function segmentBlock(
  segments: Specs['segments'],
  which: number,
  where: number,
): Members | undefined {
  const file = segments[pick(Object.keys(segments), which) ?? ''];
  return file && blocksOf(file)[environmentOf(where)];
}

/** Only flags that come before it: two may not wait for each other. */
function conditionsFor(
  name: string,
  environment: EnvironmentName,
  flags: Specs['flags'],
  segments: Specs['segments'],
): Member[] {
  const there = (files: Record<string, Members>): string[] =>
    Object.keys(files).filter((each) => files[each] && blocksOf(files[each])[environment]);
  return [
    ...there(segments).map((segment) => ({ segment })),
    ...there(flags)
      .filter((flag) => flag < name)
      .map((flag) => ({ flag, treatments: ['on'] })),
    { attribute: 'country', in: ['ES', 'FR'] },
    { attribute: 'age', atLeast: 18, not: true },
  ];
}

/** Takes out rules that name what is not declared there any more: such specs are invalid, which is another story. */
function withoutDangling({ flags, segments }: Specs): void {
  for (const flag of Object.values(flags)) {
    for (const [environment, block] of Object.entries(blocksOf(flag))) {
      const rules = (block['rules'] ?? []) as Members[];
      const isDangling = rules.some((rule) => {
        const { segment, flag: other } = rule['if'] as { segment?: string; flag?: string };
        const isThere = (files: Record<string, Members>, name: string): boolean =>
          files[name] !== undefined && environment in blocksOf(files[name]);
        return (
          (segment !== undefined && !isThere(segments, segment)) ||
          (other !== undefined && !isThere(flags, other))
        );
      });
      if (isDangling) delete block['rules'];
    }
  }
}
