import { FlagkeelError } from '../errors.js';
import type { BoundDesired } from '../model/bound-desired.js';
import type { DesiredFlag } from '../model/desired.js';
import { withTag } from '../model/flag/fields.js';
import { KINDS, keyOf } from '../model/ref.js';
import { filterOptionsOf } from '../model/remedy.js';
import type { LeftOut, RunOptions } from '../model/run.js';
import type { State } from '../model/state.js';
import { plannedKind } from '../plan/objects/kinds.js';
import type { PlanPolicy } from '../plan/policy.js';
import { didYouMean, quotedList } from '../specs/parse/suggest.js';

type Filters = Pick<RunOptions, 'only' | 'exclude' | 'tags' | 'owners'>;

/**
 * `KIND/NAME` of the objects that all filters of a run let through; null without a filter. Tags and owners are those of
 * flags in the specs at HEAD, so that they select no segment and no object that left the specs.
 *
 * @param state null if it was not read: then an object that left the specs is unknown.
 * @throws FlagkeelError `USAGE`: a filter names nothing, or together they leave no object. An empty plan would look like
 * in sync.
 */
export function selectedKeys(
  filters: Filters,
  desired: BoundDesired,
  state: State | null,
): ReadonlySet<string> | null {
  const { only, exclude = [], tags = [], owners = [] } = filters;
  if ([only, exclude, tags, owners].every(({ length }) => length === 0)) return null;
  const flags = [...desired.flags.values()];
  const known = knownKeys(desired, state);
  const nowhere = `neither the specs nor their references${state ? ' nor the state' : ''} have it`;
  refuseUnknown('--only', only, known, nowhere);
  refuseUnknown('--exclude', exclude, known, nowhere);
  const tagsOf = ({ fields, ownershipTag }: DesiredFlag): readonly string[] =>
    withTag(fields, ownershipTag).tags ?? [];
  refuseUnknown('--tag', tags, new Set(flags.flatMap(tagsOf)), 'no flag of the specs has it');
  const ownersOf = ({ owner }: DesiredFlag): readonly string[] =>
    owner === undefined ? [] : [owner];
  const named = 'no flag of the specs names it';
  refuseUnknown('--owner', owners, new Set(flags.flatMap(ownersOf)), named);
  const flagsWith = (wanted: readonly string[], wordsOf: typeof tagsOf): ReadonlySet<string> => {
    const found = flags.filter((flag) => wordsOf(flag).some((each) => wanted.includes(each)));
    return new Set(found.map(({ name }) => keyOf('flag', name)));
  };
  const sets = [
    ...(only.length > 0 ? [new Set(only)] : []),
    ...(tags.length > 0 ? [flagsWith(tags, tagsOf)] : []),
    ...(owners.length > 0 ? [flagsWith(owners, ownersOf)] : []),
  ];
  const selected = [...known].filter(
    (key) => !exclude.includes(key) && sets.every((each) => each.has(key)),
  );
  if (selected.length > 0) return new Set(selected);
  const words = filterOptionsOf(filters).join(' ');
  throw new FlagkeelError('USAGE', `cannot use ${words}: no object is left`);
}

function refuseUnknown(
  option: string,
  names: readonly string[],
  known: ReadonlySet<string>,
  why: string,
): void {
  const name = names.find((each) => !known.has(each));
  if (name === undefined) return;
  const suggestion = didYouMean(name, known);
  throw new FlagkeelError('USAGE', `cannot use ${option} "${name}": ${why}${suggestion}`);
}

/** @param names as the config writes them. */
export function unknownEnvironment(name: string, names: readonly string[]): FlagkeelError {
  const why = `flagkeel.yaml has ${quotedList(names)}${didYouMean(name, names)}`;
  return new FlagkeelError('USAGE', `cannot use --environment "${name}": ${why}`);
}

function knownKeys(desired: BoundDesired, state: State | null): ReadonlySet<string> {
  const { references } = desired.config;
  const otherFlags = [...references.flags, ...desired.kills.map(({ flag }) => flag)];
  return new Set([
    ...declaredKeys(desired),
    ...otherFlags.map((name) => keyOf('flag', name)),
    ...references.segments.map((name) => keyOf('segment', name)),
    ...(state?.keys() ?? []),
  ]);
}

function declaredKeys(desired: BoundDesired): string[] {
  return KINDS.flatMap((kind) =>
    plannedKind(kind)
      .declarations(desired)
      .map(({ name }) => keyOf(kind, name)),
  );
}

/** The declared objects and the environments that the filters of a run leave out; undefined without a filter. */
export function leftOutOf(
  options: Filters,
  { desired, state, policy }: { desired: BoundDesired; state: State; policy: PlanPolicy },
): LeftOut | undefined {
  const selected = selectedKeys(options, desired, state);
  const objects = selected && declaredKeys(desired).filter((key) => !selected.has(key));
  const environments = policy.environments.filter((each) => !each.selected);
  if (objects === null && environments.length === 0) return undefined;
  return {
    objects: [...new Set(objects)].sort(),
    environments: environments.map(({ name }) => name),
  };
}
