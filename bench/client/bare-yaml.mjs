import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** The floor of `validate`: reads and parses the YAML files of a directory, and looks at nothing. */
const directory = process.argv[2] ?? '.';
for (const path of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
  if (path.endsWith('.yaml') && !path.startsWith('.git'))
    parse(readFileSync(join(directory, path), 'utf8'));
}
