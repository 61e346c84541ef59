import { FlaghoistError } from '../errors.js';
import { definitionFromWire, flagFieldsFromWire } from '../kinds/flag-wire.js';
import type { Definition, FlagFields } from '../kinds/flag.js';
import { byCodeUnits } from '../kinds/json.js';
import type { Desired, DesiredDefinition } from '../model/desired.js';
import type { SpecTree } from '../model/tree.js';
import { planChanges } from '../plan/plan.js';
import type { PlanInput } from '../plan/plan-input.js';
import { readSpecs } from '../specs/read-specs.js';
import { definitionEdits, flagEdits } from '../specs/write/adopt-flag.js';
import { editedText } from '../specs/write/edit-file.js';
import { editedKeyFile, segmentEdits } from '../specs/write/adopt-segment.js';
import { filesTree } from '../specs/write/files-tree.js';
import { driftOf, type Difference } from './drift.js';

export interface Adoption {
  /** Path → new text, sorted by path; only files that change. */
  readonly files: ReadonlyMap<string, string>;
  /** Objects whose live values the files now say. */
  readonly adopted: readonly { readonly id: string; readonly paths: readonly string[] }[];
  /** Objects that a person has to decide about. */
  readonly left: readonly { readonly id: string; readonly why: string }[];
}

/**
 * Says the live values of what came apart outside git in the files of the specs. Writes nothing.
 *
 * @throws FlaghoistError `SPECS_INVALID`: specs cannot say what is live.
 */
export async function adoptDrift(
  differences: readonly Difference[],
  input: PlanInput,
  tree: SpecTree,
): Promise<Adoption> {
  const files = new Map<string, string>();
  const adopted: { id: string; paths: string[] }[] = [];
  const left: { id: string; why: string }[] = [];
  for (const difference of differences) {
    const why = whyNot(difference, input);
    const { change } = difference;
    if (why !== undefined) {
      left.push({ id: change.id, why });
      continue;
    }
    const read = async (path: string): Promise<string> =>
      files.get(path) ?? (await tree.read(path)).toString('utf8');
    // One after the other: two objects may stand in one file.
    const written = await writtenFiles(difference, input, read);
    for (const [path, text] of written) files.set(path, text);
    adopted.push({ id: change.id, paths: [...written.keys()] });
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
  const { kind, name, environment } = change.ref;
  if (kind !== 'segment' || environment === null) return undefined;
  const uses = [...desired.segments.values()].flatMap((segment) =>
    [...segment.environments.values()].map(({ keysFile }) => keysFile),
  );
  const own = desired.segments.get(name)?.environments.get(environment)?.keysFile;
  const isShared = own !== undefined && uses.filter((each) => each === own).length > 1;
  return isShared ? `${own} serves other segments or environments too: edit it by hand` : undefined;
}

type Read = (path: string) => Promise<string>;

async function writtenFiles(
  { change }: Difference,
  input: PlanInput,
  read: Read,
): Promise<ReadonlyMap<string, string>> {
  const { kind, name, environment } = change.ref;
  if (kind === 'segment') return writtenSegment(change, input, read);
  const flag = input.desired.flags.get(name);
  const actual = input.actual.flags.get(name);
  if (!flag || !actual) throw new Error(`bug: ${change.id} is not declared`);
  if (environment === null) {
    const live: FlagFields = actual.flag ? flagFieldsFromWire(actual.flag) : {};
    const { file } = flag.location;
    return new Map([[file, editedText(await read(file), flagEdits(change.fields, live))]]);
  }
  const configName = configNameOf(input, environment);
  const spec = flag.environments.get(configName);
  const definition = actual.definitions.get(environment);
  if (!spec || !definition) throw new Error(`bug: ${change.id} is not declared`);
  const { file } = spec.location;
  const text = await read(file);
  // An overlay is the block itself.
  const at = file === flag.location.file ? ['environments', configName] : [];
  const live: Required<Definition> = definitionFromWire(definition);
  const edits = definitionEdits(change.fields, { live, spec: specOf(spec), text, at });
  return new Map([[file, editedText(text, edits)]]);
}

function specOf({ creation, ruleNames }: DesiredDefinition) {
  return { definition: creation, ruleNames };
}

async function writtenSegment(
  change: Difference['change'],
  input: PlanInput,
  read: Read,
): Promise<ReadonlyMap<string, string>> {
  const { name, environment } = change.ref;
  const segment = input.desired.segments.get(name);
  const configName = configNameOf(input, environment ?? '');
  const keysFile = segment?.environments.get(configName)?.keysFile;
  if (!segment || !change.keys) throw new Error(`bug: ${change.id} is not declared`);
  const { file } = segment.location;
  const listed = keysFile === undefined ? undefined : await read(keysFile);
  const { edits, toFile } = segmentEdits(change.keys, ['environments', configName], listed);
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

function configNameOf({ policy }: PlanInput, environment: string): string {
  const found = policy.environments.find(({ name }) => name === environment);
  if (!found) throw new Error(`bug: environment "${environment}" is not planned`);
  return found.configName;
}

/** Plans the edited files: what still differs was not said. */
async function stillDifferent(
  files: ReadonlyMap<string, string>,
  input: PlanInput,
  tree: SpecTree,
  adopted: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  if (files.size === 0) return new Set();
  const specs = await readSpecs(filesTree(files, tree));
  if (!specs.ok) {
    const lines = specs.diagnostics
      .filter(({ severity }) => severity === 'error')
      .map(({ location, message }) => `  ${location.file}:${location.line}: ${message}`);
    throw new FlaghoistError(
      'SPECS_INVALID',
      `cannot say in files what is live; nothing was written\n${lines.join('\n')}`,
    );
  }
  const desired: Desired = specs.desired;
  const { policy, state } = input;
  const left = driftOf(planChanges({ ...input, desired }), state, policy.environments);
  return new Set(left.differences.map(({ change }) => change.id).filter((id) => adopted.has(id)));
}
