import { InvalidArgumentError } from 'commander';

/** Values of the command line: text in, value out, or what was expected. */

export function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

export function collectObject(value: string, before: readonly string[]): readonly string[] {
  if (!/^(flag|segment|identities)\/[^/]+$/.test(value)) {
    throw new InvalidArgumentError('Expected KIND/NAME, for example flag/new-checkout.');
  }
  return [...before, value];
}

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** `30s`, `5m`, `250ms`; a bare number is seconds. In milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('Expected a duration such as 30s or 5m.');
  return ms;
}

/** The same; undefined: it is none. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+)(ms|s|m|h)?$/.exec(text);
  return match ? Number(match[1]) * UNIT_MS[(match[2] ?? 's') as keyof typeof UNIT_MS] : undefined;
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
