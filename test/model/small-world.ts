import type { WireDefinition } from '../../src/admin-api/wire.js';
import type { World } from '../support/service-model.js';
import { commitOf, type Commit, type Files } from './memory-git.js';
import { onOff } from '../support/on-off.js';

/**
 * A small world: two flags, a segment and two environments, one of them protected; each field has three values. What the
 * specs say of it and what the service has of it are both a list of numbers, so that laws can compare them without a word
 * of the planner's.
 */

export const FIELDS = [
  'a@staging on',
  'a@production on',
  'a@production allocation',
  'b@production rule',
  's@production keys',
  'a@production killed',
  'a@production listed',
  'a there',
  's there',
] as const;

export type Field = (typeof FIELDS)[number];

/** Of each field which of its values the specs have. */
export type Values = Readonly<Record<Field, number>>;

const SHARES = [10, 50, 90];
const ALLOCATIONS = [100, 60, 20];
const RULES = ['', '{ segment: s }', '{ segment: s, not: true }'];
const KEYS = ['k1', 'k1, k2', 'k2, k3'];
/** What is said of `killed` is nothing, then true, then false; lists and presence have two values. */
export const COUNTS: Values = {
  'a@staging on': 3,
  'a@production on': 3,
  'a@production allocation': 3,
  'b@production rule': 3,
  's@production keys': 3,
  'a@production killed': 3,
  'a@production listed': 2,
  'a there': 2,
  's there': 2,
};

export const FIRST: Values = {
  'a@staging on': 0,
  'a@production on': 0,
  'a@production allocation': 0,
  'b@production rule': 0,
  's@production keys': 0,
  'a@production killed': 0,
  'a@production listed': 0,
  'a there': 1,
  's there': 1,
};

/** What the protected environment reports, and its guard: no share may move by more than 50 at once. */
const CONFIG = `workspace: Default
prune: true
environments:
  staging: {}
  production: { protected: true, guards: { maxShift: 50 } }
defaults: { trafficType: user }
references: { flags: [a] }
`;

/** Whether specs that say so are right: nothing uses a segment that is not there. */
export function isRight(values: Values): boolean {
  return values['s there'] === 1 || values['b@production rule'] === 0;
}

/** A number for each choice of values, the same for the same ones. */
export function numberOf(values: Values): number {
  return FIELDS.reduce((number, field) => number * 4 + values[field], 0);
}

const filesByNumber = new Map<number, Files>();

/** The same object for the same values. */
export function filesOf(values: Values): Files {
  const number = numberOf(values);
  const files = filesByNumber.get(number) ?? filesSaying(values);
  filesByNumber.set(number, files);
  return files;
}

function filesSaying(values: Values): Files {
  const share = (index: number): string => `{ "on": ${SHARES[index] ?? 0}, "off": rest }`;
  const killed = ['', ', killed: true', ', killed: false'][values['a@production killed']] ?? '';
  const allocation = ALLOCATIONS[values['a@production allocation']] ?? 100;
  const rule = RULES[values['b@production rule']] ?? '';
  const rules = rule === '' ? '' : `, rules: [{ if: ${rule}, serve: "on" }]`;
  const head = 'treatments: { "on": "", "off": "" }\ndefaultTreatment: "off"\nenvironments:\n';
  const a = `flag: a
${head}  staging: { defaultRule: ${share(values['a@staging on'])} }
  production: { defaultRule: ${share(values['a@production on'])}, trafficAllocation: ${allocation}${killed} }
`;
  const b = `flag: b
${head}  staging: { defaultRule: ${share(0)} }
  production: { defaultRule: ${share(0)}, rules: []${rules} }
`.replace('rules: [], ', '');
  const s = `segment: s
trafficType: user
environments:
  staging: { keys: [k1] }
  production: { keys: [${KEYS[values['s@production keys']] ?? ''}] }
`;
  return {
    'flagkeel.yaml': values['a there'] === 1 ? CONFIG.replace(/references.*\n/, '') : CONFIG,
    'flags/b.yaml': b,
    ...(values['a there'] === 1 && { 'flags/a.yaml': a }),
    ...(values['s there'] === 1 && { 'segments/s.yaml': s }),
    'kills/production.yaml':
      values['a@production listed'] === 1
        ? 'kills:\n  a: { reason: INC-1, by: ana }\n'
        : 'kills: {}\n',
  };
}

const said = new WeakMap<Commit, Values>();
const following = new WeakMap<Commit, Map<number, Commit>>();
const first = new Map<number, Commit>();

/** What one commit says, after another; the same for the same two. */
export function committed(parent: Commit | null, values: Values): Commit {
  const number = numberOf(values);
  const known = (parent ? following.get(parent) : first)?.get(number);
  if (known) return known;
  const commit = commitOf(parent, filesOf(values), 'Change the specs', number);
  said.set(commit, values);
  if (!parent) first.set(number, commit);
  else
    following.set(parent, (following.get(parent) ?? new Map<number, Commit>()).set(number, commit));
  return commit;
}

