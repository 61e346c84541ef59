import { basename } from 'node:path/posix';
import { type BoundDesired, bindEnvironments } from '../model/bound-desired.js';
import { flagFieldsFromWire, lacksOnly, type FlagFields } from '../model/flag/fields.js';
import { definitionFromWire } from '../model/flag/wire.js';
import { leavesSteps } from '../model/desired.js';
import { sortedMap } from '../model/collections.js';
import { fileKindOf, type SpecTree } from '../model/spec-tree.js';
import { planChanges } from '../plan/plan.js';
import type { PlanInput } from '../plan/input.js';
import { firstFault, readSpecs } from '../specs/read-specs.js';
import { definitionEdits, flagEdits } from './adopt-flag.js';
import { editedText, type Edit } from '../specs/edit/edit-file.js';
import { formattedText } from '../specs/edit/format.js';
import { parseKeyFile } from '../specs/parse/key-lists.js';
import { fitsKeyFile, keyFileOf } from './segment-files.js';
import { filesTree } from './workspace-files.js';
import type { Change } from '../model/plan.js';
import { keyOfId, type Kind } from '../model/ref.js';
import { driftOf, type Difference } from './drift.js';

export interface Adoption {
  /** Path → new text, sorted by path; only files that change. */
  readonly files: ReadonlyMap<string, string>;
  readonly adopted: readonly Adopted[];
  readonly left: readonly { readonly id: string; readonly why: string }[];
}

interface Adopted {
  readonly id: string;
  readonly paths: readonly string[];
  /** A share that grew by steps was written as a plain share, and its ramp taken out. */
  readonly endsSteps: boolean;
}

/** Gives the specs the live values of objects changed outside git, if specs can say them. Writes nothing to disk. */
export async function adoptDrift(
  differences: readonly Difference[],
  input: PlanInput,
  tree: SpecTree,
): Promise<Adoption> {
  const adopted: Adopted[] = [];
  const left: { id: string; why: string }[] = [];
  // One reading of all specs judges a group, and only the halves of one at fault are judged by themselves.
  const adopt = async (changes: readonly Change[], before: Files): Promise<Files> => {
    const after = new Map(before);
    const written: Adopted[] = [];
    // In sequence, because two objects may share a file.
    for (const change of changes) {
      const read = async (path: string): Promise<string> =>
        after.get(path) ?? (await tree.read(path)).toString('utf8').replace(/^\uFEFF/, '');
      const old = new Set([...tree.list().map(({ path }) => path), ...after.keys()]);
      const adoption = ADOPTIONS[change.ref.kind];
      const files =
        (await adoption?.files(change, input, read, new Set(old))) ?? new Map<string, string>();
      for (const [path, text] of files) {
        after.set(path, formattedAs(path, old.has(path) ? await read(path) : text, text));
      }
      const paths = [...files.keys()];
      written.push({ id: change.id, paths, endsSteps: endsSteps(change, input) });
    }
    const why = await faultOf(after, tree);
    if (why !== undefined && changes.length > 1) {
      const middle = changes.length >> 1;
      return adopt(changes.slice(middle), await adopt(changes.slice(0, middle), before));
    }
    if (why === undefined) adopted.push(...written);
    else left.push(...changes.map(({ id }) => ({ id, why })));
    return why === undefined ? after : before;
  };
  const able = differences.flatMap((difference) => {
    const why = whyNot(difference, input);
    if (why === undefined) return [difference.change];
    left.push({ id: difference.change.id, why });
    return [];
  });
  const files = sortedMap(await adopt(able, new Map()));
  const still = await stillDifferent(files, input, tree, new Set(adopted.map(({ id }) => id)));
  return {
    files,
    adopted: adopted.filter(({ id }) => !still.has(id)),
    left: [...left, ...[...still].map((id) => ({ id, why: 'specs cannot say all of it' }))],
  };
}

/** In the format of `fmt` if the old text was, so that `fmt --check` goes on to pass. */
function formattedAs(path: string, old: string, text: string): string {
  const kind = fileKindOf(path);
  return kind && formattedText(kind, old) === old ? formattedText(kind, text) : text;
}

function whyNot(
  { change, gone }: Difference,
  { desired, policy: { only } }: PlanInput,
): string | undefined {
  if (gone) return 'gone from the service: take it out of git, or let a run create it again';
  const isConflict = [change, ...change.fields].some(({ reason }) => reason === 'conflict');
  // A change of git goes with it, so a person has to name the object.
  if (isConflict && only?.has(keyOfId(change.id)) !== true) {
    return `changed in git and on the service: decide in git, or take what is live with --only ${keyOfId(change.id)}`;
  }
  if (change.fields.some(({ path }) => path === '/trafficType')) {
    return 'a traffic type is set at creation only';
  }
  const adoption = ADOPTIONS[change.ref.kind];
  return adoption ? adoption.whyNot?.(change, desired) : 'only a person can edit its file';
}

type Read = (path: string) => Promise<string>;
type Files = ReadonlyMap<string, string>;

interface KindAdoption {
  readonly whyNot?: (change: Change, desired: BoundDesired) => string | undefined;
  /** @param taken paths of files that are there; those of new files are added. */
  readonly files: (
    change: Change,
    input: PlanInput,
    read: Read,
    taken: Set<string>,
  ) => Promise<Files>;
}

