// Makes package.json what the package is published with, before `npm pack` (prepack), and takes that back after it
// (postpack, with --restore). docs/decisions/0028-libraries-in-the-package.md says why.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const MANIFEST = fileURLToPath(new URL('../package.json', import.meta.url));
const KEPT = `${MANIFEST}.orig`;
/** What differs from machine to machine, so that the one who installs has to choose. */
const NATIVE = new Set(['libsql']);

if (process.argv.includes('--restore')) {
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
} else {
  const text = readFileSync(MANIFEST, 'utf8');
  // One that is there was left by a run that was interrupted, and is the true one.
  if (!existsSync(KEPT)) writeFileSync(KEPT, text);
  const manifest = JSON.parse(readFileSync(KEPT, 'utf8'));
  // It builds a clone; of an archive npm warns that it has a script.
  delete manifest.scripts.prepare;
  manifest.bundleDependencies = Object.keys(manifest.dependencies).filter(
    (name) => !NATIVE.has(name),
  );
  writeFileSync(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`);
}
