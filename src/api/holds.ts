/**
 * Whether `live` says all that `ours` says. What ours leaves empty may be absent in it; the service may add what it
 * likes.
 */
export function holds(live: unknown, ours: unknown): boolean {
  if (isEmpty(ours)) return isEmpty(live);
  if (Array.isArray(ours)) {
    return (
      Array.isArray(live) &&
      live.length === ours.length &&
      ours.every((each, index) => holds(live[index], each))
    );
  }
  if (typeof ours !== 'object' || ours === null) return live === ours;
  if (typeof live !== 'object' || live === null) return false;
  const held = live as Record<string, unknown>;
  return Object.entries(ours).every(([field, value]) => holds(held[field], value));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  return Array.isArray(value) && value.length === 0;
}
