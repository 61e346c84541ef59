import { EXIT, FlagkeelError, type ExitCode } from '../../errors.js';
import { forgeToken } from '../../compose/settings.js';
import { runGit } from '../../git/git.js';
import { fileAges } from '../../git/log.js';
import { agedFlags, type AgedFlag, type FlagUse } from '../../lint/stale.js';
import { clean, quoted } from '../../report/sanitize.js';
import { plural } from '../../report/values.js';
import {
  askService,
  onlineOptions,
  type OnlineOptions,
  readRightSpecs,
  warnIfShallow,
  type RightSpecs,
} from '../right-specs.js';
import { commonOptions, positive, repeatableOption, type CommonOptions } from '../options.js';
import type { DeclareCommand } from '../command.js';
import { isNamed } from '../directories.js';
import { ending, type Screen } from '../terminal.js';
import type { AdminReader } from '../../admin-api/reader.js';
import { findEnvironment, findWorkspace } from '../../admin-api/workspace.js';
import { linesWithName } from '../../git/search.js';
import type { Desired } from '../../model/desired.js';
import { changedCodeOwners, type ReadBeside } from '../../specs/edit/code-owners.js';
import { readWithParts } from '../../specs/read-specs.js';
import { validOf } from '../../specs/resolve/spec-set.js';
import { directoryTree } from '../../git/trees.js';

interface StaleOptions extends CommonOptions, OnlineOptions {
  readonly code: readonly string[];
  readonly propose?: string;
  readonly forgeUrl?: string;
  readonly days?: number;
  readonly all?: boolean;
}

const DEFAULT_DAYS = 90;

export const declareStale: DeclareCommand = (command, invocation) => {
  const days =
    'how long a flag may give everybody the same (default: lint.staleAfter of flagkeel.yaml, or 90)';
  const code = 'search this checkout of code for names of flags';
  command
    .argument('[directory]', 'config repository, or a file or folder of it', '.')
    .option('--days <n>', days, positive)
    .option('--all', 'list every flag with its age')
    .addOption(repeatableOption('--code <directory>', code))
    .option('--propose <forge>', 'open pull requests that remove flags: github:owner/name')
    .option('--forge-url <url>', 'of the API of the forge');
  onlineOptions(command, 'for the traffic of flags');
  commonOptions(command).action(ending(stale, invocation));
};

/** Prints those first that no commit touched for the longest time. */
async function stale(directory: string, options: StaleOptions, screen: Screen): Promise<ExitCode> {
  const specs = await readRightSpecs(directory, screen);
  const { staleAfter = DEFAULT_DAYS, fullRollout: lasting = [] } = specs.desired.config.lint ?? {};
  const { days = staleAfter } = options;
  if (options.propose !== undefined && specs.commit === null) {
    const why = 'the files here are not committed (commit them, or leave --propose out)';
    throw new FlagkeelError('USAGE', `cannot propose: ${why}`);
  }
  const today = new Date().toISOString().slice(0, 10);
  const ages = await fileAges(specs.checkout);
  if (ages.size === 0) {
    screen.note('warning: there is no git history here, so only expiry is judged');
  }
  warnIfShallow(specs.checkout, screen);
  const use = await useOf(specs, options, screen);
  const flags = agedFlags(specs.parts, ages, { today, days, ...use })
    .filter(({ flag }) => isNamed(flag.file.path, specs.named))
    // A flag of a lasting kind may give everybody the same for ever.
    .map((aged) => {
      if (!lasting.includes(aged.flag.spec.kind ?? '')) return aged;
      return { ...aged, why: aged.why.filter((why) => why === 'expired') };
    })
    .toSorted((a, b) => (b.quietDays ?? 0) - (a.quietDays ?? 0));
  const found = flags.filter(({ why }) => why.length > 0);
  const listed = options.all === true ? flags : found;
  const count = `${plural(found.length, 'flag')} of ${flags.length} stale`;
  const meaning = `everybody gets the same for ${days} days, or past \`expires\``;
  await screen.print(
    { days, flags: listed.map(asJson) },
    () => `${listed.map(asText).join('')}${count} (${meaning})\n`,
  );
  if (options.propose !== undefined) await proposeAll(found, specs, options, screen);
  return found.length > 0 ? EXIT.changes : EXIT.ok;
}

async function useOf(
  { desired, checkout, parts }: RightSpecs,
  options: StaleOptions,
  screen: Screen,
): Promise<FlagUse> {
  const { code, online = false, propose } = options;
  if (propose !== undefined && code.length === 0 && !online) {
    const wayOut = '--code DIRECTORY for the code, --online for traffic';
    throw new FlagkeelError('USAGE', `cannot propose without knowing who reads flags (${wayOut})`);
  }
  const about = { directory: checkout.directory, desired };
  const traffic = online
    ? await askService(about, options, screen, async (each) => trafficOf(each, desired))
    : undefined;
  if (traffic?.size === 0) screen.note('warning: the service says of no flag when it had traffic');
  const unread = code.length === 0 ? undefined : new Set(parts.flags.map(({ name }) => name));
  for (const directory of code) {
    for (const name of unread ?? []) {
      if ((await linesWithName(directory, name)).length > 0) unread?.delete(name);
    }
  }
  return { ...(unread && { unread }), ...(traffic && { traffic }) };
}

