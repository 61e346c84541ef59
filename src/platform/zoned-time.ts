import { Temporal } from 'temporal-polyfill';

/**
 * Time zones, with their changes of the clock. The only door to the library that knows them. Moments are milliseconds since
 * the epoch; zones are names of the IANA database (`Europe/Madrid`) or `UTC`.
 */

/** What the clock on the wall of a zone shows. */
export interface WallClock {
  /** `2026-11-24`. */
  readonly date: string;
  /** 1: Monday, 7: Sunday. */
  readonly weekday: number;
  /** Whole minutes since midnight on that clock, from 0 to 1439. */
  readonly minute: number;
}

export function isTimeZone(name: string): boolean {
  // An offset never changes with the seasons, which is seldom what is meant where hours of work are.
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

/** @param date `2026-11-24`. @returns the date so many days later, or earlier where they are negative. */
export function dateAfter(date: string, days: number): string {
  return Temporal.PlainDate.from(date).add({ days }).toString();
}

/**
 * The moments at which the clock on the wall shows this: two where it is set back over it, none where it is set forward
 * over it. In order.
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

/** When the clock of a zone is set next after a moment; null: never, as far as is known. */
export function nextTransition(ms: number, zone: string): number | null {
  return zoned(ms, zone).getTimeZoneTransition('next')?.epochMilliseconds ?? null;
}

/** The first moment of a day: in some zones the clock is set forward at midnight. */
export function startOfDay(date: string, zone: string): number {
  return Temporal.PlainDate.from(date).toZonedDateTime(zone).epochMilliseconds;
}

/**
 * A time of ISO 8601 as a moment: with an offset (`2026-11-24T09:00+01:00`), with `Z`, or without in the zone that is given.
 *
 * @param edge which moment is meant where the clock of the zone shows that time twice, or never.
 * @returns undefined: it is no time, or has no offset and there is no zone.
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

/** Whether a text is a day of the calendar: `2026-11-24`. */
export function isDate(text: string): boolean {
  try {
    return Temporal.PlainDate.from(text).toString() === text;
  } catch {
    return false;
  }
}

/** `2026-11-24T09:00+01:00`. */
export function momentText(ms: number, zone: string): string {
  return zoned(ms, zone).toString({ smallestUnit: 'minute', timeZoneName: 'never' });
}

function zoned(ms: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);
}
