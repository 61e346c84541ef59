/**
 * The keys that one map has otherwise than the other, or not at all; those that are gone last. By identity: who keeps what
 * did not change finds out what did without looking into it.
 */
export function changedKeys<T>(
  before: ReadonlyMap<string, T>,
  now: ReadonlyMap<string, T>,
): string[] {
  if (before === now) return [];
  const changed: string[] = [];
  for (const [key, value] of now) if (before.get(key) !== value) changed.push(key);
  for (const key of before.keys()) if (!now.has(key)) changed.push(key);
  return changed;
}
