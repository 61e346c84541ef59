import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** Reads and parses the YAML files of a directory, and looks at nothing. As a program it is the floor of `validate`. */
export function parseFiles(directory) {
  for (const path of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (path.endsWith('.yaml') && !path.startsWith('.git'))
      parse(readFileSync(join(directory, path), 'utf8'));
  }
}

if (process.argv[1] === import.meta.filename) parseFiles(process.argv[2]);
