/** Writes to standard output, which is where the tables go. */
export function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function table(title: string, columns: readonly string[]): void {
  write(`\n${title}\n`);
  write(
    `| ${columns.join(' | ')} |\n|${columns.map((_, i) => (i === 0 ? '---' : '---:')).join('|')}|`,
  );
}

export function line(cells: readonly (string | number)[]): void {
  write(`| ${cells.join(' | ')} |`);
}

export function whole(value: number): string {
  return value.toFixed(0);
}
