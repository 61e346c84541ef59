const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * Milliseconds since the epoch of a date as specs write it: a day (its midnight in UTC), a moment with its zone, or
 * the milliseconds themselves. Undefined where it is none of these, or a day that no calendar has.
 */
export function dateMs(written: string | number): number | undefined {
  const text = String(written);
  if (/^-?\d+$/.test(text)) {
    const ms = Number(text);
    return Number.isSafeInteger(ms) ? ms : undefined;
  }
  if (!DAY.test(text) && !MOMENT.test(text)) return undefined;
  // The platform takes 30 February for 2 March; the day alone, turned round, tells.
  const day = text.slice(0, 10);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) {
    return undefined;
  }
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
