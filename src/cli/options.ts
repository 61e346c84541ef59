import { Option, type Command, InvalidArgumentError } from 'commander';
import { AUTH_HEADERS } from '../admin-api/origin.js';
import type { ConnectionFlags, RunFlags } from '../compose/run.js';
import type { HelpDocument } from '../generated/help.schema.d.js';
import { present } from '../model/collections.js';
import { FLAG_FIELDS } from '../model/flag/fields.js';
import { DEFINITION_FIELDS } from '../model/flag/flag.js';
import type { ChangeNote } from '../model/outcome.js';
import { parseKey } from '../model/ref.js';
import { parseDuration } from '../platform/clock.js';
import { parseMoment } from '../platform/zoned-time.js';

/** Each function adds options to a command and returns it; the interface of the same name is what the action gets. */

export interface CommonOptions {
  readonly format?: 'text' | 'json' | 'markdown';
  readonly output?: string;
  readonly showKeys?: boolean;
  /** False where the command line has `--no-color`; commander makes it true otherwise. */
  readonly color: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly logFormat?: 'pretty' | 'json';
}

/** @param formats what `--format` accepts; the command chooses what it prints where none is given. */
export function commonOptions(
  command: Command,
  formats: readonly string[] = ['text', 'json'],
): Command {
  return command
    .optionsGroup('Output:')
    .addOption(new Option('--format <format>', 'of the result').choices(formats))
    .option('--output <file>', 'write the result to a file')
    .option('--show-keys', 'name keys of segments and targets, not only their number')
    .option('--no-color', 'plain text')
    .option('--quiet', 'only errors on standard error, and of a plan the summary alone')
    .option('--verbose', 'list every object, and say more on standard error')
    .addOption(logFormatOption());
}

export function logFormatOption(): Option {
  return new Option('--log-format <format>', 'of the log').choices(['pretty', 'json']);
}

export function placeOptions(command: Command): Command {
  return command
    .optionsGroup('Service:')
    .option('--url <url>', 'the administration service (default: FLAGKEEL_URL)')
    .addOption(
      new Option('--auth-header <name>', 'in which header the key goes').choices(AUTH_HEADERS),
    )
    .option('--embedded', 'start the embedded service in this process and use it')
    .option('--embedded-dir <path>', 'where the embedded service keeps its data');
}

export function timeoutOption(command: Command): Command {
  const what = 'give up on a dead network after this time (default: 30s)';
  return command.addOption(durationOption('--timeout', what));
}

export function excludeOption(command: Command): Command {
  return command
    .optionsGroup('Only a part:')
    .addOption(repeatableOption('--exclude <kind/name>', 'leave this object out', collectObject));
}

export function selectionOptions(command: Command): Command {
  return excludeOption(command)
    .addOption(repeatableOption('--tag <name>', 'only flags with this tag'))
    .addOption(repeatableOption('--owner <name>', 'only flags of this owner'));
}

export type ServiceOptions = ConnectionFlags &
  Required<Pick<RunFlags, 'environment' | 'only'>> &
  Pick<RunFlags, 'concurrency'>;

export function serviceOptions(command: Command): Command {
  const which = 'only this object, as flag/new-checkout';
  command
    .optionsGroup('Only a part:')
    .addOption(repeatableOption('--environment <name>', 'only this environment'))
    .addOption(repeatableOption('--only <kind/name>', which, collectObject));
  placeOptions(command).option('--concurrency <n>', 'requests at the same time', positive);
  return timeoutOption(command);
}

export function momentOption(command: Command): Command {
  const what = 'plan for this moment, by which windows and freezes are judged';
  return command.option('--at <time>', what, exactMoment);
}

export function forgeOptions(command: Command, what: string): Command {
  const forges = ['github', 'gitlab', 'none'];
  return command
    .optionsGroup('Pull request:')
    .addOption(
      new Option('--forge <name>', `${what} (default: as the CI job says)`).choices(forges),
    )
    .option('--forge-url <url>', 'of the API of the forge')
    .option('--repository <name>', 'owner/name, or the id of a project')
    .option('--pull-request <number>', 'which pull request or merge request', positive);
}

export interface NoteOptions {
  readonly title?: string;
  readonly comment?: string;
}

export function noteOptions(command: Command): Command {
  return command
    .option('--title <text>', 'title of every write, instead of the commits’')
    .option('--comment <text>', 'comment of every write, instead of the commits’');
}

export function givenNote({ title, comment }: NoteOptions): Partial<ChangeNote> {
  return present({ title, comment });
}

