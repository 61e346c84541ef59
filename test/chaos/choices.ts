import type { WireRule } from '../../src/admin-api/wire.js';
import {
  at,
  ENVIRONMENTS,
  type ChaosDefinition,
  type ChaosWrite,
  type World,
  type WriteOf,
} from './writes.js';
import { onOff } from '../support/on-off.js';
import { ruleOn } from '../support/service-calls.js';

/** Numbers from 0 to below 1 that are the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What a client decides with: chance, and words that nobody else uses. */
export interface Chance {
  readonly random: () => number;
  readonly unique: () => string;
}

function oneOf<T>({ random }: Chance, values: readonly T[]): T {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error('bug: nothing to choose from');
  return value;
}

const ruleOnSegment = (name: string): WireRule => ruleOn({ type: 'IN_SEGMENT', string: name });

function ramp({ random }: Chance): ChaosDefinition['defaultRule'] {
  return onOff(Math.floor(random() * 101));
}

function definition(chance: Chance, rules: readonly WireRule[]): ChaosDefinition {
  return {
    killed: false,
    treatments: [
      { name: 'on', description: chance.unique(), keys: ['first'] },
      { name: 'off', description: '' },
    ],
    defaultTreatment: 'off',
    baselineTreatment: 'off',
    trafficAllocation: 100,
    rules,
    defaultRule: ramp(chance),
  };
}

const MAX_OWN_FLAGS = 5;
const MAX_OWN_SEGMENTS = 3;

/** A write on what the client alone changes: nothing of it may be refused. */
export function ownWrite(chance: Chance, own: World): ChaosWrite {
  const flags = [...own.flags.keys()];
  const segments = [...own.segments];
  if (flags.length === 0) return createFlag(chance);
  if (segments.length === 0) return { kind: 'create-segment', name: `seg-${chance.unique()}` };
  const draw = chance.random();
  if (draw < 0.1 && flags.length < MAX_OWN_FLAGS) return createFlag(chance);
  if (draw < 0.13 && segments.length < MAX_OWN_SEGMENTS) {
    return { kind: 'create-segment', name: `seg-${chance.unique()}` };
  }
  if (draw < 0.18) return { kind: 'delete-flag', name: oneOf(chance, flags) };
  if (draw < 0.26) {
    const name = oneOf(chance, flags);
    return { kind: 'describe-flag', name, description: chance.unique() };
  }
  return draw < 0.6
    ? ownDefinitionWrite(chance, own, oneOf(chance, flags))
    : ownSegmentWrite(chance, own, oneOf(chance, segments));
}

function createFlag(chance: Chance): ChaosWrite {
  return { kind: 'create-flag', name: `flag-${chance.unique()}`, description: chance.unique() };
}

function ownDefinitionWrite(chance: Chance, own: World, name: string): ChaosWrite {
  const environment = oneOf(chance, ENVIRONMENTS);
  const place = { name, environment };
  const active = [...own.segments].filter((segment) => own.keys.has(at(segment, environment)));
  const rules = active.map(ruleOnSegment);
  const before = own.definitions.get(at(name, environment));
  if (before === undefined) {
    return { kind: 'define', ...place, definition: definition(chance, rules) };
  }
  const draw = chance.random();
  if (draw < 0.1) return { kind: 'undefine', ...place };
  if (draw < 0.3) return { kind: before.killed ? 'restore' : 'kill', ...place };
  return { kind: 'patch', ...place, operations: patchOf(chance, rules, draw) };
}

function patchOf(
  chance: Chance,
  rules: readonly WireRule[],
  draw: number,
): WriteOf<'patch'>['operations'] {
  if (draw < 0.55) {
    return [{ op: 'add', path: '/treatments/0/keys/-', value: chance.unique() }];
  }
  const described = {
    op: 'replace',
    path: '/treatments/0/description',
    value: chance.unique(),
  } as const;
  return draw < 0.8
    ? [described, { op: 'replace', path: '/defaultRule', value: ramp(chance) }]
    : [described, { op: 'replace', path: '/rules', value: rules }];
}

function ownSegmentWrite(chance: Chance, own: World, name: string): ChaosWrite {
  const environment = oneOf(chance, ENVIRONMENTS);
  const place = { name, environment };
  const keys = own.keys.get(at(name, environment));
  if (keys === undefined) return { kind: 'activate', ...place };
  const draw = chance.random();
  if (draw < 0.25 && keys.size > 0) {
    return { kind: 'remove-keys', ...place, keys: [...keys].slice(0, 3) };
  }
  if (draw < 0.3) {
    return { kind: 'replace-keys', ...place, keys: [chance.unique(), ...[...keys].slice(0, 5)] };
  }
  return {
    kind: 'add-keys',
    ...place,
    keys: Array.from({ length: 1 + Math.floor(chance.random() * 20) }, chance.unique),
  };
}

const ARENA_FLAGS = ['arena-a', 'arena-b', 'arena-c', 'arena-d'] as const;
const ARENA_SEGMENTS = ['arena-s', 'arena-t', 'arena-u'] as const;

/** A write on what all clients fight over: most are refused, and the rules have to hold all the same. */
export function arenaWrite(chance: Chance): ChaosWrite {
  const name = oneOf(chance, ARENA_FLAGS);
  const environment = oneOf(chance, ENVIRONMENTS);
  const segment = { name: oneOf(chance, ARENA_SEGMENTS), environment };
  const rules = [
    ruleOnSegment(segment.name),
    ruleOn({
      type: 'IN_SPLIT',
      depends: { splitName: oneOf(chance, ARENA_FLAGS), treatments: ['on'] },
    }),
  ].slice(0, chance.random() < 0.7 ? 1 : 2);
  const choices: readonly (() => ChaosWrite)[] = [
    () => ({ kind: 'create-flag', name, description: chance.unique() }),
    () => ({ kind: 'delete-flag', name }),
    () => ({ kind: 'define', name, environment, definition: definition(chance, rules) }),
    () => ({ kind: 'patch', name, environment, operations: patchOf(chance, rules, 0.9) }),
    () => ({ kind: 'patch', name, environment, operations: patchOf(chance, [], 0.4) }),
    () => ({ kind: 'undefine', name, environment }),
    () => ({ kind: 'kill', name, environment }),
    () => ({ kind: 'restore', name, environment }),
    () => ({ kind: 'create-segment', name: segment.name }),
    () => ({ kind: 'activate', ...segment }),
    () => ({ kind: 'add-keys', ...segment, keys: ['shared', chance.unique()] }),
    () => ({ kind: 'replace-keys', ...segment, keys: ['shared', chance.unique()] }),
    () => ({ kind: 'remove-keys', ...segment, keys: ['shared'] }),
    () => ({ kind: 'deactivate', ...segment }),
    () => ({ kind: 'delete-segment', name: segment.name }),
  ];
  return oneOf(chance, choices)();
}
