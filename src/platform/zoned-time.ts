import { Temporal } from 'temporal-polyfill';

/**
 * Time zones with their clock changes. The only importer of the time zone library. Moments are milliseconds since the
 * epoch; zones are names of the IANA database (`Europe/Madrid`) or `UTC`.
 */

interface WallClock {
  readonly date: string;
  /** From 1 (Monday) to 7 (Sunday). */
  readonly weekday: number;
  readonly minute: number;
}

export function isTimeZone(name: string): boolean {
  // A fixed offset ignores daylight saving, which is rarely what working hours mean.
  if (/^[+-]/.test(name)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

export function wallClock(ms: number, zone: string): WallClock {
  const there = zoned(ms, zone);
  return {
    date: there.toPlainDate().toString(),
    weekday: there.dayOfWeek,
    minute: there.hour * 60 + there.minute,
  };
}

/** @param date `2026-11-24`. @returns the date `days` later, or earlier if `days` is negative. */
export function dateAfter(date: string, days: number): string {
  return Temporal.PlainDate.from(date).add({ days }).toString();
}

/**
 * The moments with this local time, in order: two where the clock is set back over it, none where it is set forward.
 */
export function momentsAt(date: string, minute: number, zone: string): readonly number[] {
  const shown = Temporal.PlainDate.from(date).toPlainDateTime({
    hour: Math.floor(minute / 60),
    minute: minute % 60,
  });
  const found = (['earlier', 'later'] as const)
    .map((disambiguation) => shown.toZonedDateTime(zone, { disambiguation }))
    .filter((each) => each.toPlainDateTime().equals(shown))
    .map(({ epochMilliseconds }) => epochMilliseconds);
  return [...new Set(found)];
}

/** The next clock change of a zone after a moment; null if none is known. */
export function nextTransition(ms: number, zone: string): number | null {
  return zoned(ms, zone).getTimeZoneTransition('next')?.epochMilliseconds ?? null;
}

/** The first moment of a day, which is not always midnight: some zones set the clock forward then. */
export function startOfDay(date: string, zone: string): number {
  return Temporal.PlainDate.from(date).toZonedDateTime(zone).epochMilliseconds;
}

/**
 * Parses an ISO 8601 time with an offset (`2026-11-24T09:00+01:00`), with `Z`, or without either in the given zone;
 * undefined if this is no time, or has neither offset nor zone.
 *
 * @param edge which moment to take where the zone's clock shows that time twice, or never.
 */
export function parseMoment(
  text: string,
  zone?: string,
  edge: 'earlier' | 'later' = 'earlier',
): number | undefined {
  try {
    if (/(Z|[+-]\d\d(:?\d\d)?)$/i.test(text.slice('2026-11-24'.length))) {
      return Temporal.Instant.from(text).epochMilliseconds;
    }
    if (zone === undefined || !text.includes('T')) return undefined;
    const time = Temporal.PlainDateTime.from(text);
    return time.toZonedDateTime(zone, { disambiguation: edge }).epochMilliseconds;
  } catch {
    return undefined;
  }
}

export function isDate(text: string): boolean {
  try {
    return Temporal.PlainDate.from(text).toString() === text;
  } catch {
    return false;
  }
}

export function momentText(ms: number, zone: string): string {
  return zoned(ms, zone).toString({ smallestUnit: 'minute', timeZoneName: 'never' });
}

function zoned(ms: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);
}
