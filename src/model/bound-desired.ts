import type { Config, Desired, DesiredFlag, DesiredSegment } from './desired.js';

/** What specs may call an environment, which is its name or its id → its name on the service. */
export type EnvironmentNames = ReadonlyMap<string, string>;

/**
 * Specs in which every environment goes by the name that the service has for it, wherever a `Desired` names one. What
 * a workspace does not have keeps the word of the specs, which is then the name of none of its environments.
 */
export interface BoundDesired extends Desired {
  /** Of the workspace, so that the specs of other commits can be bound to the same. */
  readonly environmentNames: EnvironmentNames;
  /** The service's name → the config's word, in the order of the config; for messages and for what is written to files. */
  readonly configNames: ReadonlyMap<string, string>;
}

/** @param environments all of a workspace. */
export function environmentNames(
  environments: Iterable<{ readonly id: string; readonly name: string }>,
): EnvironmentNames {
  const all = [...environments];
  // A name wins over an id that looks like it.
  return new Map([
    ...all.map(({ id, name }) => [id, name] as const),
    ...all.map(({ name }) => [name, name] as const),
  ]);
}

/**
 * Specs by the names of one workspace. Maps and lists keep the order of the specs. An object that comes out as it went
 * in is the same object, and one that was bound before to the same names is what it was then, so that comparing by
 * identity still finds what changed.
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

/** A config alone, for who reads nothing else of a commit. */
export function bindConfig(config: Config, names: EnvironmentNames): Config {
  return boundConfig(config, bindingTo(names));
}

interface Binding {
  readonly nameOf: (word: string) => string;
  /** Equal for equal names: what was bound by them is found again in the next run. */
  readonly text: string;
}

function bindingTo(names: EnvironmentNames): Binding {
  return { nameOf: (word) => names.get(word) ?? word, text: JSON.stringify([...names]) };
}

/** Remembers what each object became under the names that it was last bound to. */
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
