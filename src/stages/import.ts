import { connect, findEnvironment, type Connection } from '../api/connect.js';
import { observe } from '../api/observe.js';
import type { AdminReader } from '../api/reader.js';
import type { WireWorkspace } from '../api/wire.js';
import { FlaghoistError } from '../errors.js';
import type { Actual } from '../model/actual.js';
import type { Progress } from '../model/progress.js';
import type { Scope } from '../model/scope.js';
import { EMPTY_STATE } from '../model/state.js';
import { planChanges } from '../plan/plan.js';
import { readSpecs } from '../specs/read-specs.js';
import { filesTree } from '../specs/write/files-tree.js';
import {
  nameProblems,
  workspaceFiles,
  type EnvironmentToWrite,
} from '../specs/write/workspace-files.js';
import { objectsSeen } from './objects-seen.js';
import { resolvePolicy } from './policy.js';

export interface ImportOptions {
  /** Name or id; absent: the only one that the key sees. */
  readonly workspace?: string | undefined;
  /** Names or ids; empty: all. */
  readonly environments: readonly string[];
  /** `KIND/NAME`; empty: all. */
  readonly only: readonly string[];
  readonly progress?: Progress | undefined;
}

export interface Imported {
  readonly workspace: string;
  readonly environments: readonly string[];
  readonly flags: number;
  readonly segments: number;
  /** Path → text, sorted by path. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Reads a live workspace and says it in files, so that the next plan is empty. Writes nothing.
 *
 * @throws FlaghoistError `NOT_ON_SERVICE`: there is no such workspace, environment or object. `UNREADABLE`: the service
 *   cannot list its flags. `SPECS_INVALID`: it holds what specs cannot say; all of it is named.
 */
export async function importWorkspace(
  reader: AdminReader,
  options: ImportOptions,
): Promise<Imported> {
  options.progress?.phase('look');
  const all = await reader.listWorkspaces();
  const at = await connect(reader, options.workspace ?? onlyWorkspace(all, reader).id);
  const environments = environmentsOf(at, options.environments);
  const scope = await scopeOf(reader, at, environments, options.only);
  const actual = await observe(reader, at, scope, objectsSeen(scope, options.progress));
  refuseAbsent(actual, at);
  const problems = nameProblems(actual);
  if (problems.length > 0) throw cannotSay(problems);
  const workspace = clearName(at.workspace, all);
  const files = workspaceFiles({ workspace, environments, actual });
  await prove(files, actual, at);
  return {
    workspace: at.workspace.name,
    environments: environments.map((each) => each.name),
    flags: actual.flags.size,
    segments: actual.segments.size,
    files,
  };
}

function onlyWorkspace(all: readonly WireWorkspace[], { origin }: AdminReader): WireWorkspace {
  const [first, second] = all;
  if (first !== undefined && second === undefined) return first;
  const names = all.map(({ name }) => `"${name}"`).join(', ');
  throw new FlaghoistError(
    'NOT_ON_SERVICE',
    first === undefined
      ? `cannot import from ${origin}: the key sees no workspace`
      : `cannot tell which workspace to import: the key sees ${names} (name one with --workspace)`,
  );
}

/** The name; the id where that name would find another one first, or means something else in a spec. */
function clearName<T extends { readonly id: string; readonly name: string }>(
  { id, name }: T,
  all: readonly T[],
): string {
  const isClear = all.filter((each) => [each.name, each.id].includes(name)).length === 1;
  // In a flag `*` means every environment.
  return isClear && name !== '*' && name !== '' ? name : id;
}

/** Those that are protected come last; within both the service's own order. */
function environmentsOf(at: Connection, wanted: readonly string[]): EnvironmentToWrite[] {
  const named = new Set(wanted.map((each) => findEnvironment(at, each)));
  return at.environments
    .filter((each) => wanted.length === 0 || named.has(each))
    .map((each) => ({ ...each, configName: clearName(each, at.environments) }))
    .toSorted((a, b) => Number(a.production) - Number(b.production));
}

async function scopeOf(
  reader: AdminReader,
  at: Connection,
  environments: readonly EnvironmentToWrite[],
  only: readonly string[],
): Promise<Scope> {
  const names = environments.map(({ name }) => name);
  const named = (kind: string): string[] =>
    only.flatMap((each) => (each.startsWith(`${kind}/`) ? [each.slice(kind.length + 1)] : []));
  const isAll = only.length === 0;
  const flags = isAll ? await allFlags(reader, at) : named('flag');
  const listed = isAll ? await reader.listSegments(at.workspace.id) : [];
  const segments = isAll ? listed.map(({ name }) => name) : named('segment');
  return {
    flags: new Map(flags.map((each) => [each, { known: true, environments: new Set(names) }])),
    segments: new Map(
      segments.map((each) => [
        each,
        { environments: new Map(names.map((name) => [name, 'keys' as const])) },
      ]),
    ),
    users: false,
    whole: true,
    flagsKnown: 0,
  };
}

async function allFlags(reader: AdminReader, at: Connection): Promise<string[]> {
  const listed = await reader.listFlags(at.workspace.id);
  if (listed !== null) return listed.map(({ name }) => name);
  throw new FlaghoistError(
    'UNREADABLE',
    `cannot import all flags from ${reader.origin}: the service has no list of its flags (name them: --only flag/NAME, and segments with --only segment/NAME; both repeatable)`,
  );
}

function refuseAbsent({ flags, segments }: Actual, { workspace }: Connection): void {
  const absent = [
    ...[...flags].flatMap(([name, each]) => (each.existence === 'present' ? [] : [`flag/${name}`])),
    ...[...segments].flatMap(([name, each]) => (each.segment ? [] : [`segment/${name}`])),
  ];
  if (absent.length === 0) return;
  throw new FlaghoistError(
    'NOT_ON_SERVICE',
    `cannot import ${absent.join(', ')}: workspace "${workspace.name}" does not show it`,
  );
}

/** Reads the files as a run would, and plans them: whatever is left would be a change nobody asked for. */
async function prove(
  files: ReadonlyMap<string, string>,
  actual: Actual,
  at: Connection,
): Promise<void> {
  const specs = await readSpecs(filesTree(files));
  if (!specs.ok) {
    const errors = specs.diagnostics.filter(({ severity }) => severity === 'error');
    throw cannotSay(errors.map(({ location, message }) => `${location.file}: ${message}`));
  }
  const { desired } = specs;
  const none = { prune: false, adopt: false, revertDrift: false, allowOlder: false };
  const options = { environments: [], only: [], ...none };
  const policy = resolvePolicy(desired.config, at, options, true);
  const left = planChanges({ desired, actual, state: EMPTY_STATE, policy });
  const differing = [...left.changes, ...left.withheld].map(
    ({ id }) => `${id}: it differs once read`,
  );
  if (differing.length > 0) throw cannotSay(differing);
}

const MOST_SHOWN = 20;

function cannotSay(problems: readonly string[]): FlaghoistError {
  const shown = problems.slice(0, MOST_SHOWN);
  const more = problems.length > MOST_SHOWN ? [`and ${problems.length - MOST_SHOWN} more`] : [];
  return new FlaghoistError(
    'SPECS_INVALID',
    `cannot say in files what the service holds; nothing was written (change it there, or name what to import with --only)\n${[...shown, ...more].map((line) => `  ${line}`).join('\n')}`,
  );
}
