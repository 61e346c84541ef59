import { parseChanges } from '../../src/state/run-log.js';
import { liveOf, valuesAt, type Field, type Live, type Values } from './small-world.js';
import type { Durable, Ran } from './small-run.js';
import type { Written } from './memory-service.js';

/**
 * What must hold after every transition. None of it asks the planner: it goes by what the files say, what the service has,
 * what was done by hand, and what a run says it held back.
 */

/** Fields of the environment that reports drift, each with the change by which a plan tells of it. */
const REPORTED = [
  'a@production on',
  'a@production allocation',
  's@production keys',
] as const satisfies readonly Field[];

/** What somebody did that no run may undo by itself. Immutable. */
export interface Watch {
  /** Fields that hold what somebody set by hand, while git said of them what was last found equal. */
  readonly kept: readonly Kept[];
  /** Fields of which a commit said something else since they were last seen to be as git wants them. */
  readonly open: readonly Kept[];
  /** An act took a kill back, and no run was seen to have carried it out. */
  readonly mayRestore: boolean;
}

type Kept = (typeof REPORTED)[number] | 'a@production gone';

export const NOTHING_WATCHED: Watch = { kept: [], open: [], mayRestore: false };

export function textOfWatch({ kept, open, mayRestore }: Watch): string {
  return `${kept.join(',')};${open.join(',')};${mayRestore ? '!' : ''}`;
}

/** After a commit: what it says anew is git's to write. */
export function afterCommit(watch: Watch, before: Values, now: Values): Watch {
  const changed = new Set<Kept>(REPORTED.filter((field) => before[field] !== now[field]));
  if (before['a there'] !== now['a there']) {
    for (const each of ['on', 'allocation', 'gone'] as const) changed.add(`a@production ${each}`);
  }
  if (before['s there'] !== now['s there']) changed.add('s@production keys');
  const wasOrdered = isOrdered(before);
  const isAct =
    (wasOrdered && !isOrdered(now)) ||
    (now['a@production killed'] === 2 && before['a@production killed'] !== 2) ||
    (now['a there'] === 1 && before['a there'] === 0 && now['a@production killed'] === 2);
  return {
    kept: watch.kept.filter((each) => !changed.has(each)),
    open: sorted([...watch.open, ...changed]),
    mayRestore: isOrdered(now) ? false : isAct || watch.mayRestore,
  };
}

/** Whether git orders that flag `a` is killed in production. */
function isOrdered(values: Values): boolean {
  const inFlag = values['a there'] === 1 && values['a@production killed'] === 1;
  return inFlag || values['a@production listed'] === 1;
}

/** After somebody did something on the service, or the state was lost. */
export function afterHand(watch: Watch, before: Durable, now: Durable): Watch {
  const [was, is] = [liveOf(before.world), liveOf(now.world)];
  const wanted = valuesAt(now.commit);
  const kept = new Set(watch.kept);
  for (const field of REPORTED) {
    if (was[field] === is[field]) continue;
    if (is[field] === null || is[field] === wanted[field]) kept.delete(field);
    else if (!watch.open.includes(field)) kept.add(field);
  }
  const isGone = is['a@production on'] === null && was['a@production on'] !== null;
  if (isGone && !watch.open.includes('a@production gone')) kept.add('a@production gone');
  if (is['a@production on'] !== null) kept.delete('a@production gone');
  const forgotten = [...kept].filter((each) => isForgotten(each, now));
  for (const each of forgotten) kept.delete(each);
  const isLost = before.remembered.exists && !now.remembered.exists;
  const open = sorted([...watch.open, ...forgotten]);
  return { kept: sorted([...kept]), open, mayRestore: watch.mayRestore && !isLost };
}

/**
 * Whether nobody can tell any more what somebody did by hand: nothing is remembered of the object, and it is as the commit
 * before HEAD has it, which is how a commit looks that was not applied yet; or it is not there, as before a creation. The keys
 * of a segment are not told apart either from what a run left half made that died while it created it.
 */
function isForgotten(field: Kept, { world, commit, remembered }: Durable): boolean {
  const path = field.startsWith('s') ? 'objects/segment/s.json' : 'objects/flag/a.json';
  const base = remembered.files
    .filter(([each]) => each === path)
    .map(([, text]) => basesIn(text)['env-production'])[0];
  if (base) {
    const isUnknown = base.spec === undefined && base.pending === 'create';
    return isUnknown && (field === 's@production keys' || field === 'a@production gone');
  }
  if (field === 'a@production gone') return true;
  const before = commit.parent && valuesAt(commit.parent);
  return before?.[field] === liveOf(world)[field];
}

type Bases = Readonly<Record<string, { readonly spec?: unknown; readonly pending?: string }>>;

const bases = new Map<string, Bases>();

function basesIn(text: string): Bases {
  const known = bases.get(text) ?? (JSON.parse(text) as { environments: Bases }).environments;
  bases.set(text, known);
  return known;
}

