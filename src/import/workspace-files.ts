import { FlagkeelError } from '../errors.js';
import type { Actual } from '../model/actual.js';
import { sortedMap } from '../model/collections.js';
import type { Desired } from '../model/desired.js';
import type { Matcher } from '../model/flag/flag.js';
import { byCodeUnits, sortedSet } from '../model/json.js';
import { dependencyOf, segmentOf } from '../model/matcher/canonical.js';
import { NAMED, NAMED_KINDS, type Kind, type NamedKind } from '../model/ref.js';
import { CONFIG_PATH, isSpecPath, overlaid, type SpecTree } from '../model/spec-tree.js';
import { Flow, mapping, yamlText, type Member } from '../specs/edit/yaml-text.js';
import { withSchemaLines } from '../specs/parse/schemas.js';
import { readWithParts, type SpecParts } from '../specs/read-specs.js';
import { flagFileText, liveFlags, type FlagToWrite } from './flag-files.js';
import { liveSegments, segmentFiles, type SegmentToWrite } from './segment-files.js';

export interface EnvironmentToWrite {
  readonly name: string;
  readonly protected: boolean;
}

export interface RepositoryToWrite {
  readonly workspace: string;
  readonly environments: readonly EnvironmentToWrite[];
  /** Sorted by name. */
  readonly flags: readonly FlagToWrite[];
  readonly segments: readonly SegmentToWrite[];
}

export interface WorkspaceToWrite {
  readonly workspace: string;
  readonly environments: readonly (EnvironmentToWrite & { readonly configName: string })[];
  /** Only its flags and segments in these environments are written. */
  readonly actual: Actual;
  readonly unmanaged?: readonly string[] | undefined;
}

/** The config repository with the content of the service, of which `nameProblems` finds no fault. Equal states give equal bytes. */
export function workspaceFiles(of: WorkspaceToWrite): ReadonlyMap<string, string> {
  const { workspace, environments, actual, unmanaged } = of;
  const words = new Map(environments.map(({ name, configName }) => [name, configName]));
  return repositoryFiles({
    workspace,
    environments: environments.map((each) => ({ ...each, name: each.configName })),
    flags: liveFlags(actual, words, unmanaged),
    segments: liveSegments(actual, words),
  });
}

export function repositoryFiles(of: RepositoryToWrite): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  const files: Readonly<Record<NamedKind, readonly (readonly [string, string])[]>> = {
    flag: of.flags.map((flag) => [`flags/${flag.name}.yaml`, flagFileText(flag)]),
    segment: of.segments.flatMap((segment) => [...segmentFiles(segment, taken)]),
  };
  const all = sortedMap([[CONFIG_PATH, configText(of)], ...Object.values(files).flat()]);
  return withSchemaLines(all);
}

function configText({ workspace, environments, flags, segments }: RepositoryToWrite): string {
  const foreign = foreignReferences(flags, segments);
  const blocks = environments.map((each): Member => {
    return [each.name, new Flow(mapping(['protected', each.protected || undefined]))];
  });
  const references = mapping(...Object.entries(foreign).filter(([, names]) => names.length > 0));
  return yamlText(
    mapping(
      ['workspace', workspace],
      ['environments', mapping(...blocks)],
      ['references', references.size === 0 ? undefined : references],
    ),
  );
}

/** The limit of file systems. */
const MAX_FILE_NAME_BYTES = 255;
/** Room after the object's name in a file name: its environment, and `.keys`. */
const MAX_ENDING_BYTES = 110;

export function nameProblems(names: ReadonlyMap<Kind, readonly string[]>): string[] {
  return NAMED.flatMap((kind) =>
    (names.get(kind) ?? []).flatMap((name) => nameProblem(kind, name) ?? []),
  ).toSorted(byCodeUnits);
}

