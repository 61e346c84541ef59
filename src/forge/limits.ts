/** At most `most` UTF-16 code units, `…` in place of what was cut; no forge counts more. */
export function limited(text: string, most: number): string {
  if (text.length <= most) return text;
  // Not between the halves of a surrogate pair.
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
