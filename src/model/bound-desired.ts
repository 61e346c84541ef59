import type { Config, Desired, DesiredFlag, DesiredSegment } from './desired.js';

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
  const binding = bindingTo(names);
  const { config, flags, segments, identities, kills, killLists } = desired;
  const { nameOf } = binding;
  return {
    config: boundConfig(config, binding),
    flags: boundObjects(flags, binding, boundFlag),
    segments: boundObjects(segments, binding, boundSegment),
    identities: identities.map((each) => boundPart(each, nameOf)),
    kills: kills.map((each) => boundPart(each, nameOf)),
    killLists: new Set([...killLists].map(nameOf)),
    environmentNames: names,
    configNames: new Map(config.environments.map(({ name }) => [nameOf(name), name])),
  };
}

export function bindConfig(config: Config, names: EnvironmentNames): Config {
  return boundConfig(config, bindingTo(names));
}

interface Binding {
  readonly nameOf: (word: string) => string;
  /** Equal for equal names, so that the next run finds the objects that this one bound. */
  readonly text: string;
}

function bindingTo(names: EnvironmentNames): Binding {
  return { nameOf: (word) => names.get(word) ?? word, text: JSON.stringify([...names]) };
}

function remembering<T extends object>(
  bind: (object: T, binding: Binding) => T,
): (object: T, binding: Binding) => T {
  const known = new WeakMap<T, { readonly text: string; readonly bound: T }>();
  return (object, binding) => {
    const before = known.get(object);
    if (before?.text === binding.text) return before.bound;
    const bound = bind(object, binding);
    known.set(object, { text: binding.text, bound });
    return bound;
  };
}

const boundConfig = remembering<Config>((config, { nameOf }) => {
  if (config.environments.every(({ name }) => nameOf(name) === name)) return config;
  const environments = config.environments.map((each) => ({ ...each, name: nameOf(each.name) }));
  return { ...config, environments };
});

const boundFlag = remembering<DesiredFlag>((flag, { nameOf }) => {
  return { ...flag, environments: byName(flag.environments, nameOf) };
});

const boundSegment = remembering<DesiredSegment>((segment, { nameOf }) => {
  return { ...segment, environments: byName(segment.environments, nameOf) };
});

function boundPart<T extends { readonly environment: string }>(
  part: T,
  nameOf: Binding['nameOf'],
): T {
  const environment = nameOf(part.environment);
  return environment === part.environment ? part : { ...part, environment };
}

function byName<T>(
  environments: ReadonlyMap<string, T>,
  nameOf: Binding['nameOf'],
): ReadonlyMap<string, T> {
  return new Map([...environments].map(([word, part]) => [nameOf(word), part]));
}

function boundObjects<T extends DesiredFlag | DesiredSegment>(
  objects: ReadonlyMap<string, T>,
  binding: Binding,
  bind: (object: T, binding: Binding) => T,
): ReadonlyMap<string, T> {
  const isBound = (object: T): boolean => {
    for (const word of object.environments.keys()) if (binding.nameOf(word) !== word) return false;
    return true;
  };
  const bound = new Map<string, T>();
  let isSame = true;
  for (const [name, object] of objects) {
    const same = isBound(object);
    isSame &&= same;
    bound.set(name, same ? object : bind(object, binding));
  }
  return isSame ? objects : bound;
}
