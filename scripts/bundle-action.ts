import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));

/** Where the bundle is: GitHub runs an action as it is checked out, and installs nothing for it. */
export const BUNDLE = join(PROJECT, 'action/index.js');

/** The bundle of the action's sources; the same for the same sources. */
export async function bundleAction(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: PROJECT,
    entryPoints: ['action/src/main.ts'],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    // The oldest that tests run it on; GitHub runs it on 24.
    target: 'node20',
    banner: { js: '// Made from action/src by `npm run bundle`.' },
  });
  return outputFiles[0]?.text ?? '';
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(BUNDLE, await bundleAction());