export function valuesAt(commit: Commit): Values {
  const found = said.get(commit);
  if (!found) throw new Error(`nothing is known of commit ${commit.id}`);
  return found;
}

/** Of each field what the service has: a value's place; -1: another value; null: what it belongs to is not there. */
export type Live = Readonly<Record<Field, number | null>>;

const lives = new WeakMap<World, Live>();

export function liveOf(world: World): Live {
  const known = lives.get(world);
  if (known) return known;
  const definitionOf = (flag: string, place: string): WireDefinition | undefined =>
    world.flags.get(flag)?.definitions.get(place);
  const [staging, production] = [definitionOf('a', 'staging'), definitionOf('a', 'production')];
  const b = definitionOf('b', 'production');
  const keys = world.segments.get('s')?.environments.get('production');
  const live: Live = {
    'a@staging on': staging ? shareIn(staging) : null,
    'a@production on': production ? shareIn(production) : null,
    'a@production allocation': production
      ? ALLOCATIONS.indexOf(production.trafficAllocation)
      : null,
    'b@production rule': b ? ruleIn(b) : null,
    's@production keys': keys ? KEYS.indexOf([...keys].sort().join(', ')) : null,
    'a@production killed': production ? Number(production.killed) : null,
    'a@production listed': null,
    'a there': Number(world.flags.has('a')),
    's there': Number(world.segments.has('s')),
  };
  lives.set(world, live);
  return live;
}

function shareIn({ defaultRule }: WireDefinition): number {
  const on = defaultRule.filter(({ treatment }) => treatment === 'on');
  return SHARES.indexOf(on.reduce((sum, { size }) => sum + size, 0));
}

function ruleIn({ rules }: WireDefinition): number {
  const [first, ...more] = rules;
  if (!first) return 0;
  const [matcher, ...others] = first.condition.matchers;
  if (more.length > 0 || others.length > 0 || matcher?.type !== 'IN_SEGMENT') return -1;
  return matcher.negate === true ? 2 : 1;
}

/** Fields that somebody may change on the service by hand. */
export const EDITABLE = [
  'a@staging on',
  'a@production on',
  'a@production allocation',
  's@production keys',
] as const satisfies readonly Field[];

export type Editable = (typeof EDITABLE)[number];

/** The world after somebody set a field by hand; null: there is nothing to set, or it is so already. */
export function editedByHand(world: World, field: Editable, value: number): World | null {
  const now = liveOf(world)[field];
  if (now === null || now === value) return null;
  if (field === 's@production keys') {
    const segment = world.segments.get('s');
    if (!segment) return null;
    const keys = new Set((KEYS[value] ?? '').split(', '));
    const environments = new Map([...segment.environments, ['production', keys]]);
    return {
      ...world,
      segments: new Map([...world.segments, ['s', { ...segment, environments }]]),
    };
  }
  const place = field === 'a@staging on' ? 'staging' : 'production';
  return withDefinition(world, place, (definition) =>
    field === 'a@production allocation'
      ? { ...definition, trafficAllocation: ALLOCATIONS[value] ?? 100 }
      : { ...definition, defaultRule: onOff(SHARES[value] ?? 0) },
  );
}

/** Kills or restores flag `a` in production on the page of the service; null: it is so already. */
export function killedByHand(world: World, isKill: boolean): World | null {
  const now = liveOf(world)['a@production killed'];
  if (now === null || now === Number(isKill)) return null;
  return withDefinition(world, 'production', (definition) => ({ ...definition, killed: isKill }));
}

/** Takes flag `a` out of production by hand; null: it is not there. */
export function removedByHand(world: World): World | null {
  if (liveOf(world)['a@production on'] === null) return null;
  return withDefinition(world, 'production', () => null);
}

function withDefinition(
  world: World,
  place: string,
  change: (definition: WireDefinition) => WireDefinition | null,
): World {
  const flag = world.flags.get('a');
  const before = flag?.definitions.get(place);
  if (!flag || !before) throw new Error(`flag a is not in ${place}`);
  const after = change(before);
  const others = [...flag.definitions].filter(([name]) => name !== place);
  const all = after ? [...others, [place, after] as const] : others;
  const definitions = new Map(all.sort(([x], [y]) => (x < y ? -1 : 1)));
  return { ...world, flags: new Map([...world.flags, ['a', { ...flag, definitions }]]) };
}

/** The world as text: equal worlds have the same, in whatever order their parts came to be. */
export function textOf({ flags, segments }: World): string {
  return JSON.stringify([
    [...flags]
      .sort(byName)
      .map(([name, { definitions, description, tags }]) => [
        name,
        description,
        tags,
        [...definitions]
          .sort(byName)
          .map(([place, each]) => [
            place,
            each.killed,
            each.trafficAllocation,
            each.defaultTreatment,
            each.baselineTreatment,
            each.defaultRule.map(({ treatment, size }) => [treatment, size]),
            each.rules,
            each.treatments,
          ]),
      ]),
    [...segments]
      .sort(byName)
      .map(([name, { environments }]) => [
        name,
        [...environments].sort(byName).map(([place, keys]) => [place, [...keys].sort()]),
      ]),
  ]);
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
