// Builds the program: `src/` and the libraries into `dist/`, in as few files as what a command does not use can be left out of.
// Loading one file for each of ours and of theirs was a third of a short run. Types are checked by `npm run types`.
// docs/decisions/0057-the-program-is-built-into-few-files.md says why.
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { NATIVE } from './package-manifest.mjs';

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

/** A module has no `require`, so ours make one where a library is loaded late. The bundle has one that finds what is in it. */
const lateLibraries = {
  name: 'late-libraries',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/(?:platform|generated)\/.*\.ts$/ }, ({ path }) => ({
      loader: 'ts',
      contents: readFileSync(path, 'utf8')
        .replace('const require = createRequire(import.meta.url);\n', '')
        .replaceAll('createRequire(import.meta.url)(', 'require('),
    }));
  },
};

rmSync(`${PROJECT}dist`, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: PROJECT,
  entryPoints: ENTRIES.map((path) => `src/${path}`),
  outdir: 'dist',
  outbase: 'src',
  chunkNames: 'parts/[name]-[hash]',
  bundle: true,
  splitting: true,
  external: [...NATIVE],
  // For Node the library asks for an environment variable at each token, which takes a twentieth of `validate`. Its
  // build for browsers is the same code without that.
  alias: { yaml: `${PROJECT}node_modules/yaml/browser/index.js` },
  plugins: [lateLibraries],
  metafile: true,
  // They stand in the notice below, whole.
  legalComments: 'none',
  // Libraries that are no modules ask for what Node itself has.
  banner: {
    js: "import { createRequire as $createRequire } from 'node:module'; const require = $createRequire(import.meta.url);",
  },
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
});
chmodSync(`${PROJECT}dist/main.js`, 0o755);
writeFileSync(`${PROJECT}dist/THIRD-PARTY.txt`, notice(Object.values(metafile.outputs)));

/** Name, version and licence of each library whose code is in the program: their licences ask for it. */
function notice(outputs) {
  const files = outputs.flatMap(({ inputs }) => Object.keys(inputs));
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  return [...new Set(folders)]
    .sort()
    .map(entry)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function entry(folder) {
  const { name, version, license, author } = JSON.parse(
    readFileSync(join(PROJECT, folder, 'package.json'), 'utf8'),
  );
  const texts = readdirSync(join(PROJECT, folder))
    .filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file))
    .map((file) => readFileSync(join(PROJECT, folder, file), 'utf8').trim());
  const by = typeof author === 'string' ? author : author?.name;
  if (texts.length === 0) texts.push(`Copyright ${by ?? `the authors of ${name}`}`);
  return `${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`;
}
