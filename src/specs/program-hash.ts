import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { byCodeUnits } from '../model/json.js';
import { IS_BUILT, packageFile } from '../platform/package-files.js';

let known: string | undefined;

/**
 * Of all code of the program, its schemas, and the package, which names the versions of its libraries: what another version
 * of the program wrote down is never read. Read once in a process.
 */
export function programHash(): string {
  return (known ??= hashOf([
    'package.json',
    ...filesIn(IS_BUILT ? 'dist' : 'src'),
    ...filesIn('schemas'),
  ]));
}

/** In an order that is the same each time. */
function filesIn(folder: string): string[] {
  return readdirSync(packageFile(folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:[jt]s|json)$/.test(name))
    .sort(byCodeUnits)
    .map((name) => `${folder}/${name}`);
}

function hashOf(paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(path).update(readFileSync(packageFile(path)));
  return hash.digest('hex');
}
