import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startVitest, type TestModule } from 'vitest/node';
import { startPostgres } from '../support/postgres.js';
import { VIOLATIONS, type Violation } from './violations.js';

/*
 * Builds violations of the contract into the administration service, one at a time, that leave the shape of every answer as it is, and shows
 * for each by how many statements it is noticed; the service as it stands has to pass. They stand side by side in one run, and no file is changed.
 *
 * Usage: `test/mutation/planted-violations.ts [--strict] [--postgres]`.
 */
const ROOT = join(import.meta.dirname, '../..');
const NONE = 'nothing';

/** Changes sources as they are loaded, and fails where one is no longer as the violation expects it. */
function planting({ name, changes }: Violation) {
  const found = changes.map(({ file, from, to }) => {
    const path = join(ROOT, 'src/service', file);
    if (readFileSync(path, 'utf8').split(from).length !== 2) {
      throw new Error(`cannot build in "${name}": ${file} does not have "${from}" once`);
    }
    return { path, from, to };
  });
  return {
    name,
    enforce: 'pre' as const,
    transform: (code: string, id: string) =>
      found
        .filter(({ path }) => path === id)
        .reduce((text, { from, to }) => text.replace(from, () => to), code),
  };
}

function project(name: string, plugins: readonly ReturnType<typeof planting>[]) {
  return {
    plugins: [...plugins],
    test: { name, include: ['test/contract/statements.test.ts'], testTimeout: 60_000 },
  };
}

const server = process.argv.includes('--postgres') ? await startPostgres() : undefined;
if (server !== undefined) process.env['TEST_POSTGRES_SERVER'] = server.url;
if (process.argv.includes('--strict')) process.env['TEST_SERVICE_STRICT'] = '1';
try {
  const vitest = await startVitest(
    'test',
    [],
    { root: ROOT, config: false, watch: false, reporters: [], maxWorkers: 1 },
    {
      test: {
        projects: [
          project(NONE, []),
          ...VIOLATIONS.map((each) => project(each.name, [planting(each)])),
        ],
      },
    },
  );
  const modules = vitest.state.getTestModules();
  await vitest.close();
  process.exitCode = report(modules) ? 0 : 1;
} finally {
  await server?.stop();
}

/** Whether each violation was noticed, and nothing else. */
function report(modules: readonly TestModule[]): boolean {
  const failed = (name: string): number =>
    modules
      .filter((module) => module.project.name === name)
      .flatMap((module) => [...module.children.allTests('failed')]).length;
  for (const name of [NONE, ...VIOLATIONS.map((each) => each.name)]) {
    process.stdout.write(`${String(failed(name)).padStart(3)} failed with ${name}\n`);
  }
  return failed(NONE) === 0 && VIOLATIONS.every(({ name }) => failed(name) > 0);
}
