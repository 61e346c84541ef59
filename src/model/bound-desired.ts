import { Memory } from './collections.js';
import { withObjects, type Config, type Desired } from './desired.js';

/** Name or id of an environment, as specs may write it → its name on the service. */
export type EnvironmentNames = ReadonlyMap<string, string>;

/** Specs in which every environment has the service's name for it, or keeps its own if the workspace lacks it. */
export interface BoundDesired extends Desired {
  /** Binds the specs of other commits to the same names. */
  readonly environmentNames: EnvironmentNames;
  /** Name on the service → name in the config, in the order of the config; for messages and written files. */
  readonly configNames: ReadonlyMap<string, string>;
}

export function environmentNames(
  environments: Iterable<{ readonly id: string; readonly name: string }>,
): EnvironmentNames {
  const all = [...environments];
  // A name wins over an equal id.
  return new Map([
    ...all.map(({ id, name }) => [id, name] as const),
    ...all.map(({ name }) => [name, name] as const),
  ]);
}

/**
 * Replaces the environments' names in specs by those of one workspace. An unchanged object stays the same object, and
 * one that was bound to the same names before gives the earlier result, so that `===` still finds changes.
 */
export function bindEnvironments(desired: Desired, names: EnvironmentNames): BoundDesired {
  const { config, kills, killLists } = desired;
  return {
    ...withObjects(desired, (objects) => boundObjects(objects, names)),
    config: bindConfig(config, names),
    kills: kills.map((kill) => {
      const environment = nameOf(kill.environment, names);
      return environment === kill.environment ? kill : { ...kill, environment };
    }),
    killLists: new Set([...killLists].map((word) => nameOf(word, names))),
    environmentNames: names,
    configNames: new Map(config.environments.map(({ name }) => [nameOf(name, names), name])),
  };
}

/** The service's name of an environment, or the word itself if the workspace lacks it. */
export function nameOf(word: string, names: EnvironmentNames): string {
  return names.get(word) ?? word;
}

const BOUND = new Memory<object, object>();

/** @param names compared by content, so that the next run finds the objects that this one bound. */
function bound<T extends object>(object: T, names: EnvironmentNames, bind: () => T): T {
  return BOUND.of(object, [...names].flat(), bind) as T;
}

export function bindConfig(config: Config, names: EnvironmentNames): Config {
  if (config.environments.every(({ name }) => nameOf(name, names) === name)) return config;
  return bound(config, names, () => {
    const environments = config.environments.map((each) => {
      return { ...each, name: nameOf(each.name, names) };
    });
    return { ...config, environments };
  });
}

function boundObjects<T extends { readonly environments: ReadonlyMap<string, unknown> }>(
  objects: ReadonlyMap<string, T>,
  names: EnvironmentNames,
): ReadonlyMap<string, T> {
  const isBound = (word: string): boolean => nameOf(word, names) === word;
  const all = [...objects].map(([name, object]): [string, T] => {
    if ([...object.environments.keys()].every(isBound)) return [name, object];
    return [
      name,
      bound(object, names, () => {
        const environments = [...object.environments].map(
          ([word, part]) => [nameOf(word, names), part] as const,
        );
        return { ...object, environments: new Map(environments) };
      }),
    ];
  });
  return all.every(([name, each]) => objects.get(name) === each) ? objects : new Map(all);
}
