import { mostProtectedFirst, type Desired } from '../model/desired.js';
import { byCodeUnits, sameJson } from '../model/json.js';
import { keyOf, type NamedKind } from '../model/ref.js';
import { isSelected } from '../model/run.js';
import { readBounded } from '../platform/bounded-file.js';
import { decodeUtf8 } from '../specs/parse/source-text.js';
import { quotedList } from '../specs/parse/suggest.js';
import {
  cannotSay,
  nameProblem,
  readBack,
  repositoryFiles,
  type EnvironmentToWrite,
  type RepositoryToWrite,
} from './workspace-files.js';
import type { Imported, ImportOptions } from './import.js';
import { cannotImport, type ConvertSource, type Departure } from './sources/source.js';

const SOURCES = {
  'harness-ff': async () => (await import('./sources/harness-ff.js')).convertHarnessFf,
  'split-yaml': async () => (await import('./sources/split-yaml.js')).convertSplitYaml,
  'terraform-state': async () =>
    (await import('./sources/terraform-state.js')).convertTerraformState,
} as const satisfies Readonly<Record<string, () => Promise<ConvertSource>>>;

export type SourceName = keyof typeof SOURCES;

export const SOURCE_NAMES = Object.keys(SOURCES) as readonly SourceName[];

/** The workspace is the file's own by default, or `Default`. Environments are names in the order of application. */
interface FileImportOptions extends Omit<ImportOptions, 'progress'> {
  readonly trafficType: string;
  readonly signal: AbortSignal;
}

export interface ImportedFile extends Imported {
  /** Where the specs differ from the file or leave something out, in the order found. */
  readonly departures: readonly Departure[];
}

/** @throws FlagkeelError `SPECS_INVALID`: no file of the tool, or specs cannot say it; `USAGE`: no such environment. */
export async function importFile(
  source: SourceName,
  path: string,
  options: FileImportOptions,
): Promise<ImportedFile> {
  const convert = await SOURCES[source]();
  const text = decodeUtf8(await readBounded(path, 'import from', options.signal));
  if (text === undefined) throw cannotImport('SPECS_INVALID', path, 'it is no text in UTF-8');
  const converted = convert({ path, text }, options);
  const environments = chosenEnvironments(path, converted.environments, options.environments);
  refuseAbsent(path, converted, [...options.only, ...options.exclude]);
  const departures = [...converted.departures];
  const isChosen = (kind: NamedKind, name: string): boolean => {
    const key = keyOf(kind, name);
    if (!isSelected(options.only, [key]) || options.exclude.includes(key)) return false;
    const problem = nameProblem(kind, name);
    if (problem !== undefined) departures.push({ place: path, what: `${problem}; left out` });
    return problem === undefined;
  };
  const flags = converted.flags.filter(({ name }) => isChosen('flag', name));
  const segments = converted.segments.filter(({ name }) => isChosen('segment', name));
  const repository: RepositoryToWrite = {
    workspace: converted.workspace ?? 'Default',
    environments,
    flags: sorted(flags, environments),
    segments: sorted(segments, environments),
  };
  const files = repositoryFiles(repository);
  const { desired, parts } = await readBack(files, 'the file');
  const problems = differing(desired, repository);
  if (problems.length > 0) throw cannotSay(problems, 'the file');
  return {
    workspace: repository.workspace,
    environments: mostProtectedFirst(environments),
    files,
    parts,
    departures,
  };
}

/** In the requested order. By default in the file's order, protected ones last. */
function chosenEnvironments(
  path: string,
  found: readonly EnvironmentToWrite[],
  wanted: readonly string[],
): readonly EnvironmentToWrite[] {
  const byName = new Map(found.map((each) => [each.name, each]));
  const strangers = wanted.filter((name) => !byName.has(name));
  if (found.length === 0) throw cannotImport('USAGE', path, 'it names no environment');
  if (strangers.length > 0) {
    const why = `it has no environment ${quotedList(strangers)}, but ${quotedList([...byName.keys()])}`;
    throw cannotImport('USAGE', path, why);
  }
  if (wanted.length > 0) return [...new Set(wanted)].flatMap((name) => byName.get(name) ?? []);
  return found.toSorted((a, b) => Number(a.protected) - Number(b.protected));
}

function refuseAbsent(
  path: string,
  { flags, segments }: Pick<RepositoryToWrite, 'flags' | 'segments'>,
  named: readonly string[],
): void {
  const found = new Set([
    ...flags.map(({ name }) => keyOf('flag', name)),
    ...segments.map(({ name }) => keyOf('segment', name)),
  ]);
  const absent = named.filter((key) => !found.has(key));
  if (absent.length > 0) throw cannotImport('USAGE', path, `it has no ${absent.join(', ')}`);
}

function sorted<D, T extends { name: string; environments: ReadonlyMap<string, D> }>(
  objects: readonly T[],
  environments: readonly EnvironmentToWrite[],
): T[] {
  return objects
    .toSorted((a, b) => byCodeUnits(a.name, b.name))
    .map((object) => ({
      ...object,
      environments: new Map(
        environments.flatMap(({ name }) => {
          const found = object.environments.get(name);
          return found === undefined ? [] : [[name, found] as const];
        }),
      ),
    }));
}

function differing({ flags, segments }: Desired, meant: RepositoryToWrite): string[] {
  const problems: string[] = [];
  for (const { name, environments } of meant.flags) {
    for (const [environment, definition] of environments) {
      const read = flags.get(name)?.environments.get(environment)?.creation;
      const isSame = sameJson(read, definition);
      if (!isSame) problems.push(`flag/${name}@${environment}: it differs once read`);
    }
  }
  for (const { name, environments } of meant.segments) {
    for (const [environment, keys] of environments) {
      const read = segments.get(name)?.environments.get(environment)?.keys?.keys;
      const isSame = sameJson(read ?? null, keys);
      if (!isSame) problems.push(`segment/${name}@${environment}: it differs once read`);
    }
  }
  return problems;
}
