import { EXIT, type ExitCode } from '../../errors.js';
import { fileAges } from '../../git/log.js';
import { agedFlags, type AgedFlag } from '../../lint/stale.js';
import { clean, quoted } from '../../report/sanitize.js';
import { plural } from '../../report/values.js';
import { examples } from '../help.js';
import { positive, commonOptions, type CommonOptions } from '../options.js';
import { ending, type DeclareCommand } from '../command.js';
import { isNamed } from '../directories.js';
import { readRightSpecs } from '../right-specs.js';
import { openScreen, type Terminal, prettyJson } from '../terminal.js';

interface StaleOptions extends CommonOptions {
  /** Default: `lint.staleAfter` of flagkeel.yaml, or 90. */
  readonly days?: number;
  readonly all?: boolean;
}

const DEFAULT_DAYS = 90;

export const declareStale: DeclareCommand = (command, invocation) => {
  examples(command, ['flagkeel stale --days 60', 'flagkeel stale --all --format json']);
  command
    .argument('[directory]', 'config repository, or a file or folder of it', '.')
    .option(
      '--days <n>',
      'how long a flag may give everybody the same (default: lint.staleAfter of flagkeel.yaml, or 90)',
      positive,
    )
    .option('--all', 'list every flag with its age');
  commonOptions(command).action(ending(stale, invocation));
};

/**
 * Prints the flags that are past their day, or that have given everybody the same for long; those that no commit touched for
 * the longest time first. The service is not asked.
 *
 * @returns 2 where a flag is stale, otherwise 0.
 * @throws FlagkeelError `SPECS_INVALID`; `GIT`: the history cannot be read.
 */
async function stale(
  directory: string,
  options: StaleOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const screen = openScreen(options, terminal);
  const specs = await readRightSpecs(directory, screen);
  const { staleAfter = DEFAULT_DAYS, fullRollout: lasting = [] } = specs.desired.config.lint ?? {};
  const { days = staleAfter } = options;
  const today = new Date().toISOString().slice(0, 10);
  const ages = await fileAges(specs.checkout, 'flags');
  if (ages.size === 0) {
    screen.note('warning: there is no git history here, so only expiry is judged');
  }
  const flags = agedFlags(specs.parts.flags, ages, { today, days })
    .filter(({ flag }) => isNamed(flag.file.path, specs.named))
    .map((aged) => (lasting.includes(aged.flag.spec.kind ?? '') ? expiredAlone(aged) : aged))
    .toSorted((a, b) => (b.quietDays ?? 0) - (a.quietDays ?? 0));
  const found = flags.filter(({ why }) => why.length > 0);
  const listed = options.all === true ? flags : found;
  await screen.result(
    options.format === 'json'
      ? prettyJson({ formatVersion: 1, days, flags: listed.map(asJson) })
      : `${listed.map(asText).join('')}${plural(found.length, 'flag')} of ${flags.length} stale (everybody gets the same for ${days} days, or past \`expires\`)\n`,
  );
  return found.length > 0 ? EXIT.changes : EXIT.ok;
}

/** A flag of a lasting kind may give everybody the same for ever. */
function expiredAlone(aged: AgedFlag): AgedFlag {
  return { ...aged, why: aged.why.filter((why) => why === 'expired') };
}

function asJson({ flag, age, quietDays, servedToAll, why }: AgedFlag): object {
  const { owner, kind, expires } = flag.spec;
  return {
    ...{ name: flag.name, file: flag.file.path, owner, kind, expires },
    ...age,
    ...{ quietDays, servedToAll, why },
  };
}

function asText({ flag, age, quietDays, servedToAll }: AgedFlag): string {
  const { owner, expires } = flag.spec;
  const facts = [
    owner === undefined ? 'no owner' : `owner ${clean(owner)}`,
    ...(expires === undefined ? [] : [`expires ${expires}`]),
    ...(servedToAll === undefined ? [] : [`everybody gets ${quoted(servedToAll)}`]),
    ...(age
      ? [`changed ${age.changedOn}, ${plural(quietDays ?? 0, 'day')} ago`, `since ${age.addedOn}`]
      : []),
  ];
  return `flag/${clean(flag.name)} [${clean(flag.file.path)}]\n  ${facts.join(' · ')}\n`;
}
