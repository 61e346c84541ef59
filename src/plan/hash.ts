import type { BoundDesired } from '../model/bound-desired.js';
import { byCodeUnits, canonicalJson, sameJson, sha256, type Json } from '../model/json.js';
import {
  bucketsOn,
  formOf,
  pathOf,
  shareOnRamp,
  withEachBuckets,
  writtenRamp,
  type DesiredRamp,
  type Ladder,
} from '../model/flag/ramp.js';
import type { Change, FieldChange, Plan, Reason } from '../model/plan.js';
import type { ObjectId } from '../model/ref.js';
import { satisfies, type Fields } from './fields.js';
import { plannedKind } from './objects/kinds.js';

export interface HashFacts {
  /** Ids of the objects that count. Default, or null: all. */
  readonly reviewed?: ReadonlySet<ObjectId> | null | undefined;
  /** The specs where the reviewed plan starts. Default: each field starts at its base. */
  readonly start?: BoundDesired | undefined;
  /** The ramps of the specs, by definition. */
  readonly ladders?: ReadonlyMap<ObjectId, readonly Ladder[]>;
}

/**
 * Hash of the place, the values from which each field starts and those that it gets, without reasons, authors, files or
 * order: two plans with equal hashes are the same plan. Survives a merge, a squash and the steps of a ramp, because a
 * ramp counts as it is written and not by the share that is due.
 *
 * @param place `origin` of the service, or `embedded`.
 * @returns `sha256:` and lower-case hex of the RFC 8785 form.
 */
export function planHash(
  plan: Pick<Plan, 'changes'>,
  place: { origin: string; workspaceId: string },
  facts: HashFacts = {},
): string {
  const changes = plan.changes
    .filter(({ id }) => facts.reviewed?.has(id) ?? true)
    .sort((a, b) => byCodeUnits(a.id, b.id))
    .map((change) => hashedChange(change, facts));
  return `sha256:${sha256(canonicalJson({ origin: place.origin, workspace: place.workspaceId, changes }))}`;
}

function hashedChange(change: Change, facts: HashFacts): object {
  const { id, action, archive, keys } = change;
  const ladders = action === 'delete' ? [] : (facts.ladders?.get(id) ?? []);
  return {
    id,
    action,
    ...(archive && { archive }),
    fields: withoutSteps(change, ladders).map((field) => ({
      path: field.path,
      ...startOf(change, field, facts),
      ...(field.after !== undefined && { after: writtenValue(field, ladders) }),
      ...(field.keys && { keys: hashedKeys(field.keys) }),
    })),
    ...(keys && { keys: hashedKeys(keys) }),
    ...(ladders.length > 0 && { ramp: ladders.map(({ ramp }) => writtenRamp(ramp)) }),
  };
}

/** Steps of a known ramp were reviewed with it. A change of nothing else keeps them: no two steps have the same hash. */
function withoutSteps({ fields }: Change, ladders: readonly Ladder[]): readonly FieldChange[] {
  const others = fields.filter((field) => !isKnownStep(field, ladders));
  return others.length === 0 ? fields : others;
}

/** Whether a field only takes steps of ramps that a run has begun: they were reviewed with the ramps. */
export function isKnownStep({ path, reason }: FieldChange, ladders: readonly Ladder[]): boolean {
  const own = ladders.filter(({ ramp }) => pathOf(ramp) === path);
  return reason === 'ramp' && own.every(({ ramp, record }) => record?.ladder === formOf(ramp));
}

/** Without a start, the reasons of a field say whether its live value is its base. */
const MOVED: ReadonlySet<Reason> = new Set(['drift', 'conflict', 'adopt', 'unknown']);

/** The value from which a field starts; `moved` if the service has neither that nor the wanted value. */
export function startOf(
  change: Omit<Change, 'dependsOn'>,
  field: FieldChange,
  { start }: HashFacts,
): { readonly before?: unknown; readonly moved?: true } {
  const { base, reason, path, before: live } = field;
  if (start === undefined) {
    const isPruned = reason === 'prune' && base !== undefined;
    const isMoved = isPruned
      ? !satisfies(path, live as Json | undefined, base as Json)
      : MOVED.has(reason);
    return { ...(base !== undefined && { before: base }), ...(isMoved && { moved: true }) };
  }
  const { kind, name, environment } = change.ref;
  const said = plannedKind(kind).fieldsOf?.(start, change.ref);
  const before = said?.get(path);
  const ramps = start.flags.get(name)?.environments.get(environment ?? '')?.ramps ?? [];
  const isMoved = said === undefined ? MOVED.has(reason) : isElsewhere(field, said, ramps);
  return {
    ...(before !== undefined && field.keys === undefined && { before }),
    ...(isMoved && { moved: true }),
  };
}

/** Whether the live value is not the one that the specs said. A share that a ramp of theirs reached is. */
function isElsewhere(
  { path, keys, before: live, reason }: FieldChange,
  said: Fields,
  ramps: readonly DesiredRamp[],
): boolean {
  const before = said.get(path);
  if (keys) return MOVED.has(reason);
  if (before === undefined) return false;
  const own = ramps.filter((ramp) => pathOf(ramp) === path);
  if (own.length === 0 || live === undefined) {
    return !satisfies(path, live as Json | undefined, before);
  }
  return !sameJson(withoutShares(path, before, own), withoutShares(path, live as Json, own));
}

/** A field with the same text in place of each share that is on the way of its ramp. */
function withoutShares(path: string, value: Json, ramps: readonly DesiredRamp[]): unknown {
  const side = { [path.slice(1)]: value };
  const found = ramps.flatMap((ramp) => {
    const buckets = bucketsOn(side, ramp);
    return buckets && shareOnRamp(ramp, buckets) !== undefined ? [buckets] : [];
  });
  return withEachBuckets(path, value, (buckets) =>
    found.includes(buckets) ? 'on the ramp' : buckets,
  );
}

/** The new value of a field, with the written buckets in place of those that a ramp has now. */
export function writtenValue({ path, after }: FieldChange, ladders: readonly Ladder[]): unknown {
  const own = ladders.map(({ ramp }) => ramp).filter((ramp) => pathOf(ramp) === path);
  if (own.length === 0) return after;
  return withEachBuckets(
    path,
    after,
    (buckets, rule) => own.find((each) => each.rule === rule)?.written ?? buckets,
  );
}

function hashedKeys({ added, removed, changed, sha256: digest }: Change['keys'] & object): object {
  return {
    added: added.length,
    removed: removed.length,
    ...(changed && { changed: changed.length }),
    sha256: digest,
  };
}
