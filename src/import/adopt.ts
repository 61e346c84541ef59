import { type BoundDesired, bindEnvironments } from '../model/bound-desired.js';
import { flagFieldsFromWire } from '../model/flag/fields.js';
import { definitionFromWire } from '../model/flag/wire.js';
import type { Definition, FlagFields } from '../model/flag/flag.js';
import { bucketsOn } from '../model/flag/ramp.js';
import { byCodeUnits, sameJson } from '../model/json.js';
import type { DesiredDefinition } from '../model/desired.js';
import type { SpecTree } from '../model/spec-tree.js';
import { planChanges, pendingWithheld } from '../plan/plan.js';
import type { PlanInput } from '../plan/input.js';
import { readSpecs } from '../specs/read-specs.js';
import { definitionEdits, flagEdits } from './adopt-flag.js';
import { editedText } from '../specs/edit/edit-file.js';
import { filesTree } from './read-back.js';
import {
  type Change,
  type LiveKill,
  type Plan,
  type Reason,
  type Withheld,
} from '../model/plan.js';
import { standingOfWithheld } from '../model/verdict.js';
import { type Kind, keyOf, parseKey, type ObjectId, type ObjectRef } from '../model/ref.js';
import { editedKeyFile, segmentEdits } from './adopt-keys.js';
import type { State } from '../model/state.js';
import { strongest } from '../plan/planned-change.js';
import { observedKind } from '../plan/objects/kinds.js';
import type { PlannedEnvironment } from '../plan/policy.js';

export interface Adoption {
  /** Path → new text, sorted by path; only files that change. */
  readonly files: ReadonlyMap<string, string>;
  /** Objects whose live values are now in the files. */
  readonly adopted: readonly Adopted[];
  /** Objects that a person has to decide about. */
  readonly left: readonly { readonly id: string; readonly why: string }[];
}

interface Adopted {
  readonly id: string;
  readonly paths: readonly string[];
  /** A share of a ramp was written as a plain share, and the ramp taken out. */
  readonly endsRamp: boolean;
}

/**
 * Edits the specs so that they have the live values of objects changed outside git. Writes nothing to disk.
 * Leaves an object whose live value specs cannot express; it does not keep the others back.
 */
export async function adoptDrift(
  differences: readonly Difference[],
  input: PlanInput,
  tree: SpecTree,
): Promise<Adoption> {
  let files: ReadonlyMap<string, string> = new Map();
  const adopted: Adopted[] = [];
  const left: { id: string; why: string }[] = [];
  for (const difference of differences) {
    const { change } = difference;
    const before = files;
    const read = async (path: string): Promise<string> =>
      before.get(path) ?? (await tree.read(path)).toString('utf8');
    const refused = whyNot(difference, input);
    // One by one, because two objects may share a file.
    const written =
      refused === undefined
        ? await ADOPTIONS[change.ref.kind].files(change, input, read)
        : new Map<string, string>();
    const after = new Map([...before, ...written]);
    const why = refused ?? (await faultOf(after, tree));
    if (why !== undefined) {
      left.push({ id: change.id, why });
      continue;
    }
    files = after;
    adopted.push({ id: change.id, paths: [...written.keys()], endsRamp: endsRamp(change, input) });
  }
  const sorted = new Map([...files].toSorted(([a], [b]) => byCodeUnits(a, b)));
  const still = await stillDifferent(sorted, input, tree, new Set(adopted.map(({ id }) => id)));
  return {
    files: sorted,
    adopted: adopted.filter(({ id }) => !still.has(id)),
    left: [...left, ...[...still].map((id) => ({ id, why: 'specs cannot say all of it' }))],
  };
}

function whyNot({ change, gone }: Difference, { desired }: PlanInput): string | undefined {
  if (gone) return 'gone from the service: take it out of git, or let a run create it again';
  if (change.reason === 'conflict' || change.fields.some(({ reason }) => reason === 'conflict')) {
    return 'changed in git and on the service: decide in git';
  }
  if (change.fields.some(({ path }) => path === '/trafficType')) {
    return 'a traffic type is set at creation only';
  }
  return ADOPTIONS[change.ref.kind].whyNot(change, desired);
}

type Read = (path: string) => Promise<string>;

interface KindAdoption {
  /** Why only a person can do it; undefined if this code can. */
  readonly whyNot: (change: Change, desired: BoundDesired) => string | undefined;
  /** Path → new text. */
  readonly files: (
    change: Change,
    input: PlanInput,
    read: Read,
  ) => Promise<ReadonlyMap<string, string>>;
}

const ADOPTIONS: Readonly<Record<Kind, KindAdoption>> = {
  flag: { whyNot: () => undefined, files: writtenFlag },
  segment: { whyNot: sharedKeyFile, files: writtenSegment },
  identities: {
    whyNot: () => undefined,
    files: (change) => {
      throw new Error(`bug: ${change.id} cannot have been seen`);
    },
  },
};

