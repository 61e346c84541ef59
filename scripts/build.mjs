// Builds the program: `src/` into `dist/`, in as few files as what a command does not use can be left out of. Loading one
// file for each of ours was an eighth of a short run. Types are checked by `npm run types`.
// docs/decisions/0057-the-program-is-built-into-few-files.md says why.
import { chmodSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));

/** What is loaded by its place: every other file of ours has no name that lasts. */
const ENTRIES = [
  'main.ts',
  // The check of the image's health.
  'health/check.ts',
  // Tests run the built program in their own process.
  'cli/program.ts',
  'errors.ts',
  'report/text/error.ts',
];

rmSync(`${PROJECT}dist`, { recursive: true, force: true });
await build({
  absWorkingDir: PROJECT,
  entryPoints: ENTRIES.map((path) => `src/${path}`),
  outdir: 'dist',
  outbase: 'src',
  chunkNames: 'parts/[name]-[hash]',
  bundle: true,
  splitting: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
});
chmodSync(`${PROJECT}dist/main.js`, 0o755);
