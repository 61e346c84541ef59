import { isDeepStrictEqual } from 'node:util';

/** One member that a change touched. An absent side did not have it. */
export interface MemberChange {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** What an audit row tells of a change to a list of keys: numbers, and the first of them. */
export interface KeysChange {
  readonly path: '/keys';
  readonly added: number;
  readonly removed: number;
  readonly sample: readonly string[];
}

const SAMPLE_SIZE = 20;

/** Members at the top of two objects that differ, in code-unit order; null stands for an object that is not there. */
export function differenceOf(before: object | null, after: object | null): MemberChange[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names].sort().flatMap((name) => {
    const change = {
      path: `/${name}`,
      ...member('before', before, name),
      ...member('after', after, name),
    };
    return isDeepStrictEqual(change.before, change.after) ? [] : [change];
  });
}

function member<S extends 'before' | 'after'>(
  side: S,
  holder: object | null,
  name: string,
): Partial<Record<S, unknown>> {
  if (holder === null || !Object.hasOwn(holder, name)) return {};
  const result: Partial<Record<S, unknown>> = {};
  result[side] = (holder as Record<string, unknown>)[name];
  return result;
}

export function keysDifference(added: readonly string[], removed: readonly string[]): KeysChange {
  return {
    path: '/keys',
    added: added.length,
    removed: removed.length,
    sample: [...added, ...removed].slice(0, SAMPLE_SIZE),
  };
}
