import { join } from 'node:path';
import { EXIT, FlagkeelError, type ExitCode } from '../../errors.js';
import { directoryTree } from '../../git/trees.js';
import { bindEnvironments } from '../../model/bound-desired.js';
import { isSelected } from '../../model/run.js';
import { filesTree } from '../../import/workspace-files.js';
import { selectedKeys } from '../../reconcile/scope.js';
import { rewriteFile } from '../../report/output.js';
import { clean, quoted } from '../../report/sanitize.js';
import { diagnosticsText } from '../../report/text/diagnostics.js';
import { differentLines } from '../../specs/edit/edit-file.js';
import { promotedAll, type Promoted, type PromotedParts } from '../../specs/edit/promote.js';
import type { ResolvedFlag } from '../../specs/resolve/flags.js';
import { didYouMean } from '../../specs/parse/suggest.js';
import { readSpecs } from '../../specs/read-specs.js';
import { commonOptions, selectionOptions, type CommonOptions } from '../options.js';
import type { DeclareCommand } from '../command.js';
import { readRightSpecs, type RightSpecs } from '../right-specs.js';
import { ending, type Screen } from '../terminal.js';

interface PromoteOptions extends CommonOptions, PromotedParts {
  readonly from: string;
  readonly to: string;
  readonly write?: boolean;
  readonly exclude: readonly string[];
  readonly tag: readonly string[];
  readonly owner: readonly string[];
}

export const declarePromote: DeclareCommand = (command, invocation) => {
  command
    .argument(
      '[flag-or-directory...]',
      'flags as flag/NAME, and the config repository (default: .)',
    )
    .requiredOption('--from <name>', 'the environment that is taken as it is')
    .requiredOption('--to <name>', 'the environment whose block is written')
    .option('--percentages', 'sizes and the traffic allocation too')
    .option('--targets', 'individual targets too')
    .option('--kills', 'kills too')
    .option('--write', 'write the files; without it the difference is shown and nothing written');
  commonOptions(selectionOptions(command)).action(ending(promote, invocation));
};

/** Takes along what the promoted flags name and the other environment lacks. Writes nothing that would be invalid. */
async function promote(
  words: readonly string[],
  options: PromoteOptions,
  screen: Screen,
): Promise<ExitCode> {
  const objects = words.filter((each) => each.startsWith('flag/'));
  const [directory = '.', ...more] = words.filter((each) => !objects.includes(each));
  if (more.length > 0) {
    const why = `only one of ${[directory, ...more].map(quoted).join(', ')} can be the config repository`;
    throw new FlagkeelError('USAGE', `cannot promote: ${why} (flags are named flag/NAME)`);
  }
  const specs = await readRightSpecs(directory, screen);
  const flags = flagsOf(objects, options, specs);
  const { files, needed } = promotedAll(flags, options, specs.parts, options);
  const missed = needed.find((each) => options.exclude.includes(each));
  if (missed !== undefined) {
    const why = `what is promoted needs it, and ${quoted(options.to)} lacks it`;
    throw new FlagkeelError('USAGE', `cannot promote without ${quoted(missed)}: ${why}`);
  }
  const changed = files.filter(({ before, after }) => before !== after);
  const root = specs.checkout.directory;
  const texts = new Map(changed.map(({ path, after }) => [path, after]));
  const result = await readSpecs(filesTree(texts, await directoryTree(root)));
  const text = changed.length === 0 ? 'no difference\n' : changed.map(asText).join('\n');
  const documents = files.map(({ path: file, before, after }) => {
    return { file, changed: before !== after, before, after };
  });
  await screen.print({ needed, files: documents }, () => text);
  if (needed.length > 0) {
    screen.note(
      `taken along, because ${clean(options.to)} lacks them: ${clean(needed.join(', '))}`,
    );
  }
  if (!result.ok) {
    screen.noteLines(diagnosticsText(result.diagnostics, { color: false }).trimEnd());
    screen.note('nothing is written: the specs would be invalid');
    return EXIT.invalidSpecs;
  }
  if (changed.length > 0 && options.write !== true) screen.note('nothing is written (add --write)');
  for (const { path, after } of options.write === true ? changed : []) {
    await rewriteFile(join(root, path), after);
    screen.note(`${clean(path)} is written: review and commit it`);
  }
  return EXIT.ok;
}

function flagsOf(
  objects: readonly string[],
  { from, to, tag, owner, exclude }: PromoteOptions,
  { desired, parts }: RightSpecs,
): readonly ResolvedFlag[] {
  const names = desired.config.environments.map((each) => each.name);
  const unknown = [from, to].find((each) => !names.includes(each));
  const fail = (what: string, why: string): FlagkeelError =>
    new FlagkeelError('USAGE', `cannot promote ${what}: ${why}`);
  const what = objects.map(quoted).join(', ') || 'flags';
  if (unknown !== undefined) {
    const why = `flagkeel.yaml has no environment ${quoted(unknown)}`;
    throw fail(what, `${why}${didYouMean(unknown, names)}`);
  }
  if (from === to) throw fail(what, 'both environments are the same');
  const isFiltered = tag.length + owner.length > 0;
  if (objects.length === 0 && !isFiltered) {
    throw fail(what, 'none is named (flag/NAME, --tag NAME or --owner NAME)');
  }
  for (const object of objects) {
    const flag = parts.flags.find(({ name }) => `flag/${name}` === object);
    if (!flag) {
      const like = didYouMean(object.slice('flag/'.length), desired.flags.keys());
      throw fail(quoted(object), `no such flag is declared${like}`);
    }
    if (!flag.environments.has(from)) {
      throw fail(quoted(object), `it is not declared for ${quoted(from)}`);
    }
  }
  const filters = { only: [], exclude, tags: tag, owners: owner };
  const selected = selectedKeys(filters, bindEnvironments(desired, new Map()), null);
  const found = parts.flags.filter(({ name, environments }) => {
    const key = `flag/${name}`;
    return environments.has(from) && isSelected(objects, [key]) && selected?.has(key) !== false;
  });
  if (found.length === 0) throw fail(what, `no flag of ${quoted(from)} is selected`);
  return found;
}

function asText({ path, before, after }: Promoted): string {
  const lines = differentLines(before, after);
  let last = 0;
  const shown = lines.map(({ sign, text, line }) => {
    const gap = last !== 0 && line > last + 1 ? '  …\n' : '';
    last = line;
    return `${gap}${sign} ${clean(text)}`.trimEnd();
  });
  return `${clean(path)}:${lines[0]?.line ?? 1}\n${shown.join('\n')}\n`;
}
