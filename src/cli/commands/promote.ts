import { join } from 'node:path';
import { EXIT, FlagkeelError, type ExitCode } from '../../errors.js';
import { directoryTree } from '../../git/directory-tree.js';
import type { SpecTree } from '../../model/spec-tree.js';
import { writeResult } from '../../report/output.js';
import { clean, quoted } from '../../report/sanitize.js';
import { diagnosticsText } from '../../report/text/diagnostics.js';
import { differentLines } from '../../specs/edit/lines.js';
import { promoted, type Promoted } from '../../specs/edit/promote.js';
import { didYouMean } from '../../specs/parse/suggest.js';
import { readSpecs } from '../../specs/read-specs.js';
import { examples } from '../help.js';
import { collectObject, commonOptions, type CommonOptions } from '../options.js';
import { ending, type DeclareCommand } from '../command.js';
import { readRightSpecs, type RightSpecs } from '../right-specs.js';
import { openScreen, type Terminal, prettyJson } from '../terminal.js';

interface PromoteOptions extends CommonOptions {
  readonly from: string;
  readonly to: string;
  readonly percentages?: boolean;
  readonly targets?: boolean;
  readonly kills?: boolean;
  readonly write?: boolean;
}

export const declarePromote: DeclareCommand = (command, invocation) => {
  examples(command, ['flagkeel promote flag/new-checkout --from staging --to production --write']);
  command
    .argument('<object>', 'the flag: flag/NAME', (text: string) => collectObject(text, [])[0])
    .argument('[directory]', 'config repository', '.')
    .requiredOption('--from <name>', 'the environment that is taken as it is')
    .requiredOption('--to <name>', 'the environment whose block is written')
    .option('--percentages', 'sizes and the traffic allocation too')
    .option('--targets', 'individual targets too')
    .option('--kills', 'the killing too')
    .option('--write', 'write the file; without it the difference is shown and nothing written');
  commonOptions(command).action(ending(promote, invocation));
};

/**
 * Writes what a flag is in one environment into its block of another, and shows the difference first. The file lies in the
 * working tree: it still has to be reviewed and committed. May be repeated; then there is no difference.
 *
 * @returns 0, also where there is no difference; 3 where the specs would be invalid afterwards, and nothing is written.
 * @throws FlagkeelError `SPECS_INVALID`: they are invalid before; `USAGE`: there is no such flag or environment.
 */
async function promote(
  object: string,
  directory: string,
  options: PromoteOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const screen = openScreen(options, terminal);
  const specs = await readRightSpecs(directory, screen);
  const promotion = promotionOf(object, options, specs);
  const change = promoted(promotion, specs.parts, options);
  const root = specs.checkout.directory;
  const result = await readSpecs(withFile(await directoryTree(root), change));
  await screen.result(options.format === 'json' ? asJson(change) : asText(change));
  if (!result.ok) {
    screen.note(diagnosticsText(result.diagnostics, { color: false }).trimEnd());
    screen.note('nothing is written: the specs would be invalid');
    return EXIT.invalidSpecs;
  }
  if (change.before === change.after) return EXIT.ok;
  if (options.write === true) {
    await writeResult(change.after, { file: join(root, change.path), stdout: terminal.stdout });
    screen.note(`${clean(change.path)} is written: review and commit it`);
  } else screen.note('nothing is written (add --write)');
  return EXIT.ok;
}

function promotionOf(
  object: string,
  { from, to }: PromoteOptions,
  { desired, parts }: RightSpecs,
): Parameters<typeof promoted>[0] {
  const name = object.slice(object.indexOf('/') + 1);
  const flag = object.startsWith('flag/')
    ? parts.flags.find((each) => each.name === name)
    : undefined;
  const fail = (why: string): FlagkeelError =>
    new FlagkeelError('USAGE', `cannot promote ${quoted(object)}: ${why}`);
  if (!flag) throw fail(`no such flag is declared${didYouMean(name, desired.flags.keys())}`);
  const names = desired.config.environments.map((each) => each.name);
  const unknown = [from, to].find((each) => !names.includes(each));
  if (unknown !== undefined) {
    throw fail(`flagkeel.yaml has no environment ${quoted(unknown)}${didYouMean(unknown, names)}`);
  }
  if (from === to) throw fail('both environments are the same');
  if (!flag.environments.has(from)) throw fail(`it is not declared for ${quoted(from)}`);
  return { flag, from, to };
}

/** The files on disk with one of them as it would be. */
function withFile(disk: SpecTree, { path, after }: Promoted): SpecTree {
  return {
    list: () => disk.list(),
    read: async (each) => (each === path ? Buffer.from(after) : disk.read(each)),
  };
}

function asText({ path, before, after }: Promoted): string {
  const lines = differentLines(before, after);
  if (lines.length === 0) return 'no difference\n';
  let last = 0;
  const shown = lines.map(({ sign, text, line }) => {
    const gap = last !== 0 && line > last + 1 ? '  …\n' : '';
    last = line;
    return `${gap}${sign} ${clean(text)}`.trimEnd();
  });
  return `${clean(path)}:${lines[0]?.line ?? 1}\n${shown.join('\n')}\n`;
}

function asJson({ path, before, after }: Promoted): string {
  const isDifferent = before !== after;
  return prettyJson({ formatVersion: 1, file: path, changed: isDifferent, before, after });
}
