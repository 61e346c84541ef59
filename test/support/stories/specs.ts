import { stringify } from 'yaml';
import { randomFrom } from '../../chaos/choices.js';

/** Members of a file as they are written; a story changes them in place. */
export interface Members {
  [name: string]: Member;
}
export type Member = undefined | string | number | boolean | Member[] | Members;

export const ENVIRONMENTS = ['staging', 'production'] as const;
export type EnvironmentName = (typeof ENVIRONMENTS)[number];

/** What one commit says. */
export interface Specs {
  config: Members;
  flags: Record<string, Members>;
  segments: Record<string, Members>;
  /** Environment → flag → entry; an environment without a list has none. */
  kills: Partial<Record<EnvironmentName, Members>>;
  /** One of the files is no YAML. */
  isBroken: boolean;
}

/** All names that a story may use. */
export const FLAGS = ['f0', 'f1', 'f2', 'f3', 'f4'];
export const SEGMENTS = ['s0', 's1'];
export const KEYS = ['ana', 'ben', 'eva', 'ida', 'leo', 'mia', 'tom', 'zoe'];

/** What the first commit of a story says. */
export function firstSpecs(workspace: string, seed: number): Specs {
  const random = randomFrom(seed);
  const one = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const flags = ['f0', 'f1', 'f2'].slice(0, 1 + Math.floor(random() * 3));
  return {
    config: {
      workspace,
      environments: {
        staging: {
          onDrift: one(['report', 'revert']),
          onConflict: one(['apply', 'hold']),
        },
        production: one([{}, { protected: true }, { onDrift: 'report' }]),
      },
      defaults: { trafficType: 'user' },
      prune: random() < 0.6,
      guards: {
        maxDeletes: 100,
        maxDeletePercent: 100,
        maxKeyRemovals: 1000,
        maxKeyRemovalPercent: 100,
      },
    },
    flags: Object.fromEntries(flags.map((name) => [name, aFlag(name, Math.floor(random() * 1e6))])),
    segments: { s0: aSegment('s0', Math.floor(random() * 1e6)) },
    kills: random() < 0.7 ? { production: {} } : {},
    isBroken: false,
  };
}

/** A flag as somebody writes it first. */
export function aFlag(name: string, seed: number): Members {
  const random = randomFrom(seed);
  const block = (): Members => ({
    ...(random() < 0.5 && { trafficAllocation: share(random()) }),
    ...(random() < 0.4 && { targets: { on: [...KEYS].slice(0, 1 + Math.floor(random() * 3)) } }),
    defaultRule: { on: share(random()), off: 'rest' },
    ...(random() < 0.15 && { killed: random() < 0.5 }),
  });
  const staging = random() < 0.9;
  return {
    flag: name,
    ...(random() < 0.5 && { description: `What ${name} is for` }),
    ...(random() < 0.4 && { tags: ['web', 'story'] }),
    treatments:
      random() < 0.5
        ? { on: 'New', off: '' }
        : { on: { configuration: { steps: 3 } }, off: { description: 'Old' } },
    defaultTreatment: 'off',
    ...(random() < 0.3 && { baselineTreatment: 'off' }),
    environments: { ...(staging && { staging: block() }), production: block() },
  };
}

export function aSegment(name: string, seed: number): Members {
  const random = randomFrom(seed);
  const keys = (): Member[] => KEYS.filter(() => random() < 0.5);
  return {
    segment: name,
    ...(random() < 0.4 && { description: `Who is in ${name}` }),
    environments: {
      staging: random() < 0.8 ? { keys: keys() } : {},
      production: { ...(random() < 0.2 && { mode: 'add-only' }), keys: keys() },
    },
  };
}

/** Whole per cents below 100: a change that serves everybody something else at once is for a guard. */
export function share(chance: number): number {
  return Math.floor(chance * 90);
}

/** Path below the config directory → text. */
export function filesOf({ config, flags, segments, kills, isBroken }: Specs): Map<string, string> {
  const files = new Map([['flagkeel.yaml', stringify(config)]]);
  for (const [name, file] of Object.entries(flags))
    files.set(`flags/${name}.yaml`, stringify(file));
  for (const [name, file] of Object.entries(segments)) {
    files.set(`segments/${name}.yaml`, stringify(file));
  }
  for (const [name, list] of Object.entries(kills)) {
    files.set(`kills/${name}.yaml`, stringify({ kills: list }));
  }
  if (isBroken) files.set('flags/broken.yaml', 'flag: [');
  return files;
}

export function blocksOf(file: Members): Partial<Record<EnvironmentName, Members>> {
  return file['environments'] as Partial<Record<EnvironmentName, Members>>;
}
