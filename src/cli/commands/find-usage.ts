import { FlagkeelError } from '../../errors.js';
import { linesWithName, type FoundLine } from '../../git/search.js';
import { clean, quoted } from '../../report/sanitize.js';
import { plural } from '../../report/values.js';
import { didYouMean } from '../../specs/parse/suggest.js';
import { usagesOf } from '../../specs/usage.js';
import { collectObject, commonOptions, repeatableOption, type CommonOptions } from '../options.js';
import type { DeclareCommand } from '../command.js';
import { readRightSpecs, type RightSpecs } from '../right-specs.js';
import { ending, type Screen } from '../terminal.js';

export const declareFindUsage: DeclareCommand = (command, invocation) => {
  command
    .argument('<object>', 'flag/NAME, segment/NAME or condition/NAME', namedObject)
    .argument('[directory]', 'config repository', '.')
    .addOption(repeatableOption('--code <directory>', 'search this checkout of code too'));
  commonOptions(command).action(ending(findUsage, invocation));
};

/** A condition is no object of the service, so no other command takes one. */
function namedObject(text: string): string {
  return /^condition\/[^/]+$/.test(text) ? text : (collectObject(text, [])[0] ?? text);
}

interface Found extends FoundLine {
  /** The directory of code. Default: the specs name it. */
  readonly code?: string;
}

async function findUsage(
  object: string,
  directory: string,
  options: CommonOptions & { readonly code: readonly string[] },
  screen: Screen,
): Promise<void> {
  const specs = await readRightSpecs(directory, screen);
  const wanted = objectOf(object, specs);
  const found: Found[] = usagesOf(wanted, specs.parts).map(({ location, by }) => ({
    file: location.file,
    line: location.line,
    text: by,
  }));
  for (const code of options.code) {
    const lines = await linesWithName(code, wanted.name);
    found.push(...lines.map((line) => ({ code, ...line, text: line.text.trim() })));
  }
  await screen.print({ object, searched: options.code, usages: found }, () =>
    asText(object, found, options.code),
  );
}

const KINDS = ['flag', 'segment', 'condition'] as const;

function objectOf(object: string, { desired, parts }: RightSpecs): Parameters<typeof usagesOf>[0] {
  const name = object.slice(object.indexOf('/') + 1);
  const kind = KINDS.find((each) => object.startsWith(`${each}/`));
  const fail = (why: string): FlagkeelError =>
    new FlagkeelError('USAGE', `cannot find usages of ${quoted(object)}: ${why}`);
  if (kind === undefined) throw fail('only flags, segments and conditions are named elsewhere');
  const { references, conditions } = desired.config;
  const names = {
    flag: [...desired.flags.keys(), ...references.flags, ...parts.kills.map(({ flag }) => flag)],
    segment: [...desired.segments.keys(), ...references.segments],
    condition: [...(conditions?.keys() ?? [])],
  }[kind];
  if (names.includes(name)) return { kind, name };
  throw fail(`no such ${kind} is declared here or in references${didYouMean(name, names)}`);
}

/** Long lines of code are cut: the place matters. */
const MOST_TEXT = 120;

function asText(object: string, found: readonly Found[], code: readonly string[]): string {
  const searched = ['the specs', ...code.map((each) => quoted(each))].join(', ');
  if (found.length === 0) return `nothing names ${clean(object)} in ${searched}\n`;
  const lines = found.map(({ code: from, file, line, text }) => {
    const path = from === undefined ? file : `${from.replace(/\/$/, '')}/${file}`;
    return `${clean(path)}:${line}  ${clean(text.slice(0, MOST_TEXT))}\n`;
  });
  return `${lines.join('')}${plural(found.length, 'place')} in ${searched}\n`;
}
