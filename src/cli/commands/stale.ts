import { EXIT, FlagkeelError, type ExitCode } from '../../errors.js';
import { forgeToken } from '../../compose/settings.js';
import { fileAges } from '../../git/log.js';
import { agedFlags, type AgedFlag, type FlagUse } from '../../lint/stale.js';
import { clean, quoted } from '../../report/sanitize.js';
import { plural } from '../../report/values.js';
import { askService, onlineOptions, type OnlineOptions } from '../on-service.js';
import { collect, positive, commonOptions, type CommonOptions } from '../options.js';
import type { DeclareCommand } from '../command.js';
import { isNamed } from '../directories.js';
import { readRightSpecs, type RightSpecs } from '../right-specs.js';
import { proposeRemoval, trafficOf, unreadIn, whyKept } from '../stale-use.js';
import { ending, type Screen } from '../terminal.js';

interface StaleOptions extends CommonOptions, OnlineOptions {
  readonly code: readonly string[];
  readonly propose?: string;
  readonly forgeUrl?: string;
  readonly days?: number;
  readonly all?: boolean;
}

const DEFAULT_DAYS = 90;

export const declareStale: DeclareCommand = (command, invocation) => {
  command
    .argument('[directory]', 'config repository, or a file or folder of it', '.')
    .option(
      '--days <n>',
      'how long a flag may give everybody the same (default: lint.staleAfter of flagkeel.yaml, or 90)',
      positive,
    )
    .option('--all', 'list every flag with its age')
    .option(
      '--code <directory>',
      'find out what this checkout of code names (repeatable)',
      collect,
      [],
    )
    .option('--propose <forge>', 'open pull requests that remove flags: github:owner/name')
    .option('--forge-url <url>', 'of the API of the forge');
  onlineOptions(command, 'for the traffic of flags');
  commonOptions(command).action(ending(stale, invocation));
};

/**
 * Prints those first that no commit touched for the longest time. Proposes the removal of a flag only if the code and the
 * traffic, as far as they were asked for, do not know it.
 */
async function stale(directory: string, options: StaleOptions, screen: Screen): Promise<ExitCode> {
  const specs = await readRightSpecs(directory, screen);
  const { staleAfter = DEFAULT_DAYS, fullRollout: lasting = [] } = specs.desired.config.lint ?? {};
  const { days = staleAfter } = options;
  const today = new Date().toISOString().slice(0, 10);
  const ages = await fileAges(specs.checkout, 'flags');
  if (ages.size === 0) {
    screen.note('warning: there is no git history here, so only expiry is judged');
  }
  const use = await useOf(specs, options, screen);
  const flags = agedFlags(specs.parts.flags, ages, { today, days, ...use })
    .filter(({ flag }) => isNamed(flag.file.path, specs.named))
    .map((aged) => (lasting.includes(aged.flag.spec.kind ?? '') ? expiredAlone(aged) : aged))
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

/** Refuses to propose removals if neither code nor traffic are known. */
async function useOf(specs: RightSpecs, options: StaleOptions, screen: Screen): Promise<FlagUse> {
  const { code, online = false, propose } = options;
  if (propose !== undefined && code.length === 0 && !online) {
    const wayOut = '--code DIRECTORY for the code, --online for traffic';
    throw new FlagkeelError('USAGE', `cannot propose without knowing who reads flags (${wayOut})`);
  }
  const { desired, checkout, parts } = specs;
  const names = parts.flags.map(({ name }) => name);
  const about = { directory: checkout.directory, desired };
  const traffic = online
    ? await askService(about, options, screen, async (each) => trafficOf(each, desired))
    : undefined;
  if (traffic?.size === 0) screen.note('warning: the service says of no flag when it had traffic');
  return {
    ...(code.length > 0 && { unread: await unreadIn(code, names) }),
    ...(traffic && { traffic }),
  };
}

/** One pull request after the other, so that those that were opened are named if the forge refuses the next. */
async function proposeAll(
  found: readonly AgedFlag[],
  specs: RightSpecs,
  { propose: forge = '', forgeUrl, code, online = false }: StaleOptions,
  screen: Screen,
): Promise<void> {
  const token = forgeToken(screen.terminal.environment);
  for (const aged of found) {
    const name = `flag/${clean(aged.flag.name)}`;
    const why = whyKept(aged, { code: code.length > 0, traffic: online });
    const place = { forge, forgeUrl, token, progress: screen.progress };
    const done =
      why === null
        ? await proposeRemoval(aged, factsOf(aged).join(' · '), specs, place)
        : { refused: why };
    const result = 'url' in done ? `: ${done.url}` : ` is not proposed: ${done.refused}`;
    screen.note(`${name}${clean(result)}`);
  }
}

/** A flag of a lasting kind may give everybody the same for ever. */
function expiredAlone(aged: AgedFlag): AgedFlag {
  return { ...aged, why: aged.why.filter((why) => why === 'expired') };
}

function asJson({ flag, age, quietDays, servedToAll, lastTraffic, why }: AgedFlag): object {
  const { owner, kind, expires } = flag.spec;
  return {
    ...{ name: flag.name, file: flag.file.path, owner, kind, expires },
    ...age,
    ...{ quietDays, servedToAll, lastTraffic, why },
  };
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