export function nameProblem(kind: NamedKind, name: string): string | undefined {
  const { pattern, reserved } = NAMED_KINDS[kind];
  if (reserved.has(name)) return `${kind} "${name}": the name is a reserved word`;
  if (!pattern.test(name)) return `${kind} "${name}": the name cannot be a file name of a spec`;
  if (name.length <= MAX_FILE_NAME_BYTES - MAX_ENDING_BYTES) return undefined;
  return `${kind} "${name}": the name is too long for a file name`;
}

/** Names in rules that these specs do not declare, or not in the form that the rule needs. Sorted, unique. */
function foreignReferences(
  flags: readonly FlagToWrite[],
  segments: readonly SegmentToWrite[],
): Readonly<Record<'segments' | 'flags', readonly string[]>> {
  const flagByName = new Map(flags.map((flag) => [flag.name, flag]));
  const segmentByName = new Map(segments.map((segment) => [segment.name, segment]));
  const foreign: Record<'segments' | 'flags', string[]> = { segments: [], flags: [] };
  const check = (matcher: Matcher, environment: string, trafficType: string): void => {
    const segment = segmentOf(matcher);
    const dependency = dependencyOf(matcher);
    if (segment !== undefined) {
      const found = segmentByName.get(segment);
      const fits = found?.trafficType === trafficType && found.environments.has(environment);
      if (!fits) foreign.segments.push(segment);
    }
    if (dependency !== undefined) {
      const found = flagByName.get(dependency.flag)?.environments.get(environment);
      const names = found?.treatments.map(({ name }) => name);
      const fits = names && dependency.treatments.every((each) => names.includes(each));
      if (!fits) foreign.flags.push(dependency.flag);
    }
  };
  for (const { environments, trafficType } of flags) {
    for (const [environment, { rules }] of environments) {
      for (const { matchers } of rules) {
        for (const matcher of matchers) check(matcher, environment, trafficType);
      }
    }
  }
  return { segments: sortedSet(foreign.segments), flags: sortedSet(foreign.flags) };
}

/** Unwritten files, path → text, as a tree of specs. They replace files of the same path in the tree `below`. */
export function filesTree(files: ReadonlyMap<string, string>, below?: SpecTree): SpecTree {
  const contents = sortedMap([...files].map(([path, text]) => [path, Buffer.from(text)]));
  const entries = [...contents].map(([path, content]) => {
    return { path, type: 'file' as const, sizeBytes: content.length };
  });
  const own = entries.filter(({ path }) => isSpecPath(path));
  const tree: SpecTree = {
    list: () => own,
    read: async (path) => {
      const content = contents.get(path);
      if (content === undefined) throw new Error(`bug: "${path}" is no file of this tree`);
      return Promise.resolve(content);
    },
  };
  return below ? overlaid(below, tree, (path) => files.has(path)) : tree;
}

/** Reads written files as a run would. @throws FlagkeelError `SPECS_INVALID` if they are not valid. */
export async function readBack(
  files: ReadonlyMap<string, string>,
  holder: string,
): Promise<{ readonly desired: Desired; readonly parts: SpecParts }> {
  const { result, parts } = await readWithParts(filesTree(files));
  if (result.ok) return { desired: result.desired, parts };
  const errors = result.diagnostics.filter(({ severity }) => severity === 'error');
  throw cannotSay(
    errors.map(({ location, message, excerpt }) => {
      const line = excerpt ? `, in: ${excerpt.text.trim().slice(0, MOST_OF_LINE)}` : '';
      return `${location.file}: ${message}${line}`;
    }),
    holder,
  );
}

const MOST_SHOWN = 20;
const MOST_OF_LINE = 100;

export function cannotSay(problems: readonly string[], holder = 'the service'): FlagkeelError {
  const shown = problems.slice(0, MOST_SHOWN);
  const more = problems.length > MOST_SHOWN ? [`and ${problems.length - MOST_SHOWN} more`] : [];
  const message = `cannot say in files what ${holder} holds; nothing was written (change it there, or leave it out with --exclude)`;
  return new FlagkeelError('SPECS_INVALID', message, { items: [...shown, ...more] });
}
