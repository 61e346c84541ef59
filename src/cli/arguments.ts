import { InvalidArgumentError } from 'commander';
import { parseKey } from '../model/ref.js';
import { parseMoment } from '../platform/zoned-time.js';

/** Values of the command line: text in, value out, or what was expected. */

export function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

export function collectObject(value: string, before: readonly string[]): readonly string[] {
  const name = parseKey(value)?.name ?? '';
  if (name === '' || name.includes('/')) {
    throw new InvalidArgumentError('Expected KIND/NAME, for example flag/new-checkout.');
  }
  return [...before, value];
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

/** A whole number from 1 to 100. */
export function place(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 100) {
    throw new InvalidArgumentError('Expected a whole number from 1 to 100.');
  }
  return value;
}

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `30s`, `5m`, `250ms`, `7d`; a bare number is seconds. In milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('Expected a duration such as 30s or 5m.');
  return ms;
}

/** As `duration`; undefined where the text is none. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+)(ms|s|m|h|d)?$/.exec(text);
  return match ? Number(match[1]) * UNIT_MS[(match[2] ?? 's') as keyof typeof UNIT_MS] : undefined;
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

export function positive(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new InvalidArgumentError('Expected a whole number from 1 on.');
  return value;
}

export function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) {
    throw new InvalidArgumentError('Expected a port from 0 to 65535.');
  }
  return value;
}

/** What a word of the command line stands for, as the help for programs says it. */
export type ValueType =
  'text' | 'integer' | 'percentage' | 'port' | 'duration' | 'time' | 'object' | 'pair';

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
const COLLECTING: ReadonlySet<unknown> = new Set([collect, collectObject, collectPair]);

/** @param parse what commander reads the word with; undefined: it takes it as it is. */
export function valueTypeOf(parse: unknown): ValueType {
  return VALUE_TYPES.get(parse) ?? 'text';
}

/** Whether an option that is read so may be given several times. */
export function isCollected(parse: unknown): boolean {
  return COLLECTING.has(parse);
}