/** Only a person can edit the files of other kinds. */
const ADOPTIONS: Readonly<Partial<Record<Kind, KindAdoption>>> = {
  flag: { whyNot: lacksOwnershipTag, files: writtenFlag },
  segment: { files: writtenSegment },
};

/** The reason to leave a flag that lacks nothing but the tag of flagkeel.yaml, which every flag of the specs has. */
function lacksOwnershipTag({ fields }: Change, { config }: BoundDesired): string | undefined {
  const { ownershipTag } = config;
  return lacksOnly(ownershipTag, fields)
    ? `the service lacks only the tag "${ownershipTag ?? ''}" of flagkeel.yaml: let a run set it again`
    : undefined;
}

async function writtenFlag(change: Change, input: PlanInput, read: Read): Promise<Files> {
  const { name, environment } = change.ref;
  const flag = input.desired.flags.get(name);
  const actual = input.actual.flags.get(name);
  if (!flag || !actual) throw new Error(`bug: ${change.id} is not declared`);
  if (environment === null) {
    const live: FlagFields = actual.flag ? flagFieldsFromWire(actual.flag) : {};
    // A file without tags gets none, and no file gets the tag of flagkeel.yaml.
    const { ownershipTag } = input.desired.config;
    const tags = live.tags?.filter((tag) => tag !== ownershipTag);
    const fields = change.fields.filter(({ path }) => path !== '/tags' || flag.fields.tags);
    const edits = flagEdits(fields, { ...live, ...(tags && { tags }) });
    const { file } = flag.location;
    return new Map([[file, editedText(await read(file), edits)]]);
  }
  const spec = flag.environments.get(environment);
  const definition = actual.definitions.get(environment);
  if (!spec || !definition) throw new Error(`bug: ${change.id} is not declared`);
  const { file } = spec.location;
  const text = await read(file);
  // An overlay file is the block itself.
  const at = file === flag.location.file ? ['environments', configWord(input, environment)] : [];
  const live = definitionFromWire(definition);
  const edits = definitionEdits(change.fields, { live, spec, text, at });
  return new Map([[file, editedText(text, edits)]]);
}

async function writtenSegment(
  change: Change,
  input: PlanInput,
  read: Read,
  taken: Set<string>,
): Promise<Files> {
  const { name, environment } = change.ref;
  const segment = input.desired.segments.get(name);
  if (!segment || environment === null || !change.keys)
    throw new Error(`bug: ${change.id} is not declared`);
  const { file } = segment.location;
  const keysFile = segment.environments.get(environment)?.keysFile;
  const listed = keysFile === undefined ? undefined : await read(keysFile);
  const hasFile = listed !== undefined;
  // A change leads from live to git: what it adds to the service is to leave the files.
  const { added, removed } = change.keys;
  const remove = new Set(added);
  const inline = removed.filter((key) => !hasFile || !fitsKeyFile(key));
  const inFile = new Set(hasFile ? parseKeyFile(listed).keys : []);
  const word = configWord(input, environment);
  const at = ['environments', word];
  const edits: Edit[] = [];
  const files = new Map<string, string>();
  if (!hasFile || inline.length > 0 || added.some((key) => !inFile.has(key))) {
    edits.push({ kind: 'texts', path: [...at, 'keys'], add: inline, remove });
  }
  if (keysFile !== undefined && hasFile) {
    const after = editedKeyFile(listed, removed.filter(fitsKeyFile), remove);
    if (after !== listed && isShared(keysFile, input.desired)) {
      // The other places keep the old file, because their keys have not changed.
      const own = keyFileOf(file.replace(/\.yaml$/, ''), word, 'environment', taken);
      edits.push({ kind: 'set', path: [...at, 'keysFile'], value: basename(own) });
      files.set(own, after);
    } else if (after !== listed) files.set(keysFile, after);
  }
  const before = await read(file);
  const after = editedText(before, edits);
  return after === before ? files : files.set(file, after);
}

function isShared(keysFile: string, { segments }: BoundDesired): boolean {
  const uses = [...segments.values()].flatMap(({ environments }) => [...environments.values()]);
  return uses.filter((each) => each.keysFile === keysFile).length > 1;
}

/** Keeps lines that are not keys, such as comments, and appends new keys. */
function editedKeyFile(text: string, add: readonly string[], remove: ReadonlySet<string>): string {
  const kept = text.split('\n').filter((line) => !remove.has(line.trim()));
  const body = kept.join('\n');
  if (add.length === 0) return body;
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const start = body === '' || body.endsWith('\n') ? body : `${body}${end}`;
  return `${start}${add.map((key) => `${key}${end}`).join('')}`;
}

function configWord({ desired }: PlanInput, environment: string): string {
  return desired.configNames.get(environment) ?? environment;
}

async function faultOf(files: Files, tree: SpecTree): Promise<string | undefined> {
  const specs = await readSpecs(filesTree(files, tree));
  if (specs.ok) return undefined;
  return `specs cannot say what is live (${firstFault(specs.diagnostics)})`;
}

function endsSteps({ ref: { name, environment }, fields }: Change, input: PlanInput): boolean {
  const spec = input.desired.flags.get(name)?.environments.get(environment ?? '');
  const wire = input.actual.flags.get(name)?.definitions.get(environment ?? '');
  const paths = new Set(fields.map(({ path }) => path));
  return spec && wire ? leavesSteps(spec, definitionFromWire(wire), paths) : false;
}

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
