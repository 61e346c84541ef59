import { Refusal } from './refusal.js';

/** What a write endpoint is sent, checked. Absent source: all. */
export interface TargetBody {
  readonly source?: string;
}

export interface HoldBody extends TargetBody {
  readonly reason: string;
  /** ISO 8601, UTC. */
  readonly until: string;
}

export interface PinBody extends HoldBody {
  readonly commit: string;
}

const MINUTE_MS = 60_000;
const UNITS_MS = { s: 1_000, m: MINUTE_MS, h: 60 * MINUTE_MS, d: 24 * 60 * MINUTE_MS } as const;

/** Longer than any incident; what shall last belongs into git. */
const LONGEST_MS = 30 * UNITS_MS.d;
const LONGEST_REASON = 500;

/** @throws Refusal 400. */
export function targetBody(body: unknown): TargetBody {
  return target(fieldsOf(body, ['source']));
}

/** @throws Refusal 400: among others where there is no reason, or no end within 30 days. */
export function holdBody(body: unknown, now: number): HoldBody {
  const fields = fieldsOf(body, ['source', 'reason', 'for', 'until']);
  if ((textOf(fields, 'reason') ?? '').trim() === '') throw unusable('"reason" must say why');
  return hold(fields, now);
}

/** A pin may go without a reason. @throws Refusal 400. */
export function pinBody(body: unknown, now: number): PinBody {
  const fields = fieldsOf(body, ['source', 'reason', 'for', 'until', 'commit']);
  const commit = textOf(fields, 'commit');
  if (commit === undefined || !/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(commit)) {
    throw unusable('"commit" must be the full name of a commit, in lower-case hex');
  }
  return { ...hold(fields, now), commit };
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(body: unknown, known: readonly string[]): Fields {
  if (body === undefined || body === null) return {};
  if (typeof body !== 'object' || Array.isArray(body)) throw unusable('it must be a JSON object');
  const stranger = Object.keys(body).find((name) => !known.includes(name));
  if (stranger !== undefined) {
    throw unusable(
      `it has no field ${JSON.stringify(stranger.slice(0, 40))} (known: ${known.join(', ')})`,
    );
  }
  return body as Fields;
}

function target(fields: Fields): TargetBody {
  const source = textOf(fields, 'source');
  return source === undefined ? {} : { source };
}

function hold(fields: Fields, now: number): HoldBody {
  const reason = textOf(fields, 'reason')?.trim() ?? 'no reason given';
  if (reason.length > LONGEST_REASON) {
    throw unusable(`"reason" must be at most ${String(LONGEST_REASON)} characters long`);
  }
  return { ...target(fields), reason, until: untilOf(fields, now) };
}

function untilOf(fields: Fields, now: number): string {
  const [length, end] = [textOf(fields, 'for'), textOf(fields, 'until')];
  if ((length === undefined) === (end === undefined)) {
    throw unusable('it must say either "for" (such as "30m" or "2h") or "until" (a time)');
  }
  const at = length === undefined ? timeOf(end ?? '') : now + lengthOf(length);
  if (!(at > now && at <= now + LONGEST_MS)) {
    throw unusable('it must end in the future, and within 30 days');
  }
  return new Date(at).toISOString();
}

function lengthOf(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (count === undefined) throw unusable('"for" must be such as "90s", "30m", "2h" or "1d"');
  return Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
}

/** With its offset: a time without one means another moment to everybody. */
function timeOf(text: string): number {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const at = isTime ? Date.parse(text) : NaN;
  if (Number.isNaN(at)) throw unusable('"until" must be a time such as "2026-10-03T22:00:00Z"');
  return at;
}

function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || typeof value === 'string') return value;
  throw unusable(`"${name}" must be text`);
}

function unusable(why: string): Refusal {
  return new Refusal(400, `cannot use the body: ${why}`);
}
