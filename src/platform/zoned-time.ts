import { Temporal } from 'temporal-polyfill';

/**
 * Time zones with their clock changes. The only importer of the time zone library. Moments are milliseconds since the
 * epoch; zones are names of the IANA database (`Europe/Madrid`) or `UTC`.
 */

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

/** What the clocks of a zone are ahead of UTC, in milliseconds. */
export function offsetAt(ms: number, zone: string): number {
  return zoned(ms, zone).offsetNanoseconds / 1e6;
}

/** @param date `2026-11-24`. @returns the date `days` later, or earlier if `days` is negative. */
export function dateAfter(date: string, days: number): string {
  return Temporal.PlainDate.from(date).add({ days }).toString();
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
