import type { AdminReader } from '../admin-api/reader.js';
import { findEnvironment, findWorkspace } from '../admin-api/workspace.js';
import { FlagkeelError } from '../errors.js';
import { linesWithName } from '../git/search.js';
import type { AgedFlag, FlagUse } from '../lint/stale.js';
import type { Desired } from '../model/desired.js';
import type { Progress } from '../model/run.js';
import { packageVersion } from '../platform/version.js';
import { clean } from '../report/sanitize.js';
import { withCodeOwners } from '../specs/edit/code-owners.js';
import { readWithParts } from '../specs/read-specs.js';
import { validOf } from '../specs/resolve/spec-set.js';
import type { SpecTestSpec } from '../generated/spec-test.schema.d.js';
import { directoryTree } from '../git/directory-tree.js';
import { readCodeOwners, type RightSpecs } from './right-specs.js';

/** Names of flags that occur in none of the directories of code, as names by themselves. */
export async function unreadIn(
  code: readonly string[],
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const unread = new Set(names);
  for (const directory of code) {
    for (const name of unread) {
      if ((await linesWithName(directory, name)).length > 0) unread.delete(name);
    }
  }
  return unread;
}

/** The newest traffic of flags in all environments of the config; without those of which the service does not say it. */
export async function trafficOf(
  reader: AdminReader,
  { config }: Desired,
): Promise<NonNullable<FlagUse['traffic']>> {
  const at = await findWorkspace(reader, config.workspace);
  const seen = new Map<string, (number | null | undefined)[]>();
  for (const { name } of config.environments) {
    const environment = findEnvironment(at, name);
    const definitions = await reader.listDefinitions(at.workspace.id, environment.id);
    if (definitions === null) return new Map();
    for (const { name: flag, lastTrafficReceivedAt: last } of definitions) {
      seen.set(flag, [...(seen.get(flag) ?? []), last]);
    }
  }
  const newest = new Map<string, string | null>();
  for (const [flag, moments] of seen) {
    if (moments.includes(undefined)) continue;
    const last = Math.max(...moments.map((each) => each ?? -Infinity));
    newest.set(flag, last === -Infinity ? null : new Date(last).toISOString().slice(0, 10));
  }
  return newest;
}

/** Why the removal of a flag is not to be proposed, as a clause. */
export function whyKept(aged: AgedFlag, asked: { code: boolean; traffic: boolean }): string | null {
  const { flag, why } = aged;
  if (why.length === 0) return 'it is not stale';
  if (flag.spec.protect === true) return 'it is protected';
  if (asked.code && !why.includes('unread')) return 'code names it, or its files changed lately';
  if (asked.traffic && !why.includes('unused'))
    return 'it has traffic, or the service does not say';
  return null;
}

/** What a commit changes that removes a flag from git, by path from the root of the repository; or why other specs need it. */
async function filesWithout(
  { flag }: AgedFlag,
  { parts, checkout, prefix }: RightSpecs,
): Promise<ReadonlyMap<string, string | null> | { readonly refused: string }> {
  const { overlays, loaded } = parts.specs;
  const tests = validOf<SpecTestSpec>(loaded.files.get('spec-test') ?? []);
  const gone = [
    flag.file.path,
    ...overlays.filter(({ spec }) => spec.flag === flag.name).map(({ file }) => file.path),
    ...tests.filter(({ spec }) => spec.tests === flag.name).map(({ file }) => file.path),
  ];
  const disk = await directoryTree(checkout.directory);
  const { result, parts: rest } = await readWithParts({
    list: () => disk.list().filter(({ path }) => !gone.includes(path)),
    read: async (path) => disk.read(path),
  });
  if (!result.ok) {
    return { refused: `the specs would be invalid: ${result.diagnostics[0]?.message ?? ''}` };
  }
  const files = new Map<string, string | null>(gone.map((path) => [prefix + path, null]));
  const root = checkout.repository?.root ?? checkout.directory;
  const owners = await readCodeOwners(root);
  if (owners === null) return files;
  const after = withCodeOwners(owners.text, prefix, rest.specs.loaded);
  if (after !== owners.text) files.set(owners.path, after);
  return files;
}

interface ProposalPlace {
  /** `github:owner/name` or `gitlab:group/project`. */
  readonly forge: string;
  readonly forgeUrl: string | undefined;
  readonly token: string | undefined;
  readonly progress: Progress;
}

/**
 * Opens the pull request that removes a flag from git. What a merge does on the service is a matter of `prune`.
 *
 * @returns the page of the pull request, or why there is none, as a clause.
 *
 * @throws FlagkeelError `USAGE`, `FORGE`.
 */
export async function proposeRemoval(
  aged: AgedFlag,
  facts: string,
  specs: RightSpecs,
  { forge, forgeUrl, token, progress }: ProposalPlace,
): Promise<{ readonly url: string } | { readonly refused: string }> {
  // Loads the clients of forges only for those who propose.
  const { openForge, parseForge, statusTarget } = await import('../forge/open.js');
  if (token === undefined) {
    throw new FlagkeelError('USAGE', 'cannot propose: no token (set FLAGKEEL_FORGE_TOKEN)');
  }
  const place = statusTarget(parseForge(forge), { apiUrl: forgeUrl });
  const { name } = aged.flag;
  const branch = `flagkeel/remove-${name}`;
  const files = await filesWithout(aged, specs);
  if ('refused' in files) return files;
  const client = await openForge(place, { token, version: packageVersion(), progress });
  const body = `\`flagkeel stale\` says of it:\n\n    ${clean(facts)}\n\nThis removes the flag from git. It stays on the service until a run prunes it.\n`;
  const proposed = await client.propose({ branch, title: `Remove flag/${name}`, body, files });
  return proposed ?? { refused: `its branch ${branch} is there already` };
}
