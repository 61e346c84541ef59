import { FlaghoistError } from '../errors.js';
import { mergeBase, resolveRevision, type Checkout } from '../git/checkout.js';
import { commitTree } from '../git/commit-tree.js';
import type { Desired } from '../model/desired.js';
import type { ObjectId, ObjectRef } from '../model/object-id.js';
import type { PlannedEnvironment } from '../plan/policy.js';
import { readSpecs } from '../specs/read-specs.js';
import type { SpecMemory } from '../specs/spec-memory.js';
import { formsOf } from './forms.js';

/**
 * The objects whose specs differ between a revision and what is planned: what a plan made with `--since` is about.
 *
 * Seen from the point where both parted, so that what was merged elsewhere meanwhile is nobody's change here, and a
 * branch before its merge or squash has the same objects as the commit after it.
 *
 * @throws FlaghoistError `GIT` there is no such revision; `SPECS_INVALID` its specs cannot be compared with.
 */
export async function objectsChangedSince(
  checkout: Checkout,
  since: string,
  {
    desired,
    environments,
    specs,
  }: { desired: Desired; environments: readonly PlannedEnvironment[]; specs: SpecMemory },
): Promise<ReadonlySet<ObjectId>> {
  const from = await partedFrom(checkout, since);
  const before = await desiredAt(checkout, from, since, specs);
  const refs = refsOf(before === null ? [desired] : [desired, before], environments);
  const now = formsOf(desired, refs, environments);
  const then = before === null ? new Map<ObjectId, string>() : formsOf(before, refs, environments);
  const ids = [...now.keys(), ...then.keys()];
  return new Set(ids.filter((id) => now.get(id) !== then.get(id)));
}

/**
 * The commit where HEAD and a revision parted.
 *
 * @throws FlaghoistError `GIT` there is no such revision.
 */
export async function partedFrom(checkout: Checkout, since: string): Promise<string> {
  const revision = await resolveRevision(checkout, since);
  const { head, repository } = checkout;
  const parted =
    repository && head !== null ? await mergeBase(repository.git, revision, head) : null;
  return parted ?? revision;
}

/** Null: there were no specs yet. */
async function desiredAt(
  checkout: Checkout,
  commit: string,
  since: string,
  memory: SpecMemory,
): Promise<Desired | null> {
  const tree = await commitTree(checkout, commit);
  if (tree.list().length === 0) return null;
  const specs = await readSpecs(tree, memory);
  if (specs.ok) return specs.desired;
  const [first] = specs.diagnostics.filter(({ severity }) => severity === 'error');
  const what = first ? ` (${first.location.file}: ${first.message})` : '';
  throw new FlaghoistError(
    'SPECS_INVALID',
    `cannot compare with "${since}": the specs of ${commit.slice(0, 8)} are invalid${what}`,
  );
}

function refsOf(
  sides: readonly Desired[],
  environments: readonly PlannedEnvironment[],
): ObjectRef[] {
  const places = [null, ...environments.map(({ name }) => name)];
  const nameOf = new Map(environments.map(({ configName, name }) => [configName, name]));
  return sides.flatMap(({ flags, segments, identities }) => [
    ...refsIn('flag', [...flags.keys()], places),
    ...refsIn('segment', [...segments.keys()], places),
    ...identities.map(({ trafficType: name, environment }): ObjectRef => {
      return { kind: 'identities', name, environment: nameOf.get(environment) ?? environment };
    }),
  ]);
}

function refsIn(
  kind: 'flag' | 'segment',
  names: readonly string[],
  places: readonly (string | null)[],
): ObjectRef[] {
  return names.flatMap((name) => places.map((environment) => ({ kind, name, environment })));
}
