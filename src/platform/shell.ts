export function shellWord(text: string): string {
  // A terminal would obey control characters.
  const plain = text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
  return /^[\w@%+=:,./-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", `'\\''`)}'`;
}