/** The reason not to edit a key file that also holds keys of other segments or environments. */
function sharedKeyFile({ ref }: Change, desired: BoundDesired): string | undefined {
  const { name, environment } = ref;
  if (environment === null) return undefined;
  const uses = [...desired.segments.values()].flatMap((segment) =>
    [...segment.environments.values()].map(({ keysFile }) => keysFile),
  );
  const own = desired.segments.get(name)?.environments.get(environment)?.keysFile;
  const isShared = own !== undefined && uses.filter((each) => each === own).length > 1;
  return isShared ? `${own} serves other segments or environments too: edit it by hand` : undefined;
}

async function writtenFlag(
  change: Change,
  input: PlanInput,
  read: Read,
): Promise<ReadonlyMap<string, string>> {
  const { name, environment } = change.ref;
  const flag = input.desired.flags.get(name);
  const actual = input.actual.flags.get(name);
  if (!flag || !actual) throw new Error(`bug: ${change.id} is not declared`);
  if (environment === null) {
    const live: FlagFields = actual.flag ? flagFieldsFromWire(actual.flag) : {};
    const { file } = flag.location;
    return new Map([[file, editedText(await read(file), flagEdits(change.fields, live))]]);
  }
  const spec = flag.environments.get(environment);
  const definition = actual.definitions.get(environment);
  if (!spec || !definition) throw new Error(`bug: ${change.id} is not declared`);
  const { file } = spec.location;
  const text = await read(file);
  // An overlay file is the block itself.
  const at = file === flag.location.file ? ['environments', configWord(input, environment)] : [];
  const live: Required<Definition> = definitionFromWire(definition);
  const ramped = new Set(spec.ramps?.map(({ rule }) => rule));
  const edits = definitionEdits(change.fields, { live, spec: specOf(spec), ramped, text, at });
  return new Map([[file, editedText(text, edits)]]);
}

function specOf({ creation, ruleNames }: DesiredDefinition) {
  return { definition: creation, ruleNames };
}

async function writtenSegment(
  change: Change,
  input: PlanInput,
  read: Read,
): Promise<ReadonlyMap<string, string>> {
  const { name, environment } = change.ref;
  const segment = input.desired.segments.get(name);
  if (!segment || environment === null || !change.keys)
    throw new Error(`bug: ${change.id} is not declared`);
  const keysFile = segment.environments.get(environment)?.keysFile;
  const { file } = segment.location;
  const block = ['environments', configWord(input, environment)];
  const listed = keysFile === undefined ? undefined : await read(keysFile);
  const { edits, toFile } = segmentEdits(change.keys, block, listed);
  const files = new Map<string, string>();
  if (edits.length > 0) {
    const before = await read(file);
    const after = editedText(before, edits);
    if (after !== before) files.set(file, after);
  }
  if (keysFile !== undefined && listed !== undefined) {
    const after = editedKeyFile(listed, toFile);
    if (after !== listed) files.set(keysFile, after);
  }
  return files;
}

function configWord({ desired }: PlanInput, environment: string): string {
  const word = desired.configNames.get(environment);
  if (word === undefined) throw new Error(`bug: environment "${environment}" is not planned`);
  return word;
}

/** Why the edited files are no valid specs, in one clause; undefined if they are. */
async function faultOf(
  files: ReadonlyMap<string, string>,
  tree: SpecTree,
): Promise<string | undefined> {
  const specs = await readSpecs(filesTree(files, tree));
  if (specs.ok) return undefined;
  const [first] = specs.diagnostics.filter(({ severity }) => severity === 'error');
  const where = first ? ` (${first.location.file}:${first.location.line}: ${first.message})` : '';
  return `specs cannot say what is live${where}`;
}

/** Whether the adoption of a change takes a ramp out of its file: whether the live share is not that of the ramp. */
function endsRamp({ ref: { name, environment }, fields }: Change, input: PlanInput): boolean {
  const spec = input.desired.flags.get(name)?.environments.get(environment ?? '');
  const wire = input.actual.flags.get(name)?.definitions.get(environment ?? '');
  if (!spec?.ramps || !wire) return false;
  const live = definitionFromWire(wire);
  const paths = new Set(fields.map(({ path }) => path));
  return spec.ramps.some((ramp) => {
    const buckets = bucketsOn(live, ramp);
    const isChanged = paths.has(ramp.rule === null ? '/defaultRule' : '/rules');
    return isChanged && buckets && !sameJson(buckets, bucketsOn(spec.creation, ramp));
  });
}

