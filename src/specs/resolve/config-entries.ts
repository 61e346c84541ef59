import type {
  CheckSpec,
  ConfigSpec,
  FreezeSpec,
  WindowSpec,
} from '../../generated/config.schema.d.js';
import { ownMember, present } from '../../model/collections.js';
import type { Freeze, RampCheck, TimeWindow } from '../../model/desired.js';
import type { Diagnostic, SpecPath } from '../../model/diagnostic.js';
import {
  dateAfter,
  isDate,
  isTimeZone,
  parseMoment,
  startOfDay,
} from '../../platform/zoned-time.js';
import type { SpecFile } from '../parse/parse-file.js';

/** Marks an entry as wrong, at a path inside it. */
type Fail = (path: SpecPath, message: string) => void;

/** Windows, freezes and checks, in the order of the file, without wrong ones. @param spec of a file that fits its schema. */
export function readEntries(
  file: SpecFile,
  spec: ConfigSpec,
): {
  readonly windows: readonly TimeWindow[];
  readonly freezes: readonly Freeze[];
  readonly checks: readonly RampCheck[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const diagnostics: Diagnostic[] = [];
  const read = <S, T>(
    member: string,
    written: Readonly<Record<string, S>> | undefined,
    entryOf: (name: string, entry: S, fail: Fail) => T | undefined,
  ): T[] =>
    file.keys(member).flatMap((name) => {
      const entry = ownMember(written, name);
      if (entry === undefined) return [];
      const before = diagnostics.length;
      const made = entryOf(name, entry, (inside, message) => {
        const path = [member, name, ...inside];
        diagnostics.push(file.diagnostic('wrong-value', { path }, message));
      });
      return made === undefined || diagnostics.length > before ? [] : [made];
    });
  return {
    windows: read('windows', spec.windows, windowOf),
    freezes: read('freezes', spec.freezes, freezeOf),
    checks: read('checks', spec.checks, checkOf),
    diagnostics,
  };
}

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

function windowOf(name: string, spec: WindowSpec, fail: Fail): TimeWindow {
  const { from, to, zone, days = DAYS } = spec;
  if (!isTimeZone(zone)) fail(['zone'], noZone(zone));
  if (from === to) {
    fail(['to'], `window "${name}" ends when it begins (00:00 to 24:00 is a whole day)`);
  }
  const numbers = days.map((day) => DAYS.indexOf(day) + 1);
  return { name, zone, days: numbers, fromMinute: minuteOf(from), toMinute: minuteOf(to) };
}

function minuteOf(time: string): number {
  const [hours, minutes] = time.split(':');
  return Number(hours) * 60 + Number(minutes);
}

function noZone(zone: string): string {
  return `"${zone}" is no time zone (a name such as Europe/Madrid, or UTC, is expected)`;
}

function freezeOf(name: string, spec: FreezeSpec, fail: Fail): Freeze | undefined {
  const { from, to, zone, reason, environments } = spec;
  if (zone !== undefined && !isTimeZone(zone)) {
    fail(['zone'], noZone(zone));
    return undefined;
  }
  const fromMs = boundOf('from', from, zone);
  const toMs = boundOf('to', to, zone);
  if (fromMs === undefined) fail(['from'], noTime(from, zone));
  if (toMs === undefined) fail(['to'], noTime(to, zone));
  if (fromMs === undefined || toMs === undefined) return undefined;
  if (toMs <= fromMs) fail(['to'], `freeze "${name}" ends before it begins`);
  return { name, fromMs, toMs, zone: zone ?? 'UTC', ...present({ reason, environments }) };
}

/** If the clock shows a time twice, or never, the longer freeze counts. Its last day belongs to it. */
function boundOf(which: 'from' | 'to', text: string, zone: string | undefined): number | undefined {
  if (!isDate(text)) return parseMoment(text, zone, which === 'from' ? 'earlier' : 'later');
  if (zone === undefined) return undefined;
  return startOfDay(which === 'from' ? text : dateAfter(text, 1), zone);
}

function noTime(text: string, zone: string | undefined): string {
  const isZoneMissing =
    zone === undefined && (isDate(text) || parseMoment(text, 'UTC') !== undefined);
  return isZoneMissing
    ? `"${text}" has no offset, and the freeze has no \`zone\``
    : `"${text}" is no day and no time (2026-11-24, 2026-11-24T09:00 or 2026-11-24T09:00+01:00 is expected)`;
}

function checkOf(name: string, spec: CheckSpec, fail: Fail): RampCheck | undefined {
  const { url, value, prometheus, query, timeout = '5s' } = spec;
  const { equals, atMost, atLeast } = spec;
  if ((url === undefined) === (prometheus === undefined)) {
    fail([], 'a check has either `url` or `prometheus`');
    return undefined;
  }
  const address = addressFault(url ?? prometheus ?? '');
  if (address !== undefined) fail([url === undefined ? 'prometheus' : 'url'], address);
  if ((query === undefined) !== (prometheus === undefined)) {
    fail([], '`prometheus` and `query` go together');
  }
  if (value !== undefined && url === undefined) fail(['value'], '`value` is of an `url`');
  const isValued = value !== undefined || prometheus !== undefined;
  const isBound = equals !== undefined || atMost !== undefined || atLeast !== undefined;
  if (isValued !== isBound) {
    fail([], 'a value and what it has to be (`equals`, `atMost`, `atLeast`) go together');
  }
  const server = prometheus?.replace(/\/$/, '') ?? '';
  return {
    name,
    url: url ?? `${server}/api/v1/query?query=${encodeURIComponent(query ?? '')}`,
    timeoutMs: Number.parseInt(timeout, 10) * 1_000,
    ...(url === undefined && { value: 'prometheus' as const }),
    ...(value !== undefined && { value: { pointer: value } }),
    ...present({ equals, atMost, atLeast }),
  };
}

function addressFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    return `"${text}" is no address (https://… is expected)`;
  }
  const isSecret = url.username !== '' || url.password !== '';
  return isSecret ? 'the address holds credentials, which are not for git' : undefined;
}
