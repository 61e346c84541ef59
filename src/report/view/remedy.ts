import type { Remedy, Way } from '../../model/remedy.js';
import { shellWord } from '../../platform/shell.js';
import { cut } from '../text/layout.js';

/** Columns for the obstacle: enough for any that is meant to be read. The ways out are never cut. */
const BECAUSE_COLUMNS = 400;

/** The obstacle, then its ways out, with commands between backticks. Untrusted text: callers clean it. */
export function remedyText({ because, ways }: Remedy): string {
  const obstacle = because === null ? [] : [cut(because, BECAUSE_COLUMNS)];
  const out = ways.length === 0 ? [] : [ways.map(wayText).join(', or ')];
  return [...obstacle, ...out].join('; ');
}

function wayText(way: Way): string {
  if ('run' in way) return `run ${commandText(way.run)} to ${way.to}${onceText(way)}`;
  if ('write' in way) {
    const lines = way.write.split('\n').map((line) => `\`${line}\``);
    const under = way.under === undefined ? '' : ` under ${way.under}`;
    return `write ${lines.join(' and ')}${under} into ${way.file ?? 'its file'} to ${way.to}`;
  }
  return 'edit' in way ? way.edit : way.elsewhere;
}

function onceText({ once }: { readonly once?: string }): string {
  return once === undefined ? '' : `, once ${once}`;
}

/** @param args of `flagkeel`. */
export function commandText(args: readonly string[]): string {
  return `\`${['flagkeel', ...args].map(shellWord).join(' ')}\``;
}

/** The first way out of several objects at once; undefined if they have none in common. */
export function commonWay(remedies: readonly Remedy[]): string | undefined {
  const firsts = remedies.map(({ ways: [first] }) => first);
  const [first] = firsts;
  if (first === undefined) return undefined;
  if ('run' in first) {
    const at = first.run.indexOf('--only');
    const head = at === -1 ? first.run : first.run.slice(0, at);
    const tails = firsts.map((way) => (way && 'run' in way ? tailOf(way.run, head) : undefined));
    if (tails.includes(undefined)) return undefined;
    const only = new Set(tails.flatMap((tail) => tail ?? []));
    const command = commandText([...head, ...[...only].flatMap((each) => ['--only', each])]);
    return command + onceText(first);
  }
  const texts = new Set(firsts.map((way) => way && wayText(way)));
  return texts.size === 1 ? wayText(first) : undefined;
}

function tailOf(args: readonly string[], head: readonly string[]): string[] | undefined {
  const isSame = head.every((arg, at) => args[at] === arg);
  const rest = args.slice(head.length);
  const isFilter = rest.every((arg, at) => at % 2 === 1 || arg === '--only');
  return isSame && isFilter ? rest.filter((_, at) => at % 2 === 1) : undefined;
}
