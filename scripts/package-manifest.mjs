// Makes package.json what the package is published with, before `npm pack` (prepack), and takes that back after it
// (postpack, with --restore). docs/decisions/0028-libraries-in-the-package.md says why.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const MANIFEST = fileURLToPath(new URL('../package.json', import.meta.url));
const KEPT = `${MANIFEST}.orig`;

/** Differs from machine to machine, so that each installation has to choose. All other libraries are built into the program. */
export const NATIVE = new Set(['libsql']);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--restore')) restore();
  else publish();
}

function publish() {
  const text = readFileSync(MANIFEST, 'utf8');
  // One that is there was left by a run that was interrupted, and is the true one.
  if (!existsSync(KEPT)) writeFileSync(KEPT, text);
  // Scripts, and the tools that they need, are for clones.
  const { scripts, devDependencies, allowScripts, ...manifest } = JSON.parse(
    readFileSync(KEPT, 'utf8'),
  );
  const installed = Object.entries(manifest.dependencies).filter(([name]) => NATIVE.has(name));
  manifest.dependencies = Object.fromEntries(installed);
  writeFileSync(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`);
}

function restore() {
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
}
