import type { ConfigSpec, FreezeSpec, WindowSpec } from '../../generated/config.schema.d.js';
import { ownMember, present } from '../../model/collections.js';
import type { Freeze, TimeWindow } from '../../model/desired.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import {
  dateAfter,
  isDate,
  isTimeZone,
  parseMoment,
  startOfDay,
} from '../../platform/zoned-time.js';
import type { SpecFile } from '../parse/parse-file.js';

type Wrong = readonly [path: readonly string[], message: string];

/** Reads them in the order of the file, without wrong ones. @param spec of a file that fits its schema. */
export function readCalendar(
  file: SpecFile,
  spec: ConfigSpec,
): {
  readonly windows: readonly TimeWindow[];
  readonly freezes: readonly Freeze[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const wrong: Wrong[] = [];
  const windows = file.keys('windows').flatMap((name) => {
    const window = ownMember(spec.windows, name);
    return window === undefined ? [] : windowOf(name, window, wrong);
  });
  const freezes = file.keys('freezes').flatMap((name) => {
    const freeze = ownMember(spec.freezes, name);
    return freeze === undefined ? [] : freezeOf(name, freeze, wrong);
  });
  const windowNames = file.keys('windows');
  const environmentNames = Object.keys(spec.environments);
  const diagnostics = [
    ...wrong.map(([path, text]) => file.diagnostic('wrong-value', { path }, text)),
    ...Object.entries(spec.environments).flatMap(([environment, { windows: names = [] }]) =>
      names.flatMap((name, position) => {
        const path = ['environments', environment, 'windows', position];
        return file.unknownName('window', name, windowNames, { path });
      }),
    ),
    ...Object.entries(spec.freezes ?? {}).flatMap(([freeze, { environments: names = [] }]) =>
      names.flatMap((name, position) => {
        const path = ['freezes', freeze, 'environments', position];
        return file.unknownName('environment', name, environmentNames, { path });
      }),
    ),
  ];
  return { windows, freezes, diagnostics };
}

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

function windowOf(name: string, spec: WindowSpec, wrong: Wrong[]): TimeWindow[] {
  const path = ['windows', name];
  const before = wrong.length;
  const { from, to, zone, days = DAYS } = spec;
  if (!isTimeZone(zone)) wrong.push([[...path, 'zone'], noZone(zone)]);
  if (from === to) {
    const message = `window "${name}" ends when it begins (00:00 to 24:00 is a whole day)`;
    wrong.push([[...path, 'to'], message]);
  }
  if (wrong.length > before) return [];
  const numbers = days.map((day) => DAYS.indexOf(day) + 1);
  return [{ name, zone, days: numbers, fromMinute: minuteOf(from), toMinute: minuteOf(to) }];
}

function minuteOf(time: string): number {
  const [hours, minutes] = time.split(':');
  return Number(hours) * 60 + Number(minutes);
}

function noZone(zone: string): string {
  return `"${zone}" is no time zone (a name such as Europe/Madrid, or UTC, is expected)`;
}

function freezeOf(name: string, spec: FreezeSpec, wrong: Wrong[]): Freeze[] {
  const path = ['freezes', name];
  const before = wrong.length;
  const { from, to, zone, reason, environments } = spec;
  if (zone !== undefined && !isTimeZone(zone)) {
    wrong.push([[...path, 'zone'], noZone(zone)]);
    return [];
  }
  const fromMs = beginningOf(from, zone);
  const toMs = endOf(to, zone);
  for (const [member, text, ms] of [
    ['from', from, fromMs],
    ['to', to, toMs],
  ] as const) {
    if (ms === undefined) wrong.push([[...path, member], noTime(text, zone)]);
  }
  if (fromMs !== undefined && toMs !== undefined && toMs <= fromMs) {
    wrong.push([[...path, 'to'], `freeze "${name}" ends before it begins`]);
  }
  if (wrong.length > before || fromMs === undefined || toMs === undefined) return [];
  return [{ name, fromMs, toMs, zone: zone ?? 'UTC', ...present({ reason, environments }) }];
}

/** If the clock shows a time twice, or never, the longer freeze counts. */
function beginningOf(text: string, zone: string | undefined): number | undefined {
  if (isDate(text)) return zone === undefined ? undefined : startOfDay(text, zone);
  return parseMoment(text, zone, 'earlier');
}

function endOf(text: string, zone: string | undefined): number | undefined {
  // Includes the day itself.
  if (isDate(text)) return zone === undefined ? undefined : startOfDay(dateAfter(text, 1), zone);
  return parseMoment(text, zone, 'later');
}

function noTime(text: string, zone: string | undefined): string {
  const isZoneMissing =
    zone === undefined && (isDate(text) || parseMoment(text, 'UTC') !== undefined);
  return isZoneMissing
    ? `"${text}" has no offset, and the freeze has no \`zone\``
    : `"${text}" is no day and no time (2026-11-24, 2026-11-24T09:00 or 2026-11-24T09:00+01:00 is expected)`;
}