function asJson({ flag, age, quietDays, servedToAll, lastTraffic, why }: AgedFlag): object {
  const { owner, kind, expires } = flag.spec;
  const declared = { name: flag.name, file: flag.file.path, owner, kind, expires };
  return { ...declared, ...age, quietDays, servedToAll, lastTraffic, why };
}

function asText(aged: AgedFlag): string {
  const { name, file } = aged.flag;
  return `flag/${clean(name)} [${clean(file.path)}]\n  ${factsOf(aged).join(' · ')}\n`;
}

function factsOf({ flag, age, quietDays, servedToAll, lastTraffic, why }: AgedFlag): string[] {
  const { owner, expires } = flag.spec;
  return [
    ...(why.length > 0 ? [why.join(', ')] : []),
    owner === undefined ? 'no owner' : `owner ${clean(owner)}`,
    ...(expires === undefined ? [] : [`expires ${expires}`]),
    ...(servedToAll === undefined ? [] : [`everybody gets ${quoted(servedToAll)}`]),
    ...(age
      ? [`changed ${age.changedOn}, ${plural(quietDays ?? 0, 'day')} ago`, `since ${age.addedOn}`]
      : []),
    ...(lastTraffic === undefined
      ? []
      : [lastTraffic === null ? 'never had traffic' : `traffic until ${lastTraffic}`]),
  ];
}

/** The newest traffic of flags in all environments of the config; without those of which the service does not say it. */
async function trafficOf(
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

/** One pull request after the other, so that those that were opened are named if the forge refuses the next. */
async function proposeAll(
  found: readonly AgedFlag[],
  specs: RightSpecs,
  options: StaleOptions,
  screen: Screen,
): Promise<void> {
  const token = forgeToken(screen.terminal.environment);
  for (const aged of found) {
    const done =
      whyKept(aged, options) ?? (await proposeRemoval(aged, specs, token, options, screen));
    const result = 'url' in done ? `: ${done.url}` : ` is not proposed: ${done.refused}`;
    screen.note(`flag/${clean(aged.flag.name)}${clean(result)}`);
  }
}

interface Refused {
  readonly refused: string;
}

function whyKept({ flag, why }: AgedFlag, { code, online }: StaleOptions): Refused | null {
  if (flag.spec.protect === true) return { refused: 'it is protected' };
  if (code.length > 0 && !why.includes('unread')) {
    return { refused: 'code names it, or its files changed lately' };
  }
  if (online === true && !why.includes('unused')) {
    return { refused: 'it has traffic, or the service does not say' };
  }
  return null;
}

/** Opens the pull request that removes a flag from git. What a merge does on the service is a matter of `prune`. */
async function proposeRemoval(
  aged: AgedFlag,
  specs: RightSpecs,
  token: string | undefined,
  { propose = '', forgeUrl }: StaleOptions,
  { progress, terminal: { signal } }: Screen,
): Promise<{ readonly url: string } | Refused> {
  // Loads the clients of forges only for those who propose.
  const { openForge, parseForge, statusTarget } = await import('../../forge/open.js');
  if (token === undefined) {
    throw new FlagkeelError('USAGE', 'cannot propose: no token (set FLAGKEEL_FORGE_TOKEN)');
  }
  const place = statusTarget(parseForge(propose), { apiUrl: forgeUrl });
  const { name } = aged.flag;
  const branch = `flagkeel/remove-${name}`;
  const files = await filesWithout(aged, specs);
  if ('refused' in files) return files;
  const client = await openForge(place, { token, progress, signal });
  const facts = clean(factsOf(aged).join(' · '));
  const body = `\`flagkeel stale\` says of it:\n\n    ${facts}\n\nThis removes the flag from git. It stays on the service until a run prunes it.\n`;
  const proposed = await client.propose({ branch, title: `Remove flag/${name}`, body, files });
  return proposed ?? { refused: `its branch ${branch} is there already` };
}

async function filesWithout(
  { flag }: AgedFlag,
  { parts, checkout, prefix, commit }: RightSpecs,
): Promise<ReadonlyMap<string, string | null> | Refused> {
  const { overlays, loaded } = parts.specs;
  const tests = validOf(loaded, 'spec-test');
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
  const read = committedFiles(checkout, commit ?? '');
  const owners = await changedCodeOwners(prefix, rest.specs.loaded, read);
  return new Map([
    ...gone.map((path) => [prefix + path, null] as const),
    ...(owners ? [[owners.path, owners.text] as const] : []),
  ]);
}

/** Reads beside the specs what is committed, as the specs of a proposal are. */
function committedFiles({ repository }: RightSpecs['checkout'], commit: string): ReadBeside {
  return async (path) => {
    if (repository === null) return null;
    const ask = async (args: string[]): Promise<string> =>
      runGit(repository.git, { args, purpose: `read ${path} of ${commit}` });
    const isThere = await ask(['ls-tree', '--full-tree', commit, '--', path]);
    return isThere === '' ? null : ask(['cat-file', 'blob', `${commit}:${path}`]);
  };
}