export function policyOptions(command: Command): Command {
  return command
    .option('--prune', 'delete what the specs used to declare and no longer do')
    .option('--adopt', 'take over live objects that differ, protected ones too')
    .option('--revert-drift', 'undo changes made outside git, also where only reported');
}

export function lockOption(command: Command, preset = '0'): Command {
  const what = 'how long to wait for another run to end';
  return command.addOption(durationOption('--lock-timeout', what, preset));
}

/** @param preset the default as it can be typed, for example `30s`; the help shows it so. */
export function durationOption(name: string, what: string, preset?: string): Option {
  const option = new Option(`${name} <duration>`, what).argParser(duration);
  return preset === undefined ? option : option.default(duration(preset), preset);
}

/** The action gets the values of all its uses, in their order. */
export function repeatableOption(flags: string, what: string, parse = collect): Option {
  return new Option(flags, `${what} (repeatable)`).argParser(parse).default([]);
}

export function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** A variable of a script that is not set is no directory, and least of all the current one. */
export function namedDirectory(value: string): string {
  if (value === '') throw new InvalidArgumentError('It is empty; the current directory is ".".');
  return value;
}

export function collectObject(value: string, before: readonly string[]): readonly string[] {
  const name = parseKey(value)?.name ?? '';
  if (name === '' || name.includes('/')) {
    throw new InvalidArgumentError('Expected KIND/NAME, for example flag/new-checkout.');
  }
  return [...before, value];
}

const FIELDS: readonly string[] = [...FLAG_FIELDS, ...DEFINITION_FIELDS];

export function collectField(value: string, before: readonly string[] = []): readonly string[] {
  if (FIELDS.includes(value)) return [...before, value];
  throw new InvalidArgumentError(`It is one of ${FIELDS.join(', ')}.`);
}

/** `NAME=VALUE`, collected; of a name that is given twice the last value counts. */
export function collectPair(
  value: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = value.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Expected NAME=VALUE, for example country=ES.');
  return { ...before, [value.slice(0, at)]: value.slice(at + 1) };
}

export const place = wholeNumber(1, 100, 'a whole number from 1 to 100');
export const positive = wholeNumber(1, Infinity, 'a whole number from 1 on');
export const port = wholeNumber(0, 65_535, 'a port from 0 to 65535');

function wholeNumber(least: number, most: number, expected: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected ${expected}.`);
  };
}

/** `30s`, `5m`, `250ms`, `7d`, or `0`. In milliseconds. */
export function duration(text: string): number {
  const ms = text === '0' ? 0 : parseDuration(text);
  if (ms !== undefined) return ms;
  // People mean seconds as often as minutes, so that a number alone says too little.
  throw new InvalidArgumentError(
    /^\d+$/.test(text)
      ? `Expected a duration with its unit: ${text}s, ${text}m or ${text}h.`
      : 'Expected a duration such as 30s or 5m.',
  );
}

/** A day or a time of ISO 8601, or how long ago: `24h`, `7d`. Milliseconds since the epoch. */
export function moment(text: string): number {
  const ago = /[a-z]$/.test(text) ? parseDuration(text) : undefined;
  const time = ago === undefined ? Date.parse(text) : Date.now() - ago;
  if (/^(\d+[a-z]+|\d{4}-\d\d-\d\d.*)$/.test(text) && !Number.isNaN(time)) return time;
  throw new InvalidArgumentError('Expected a time such as 2026-10-03T22:14Z, or 24h or 7d ago.');
}

/** A time of ISO 8601 with its offset: no clock of this machine has a say in it. Milliseconds since the epoch. */
export function exactMoment(text: string): number {
  const ms = parseMoment(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError(
    'Expected a time with its offset, such as 2026-11-24T09:00Z or 2026-11-24T09:00+01:00.',
  );
}

/** What a word of the command line stands for, as the help for programs says it. */
type ValueType = HelpDocument['arguments'][number]['type'];

const VALUE_TYPES: ReadonlyMap<unknown, ValueType> = new Map<unknown, ValueType>([
  [collectObject, 'object'],
  [collectPair, 'pair'],
  [place, 'percentage'],
  [duration, 'duration'],
  [moment, 'time'],
  [exactMoment, 'time'],
  [positive, 'integer'],
  [port, 'port'],
]);
const COLLECTING: readonly unknown[] = [collect, collectField, collectObject, collectPair];

/** @param parse what commander reads the word with; undefined: it takes it as it is. */
export function valueTypeOf(parse: unknown): ValueType {
  return VALUE_TYPES.get(parse) ?? 'text';
}

export function isCollected(parse: unknown): boolean {
  return COLLECTING.includes(parse);
}
