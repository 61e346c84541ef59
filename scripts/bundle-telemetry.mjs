// Puts the packages of OpenTelemetry into the one built file that loads them, dist/platform/telemetry.js, for the package
// and the image: less than a megabyte there, and 28 MB as packages. docs/decisions/0063-traces-and-metrics-over-otlp.md says why.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const DOOR = `${PROJECT}dist/platform/telemetry.js`;

/** Files of ours stay where they are: the rest of the program loads them too. */
const oursApart = {
  name: 'ours-apart',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\.?\// }, ({ path, importer }) =>
      importer === DOOR ? { path, external: true } : undefined,
    );
  },
};

const { metafile } = await build({
  absWorkingDir: PROJECT,
  entryPoints: [DOOR],
  outfile: DOOR,
  allowOverwrite: true,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  plugins: [oursApart],
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  // The packages are CommonJS, and ask for modules of Node.
  banner: {
    js: `// Holds packages of OpenTelemetry, Copyright The OpenTelemetry Authors, Apache-2.0: see LICENSE.\n// ${packages().join(', ')}\nimport { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);`,
  },
});

const strangers = Object.keys(metafile.inputs).filter(
  (path) => !path.includes('node_modules/@opentelemetry/') && !DOOR.endsWith(path),
);
if (strangers.length > 0) throw new Error(`not of OpenTelemetry: ${strangers.join(', ')}`);

/** All that may be in it, by the lock file. */
function packages() {
  const lock = JSON.parse(readFileSync(`${PROJECT}package-lock.json`, 'utf8'));
  return Object.entries(lock.packages).flatMap(([path, { version }]) =>
    /^node_modules\/@opentelemetry\/[^/]+$/.test(path)
      ? [`${path.slice('node_modules/'.length)}@${version}`]
      : [],
  );
}