/** After a run, or one that was cut off. @param isWhole it went to its end, and nothing stood against it. */
export function afterRun(watch: Watch, now: Durable, isWhole: boolean): Watch {
  if (!isWhole) return watch;
  const live = liveOf(now.world);
  const wanted = valuesAt(now.commit);
  const isSettled = (each: Kept): boolean => {
    if (wanted[each === 's@production keys' ? 's there' : 'a there'] === 0) return false;
    return each === 'a@production gone'
      ? live['a@production on'] !== null
      : live[each] === wanted[each];
  };
  return {
    kept: watch.kept,
    open: watch.open.filter((each) => !isSettled(each)),
    mayRestore: watch.mayRestore && live['a@production killed'] === 1,
  };
}

/** What a run did that it may not do. */
export function breachesOfRun(watch: Watch, before: Durable, now: Durable): string[] {
  const [was, is] = [liveOf(before.world), liveOf(now.world)];
  const overwritten = watch.kept
    .filter((each) =>
      each === 'a@production gone' ? is['a@production on'] !== null : is[each] !== was[each],
    )
    .map((each) => `overwrote by itself what somebody did by hand: ${each}`);
  const isRestored = was['a@production killed'] === 1 && is['a@production killed'] === 0;
  const restored = isRestored && !watch.mayRestore ? ['ended a kill that no act took back'] : [];
  const wanted = valuesAt(now.commit);
  const isUnkilled =
    isOrdered(wanted) && was['a@production killed'] === 1 && is['a@production killed'] === 0;
  return [...overwritten, ...restored, ...(isUnkilled ? ['ended a kill that git orders'] : [])];
}

/**
 * What the history does not tell of what reached the service, of a run that went to its end or was asked to end; of one that
 * another replica has overtaken nobody can tell, and it may write no more.
 */
export function untold({ writes, messages, staleWrites, isOvertaken }: Ran): string[] {
  const told = new Set(
    messages.flatMap((message) =>
      parseChanges(message.split('\n')).flatMap(({ id, title, written }) =>
        written ? [wordsOf({ id, title, comment: written.comment })] : [],
      ),
    ),
  );
  const missing = isOvertaken ? [] : writes.filter((each) => !told.has(wordsOf(each)));
  return [
    ...missing.map(({ id }) => `the history does not tell of the write to ${id}`),
    ...staleWrites.map(({ id }) => `wrote ${id} after another replica had taken over`),
  ];
}

function wordsOf({ id, title, comment }: Written): string {
  return JSON.stringify([id, title, comment]);
}

/** Where the service is not as the files say and no run says that it held that back. */
export function unsettled(
  { world, commit, remembered }: Durable,
  { withheld }: Pick<Ran, 'withheld'>,
): string[] {
  const live = liveOf(world);
  const wanted = valuesAt(commit);
  const found: string[] = [];
  const expect = (field: Field, isRight: boolean, ...ids: string[]): void => {
    if (!isRight && !ids.some((id) => withheld.has(id)))
      found.push(`${field} is not as git wants it`);
  };
  const aIsThere = wanted['a there'] === 1;
  if (aIsThere) {
    for (const place of ['staging', 'production'] as const) {
      const id = `flag/a@${place}`;
      const isGone = live[`a@${place} on`] === null;
      const isSame = live[`a@${place} on`] === wanted[`a@${place} on`];
      expect(`a@${place} on`, isSame, isGone ? id : `${id} /defaultRule`);
    }
    const isSame = live['a@production allocation'] === wanted['a@production allocation'];
    const isGone = live['a@production on'] === null;
    const id = 'flag/a@production';
    expect('a@production allocation', isSame, isGone ? id : `${id} /trafficAllocation`);
  } else {
    const isOurs = remembered.files.some(([path]) => path === 'objects/flag/a.json');
    expect('a there', live['a there'] === 0 || !isOurs, ...partsOf('flag/a'));
  }
  expectSegment(wanted, live, remembered, expect);
  expectKill(wanted, live, expect);
  const isRule = live['b@production rule'] === wanted['b@production rule'];
  expect('b@production rule', isRule, 'flag/b@production /rules', 'flag/b@production');
  return found;
}

type Expect = (field: Field, isRight: boolean, ...ids: string[]) => void;

function expectSegment(
  wanted: Values,
  live: Live,
  { files }: Durable['remembered'],
  expect: Expect,
): void {
  if (wanted['s there'] === 1) {
    const isSame = live['s@production keys'] === wanted['s@production keys'];
    expect('s@production keys', isSame, 'segment/s@production', 'segment/s');
    return;
  }
  const isOurs = files.some(([path]) => path === 'objects/segment/s.json');
  expect('s there', live['s there'] === 0 || !isOurs, ...partsOf('segment/s'));
}

function expectKill(wanted: Values, live: Live, expect: Expect): void {
  const isKilled = live['a@production killed'];
  // A kill is held back by nothing.
  if (isKilled !== null && isOrdered(wanted)) expect('a@production listed', isKilled === 1);
  else if (isKilled === 1 && wanted['a there'] === 1 && wanted['a@production killed'] === 2)
    expect('a@production killed', false, 'flag/a@production /killed');
}

function partsOf(id: string): string[] {
  return [id, `${id}@staging`, `${id}@production`];
}

function sorted(fields: readonly Kept[]): Kept[] {
  return [...new Set(fields)].sort();
}