/** Plans the edited files to find objects that still differ. */
async function stillDifferent(
  files: ReadonlyMap<string, string>,
  input: PlanInput,
  tree: SpecTree,
  adopted: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  if (files.size === 0) return new Set();
  const specs = await readSpecs(filesTree(files, tree));
  if (!specs.ok) throw new Error('bug: each edit left the specs valid');
  const desired = bindEnvironments(specs.desired, input.desired.environmentNames);
  const { policy, state } = input;
  const left = driftOf(planChanges({ ...input, desired }), state, policy.environments);
  return new Set(left.differences.map(({ change }) => change.id).filter((id) => adopted.has(id)));
}

/** Reasons of differences that have another cause than a commit. */
const OUTSIDE: ReadonlySet<Reason> = new Set(['drift', 'conflict', 'adopt', 'unknown']);

/** The differences of a plan, separated by cause. */
export interface Drift {
  /** Objects whose live value differs from git for another reason than a commit, one entry each, sorted by id. */
  readonly differences: readonly Difference[];
  /** Number of changes in git that the service does not have yet. */
  readonly pending: number;
  /** How many of these the specs do not delay: a run has to apply them, or a person has to approve them. */
  readonly unapplied: number;
  /** Identities, which the service cannot show, so that it is unknown whether they differ. */
  readonly unseen: readonly ObjectId[];
}

export interface Difference {
  /** The change that would undo it, with only the fields that were changed outside git. */
  readonly change: Change;
  /** The object was equal to git before and is gone from the service. */
  readonly gone: boolean;
}

/** Finds the changes made outside git in a plan. Ignores differences that the service can never change. */
export function driftOf(
  plan: Plan,
  state: State,
  environments: readonly PlannedEnvironment[],
): Drift {
  const all: (Change | Withheld)[] = [...plan.changes, ...pendingWithheld(plan)];
  const found = new Map<string, Difference>();
  let [pending, unapplied] = [0, 0];
  for (const change of all) {
    const outside = outsidePart(change, state, environments);
    if (outside === undefined || isPartly(change, outside)) {
      pending += 1;
      if (isUnapplied(change)) unapplied += 1;
    }
    if (outside === undefined) continue;
    const known = found.get(change.id);
    found.set(change.id, known ? joined(known, outside) : outside);
  }
  for (const kill of plan.liveKills) {
    const known = found.get(kill.id);
    if (known?.change.fields.some(({ path }) => path === '/killed')) continue;
    found.set(kill.id, known ? joined(known, killedOutside(kill)) : killedOutside(kill));
  }
  const ids = [...found.keys()].sort();
  const seen = [...plan.unchanged, ...[...plan.changes, ...plan.withheld].map(({ id }) => id)];
  const unseen = [...new Set(seen)].filter(isUnseen).sort();
  return { differences: ids.flatMap((id) => found.get(id) ?? []), pending, unapplied, unseen };
}

/** Whether a run has to apply the change, or a person has to decide about it. */
function isUnapplied(change: Change | Withheld): boolean {
  return 'why' in change ? standingOfWithheld(change)?.is === 'held' : change.reason !== 'ramp';
}

/** A plan has no change for a live kill, but git does not order it, so it counts as a difference. */
function killedOutside({ id, ref, location }: LiveKill): Difference {
  const fields = [{ path: '/killed', reason: 'drift' as const, before: true, after: false }];
  const change = { id, ref, location, action: 'update', reason: 'drift', fields } as const;
  return { change: { ...change, dependsOn: [] }, gone: false };
}

function isUnseen(id: ObjectId): boolean {
  const ref = parseKey(id);
  return ref !== undefined && observedKind(ref.kind) === null;
}

function outsidePart(
  change: Change,
  state: State,
  environments: readonly PlannedEnvironment[],
): Difference | undefined {
  if (change.action === 'create' || change.action === 'activate') {
    return wasThere(change.ref, state, environments) ? { change, gone: true } : undefined;
  }
  if (change.action !== 'update') return undefined;
  const fields = change.fields.filter(({ reason }) => OUTSIDE.has(reason));
  if (fields.length > 0) {
    const reason = strongest(fields.map((field) => field.reason));
    return { change: { ...change, fields, reason }, gone: false };
  }
  return change.keys && OUTSIDE.has(change.reason) ? { change, gone: false } : undefined;
}

function isPartly({ fields }: Change, { change }: Difference): boolean {
  return change.fields.length < fields.length;
}

/** One object may have fields among the changes and among the withheld ones; this merges both. */
function joined(a: Difference, b: Difference): Difference {
  const fields = [...a.change.fields, ...b.change.fields];
  return {
    ...a,
    change: { ...a.change, fields, reason: strongest([a.change.reason, b.change.reason]) },
  };
}

function wasThere(
  { kind, name, environment }: ObjectRef,
  state: State,
  environments: readonly PlannedEnvironment[],
): boolean {
  const entry = state.get(keyOf(kind, name));
  if (environment === null) return entry?.workspace?.spec !== undefined;
  const id = environments.find((each) => each.name === environment)?.id;
  return id !== undefined && entry?.environments[id]?.spec !== undefined;
}
