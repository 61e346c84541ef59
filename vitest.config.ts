import { readFileSync, statfsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { ON_POSTGRES, POSTGRES_ONLY, STRICT } from './test/support/contract-projects.js';
import { findProgram } from './test/support/requirements.js';

const DRAWN_CASES = './test/support/drawn-cases.ts';

/** Code of a test runs seldom: to optimize it as early as the engine does by itself costs more than it saves. */
const ENGINE = ['--interrupt-budget=4000000'];

const project = (name: string, include: string[], extra: object = {}) => ({
  // Modules are loaded once for each worker, not for each file: loading them was half the time of the unit tests, and
  // no test replaces a module.
  test: {
    name,
    include,
    exclude: [SLOW],
    environment: 'node',
    isolate: false,
    execArgv: ENGINE,
    setupFiles: [DRAWN_CASES],
    ...extra,
  },
});

/** What has to be free there, for the databases, clones and stores of all workers at once. */
const ROOM_BYTES = 8 * 2 ** 30;

/** Whether programs may be run from it too, which some tests write. */
function hasRoomInMemory(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
    const [, , type, options = ''] =
      mounts.find((each) => each.split(' ')[1] === directory)?.split(' ') ?? [];
    return type === 'tmpfs' && !options.includes('noexec') && bavail * bsize >= ROOM_BYTES;
  } catch {
    return false;
  }
}

// Git and the stores sync what they write, and tests would wait for a disk half of their time. No test takes the power away.
if (process.env['TMPDIR'] === undefined && hasRoomInMemory('/dev/shm')) {
  process.env['TMPDIR'] = '/dev/shm';
}

const contractFiles = (names: readonly string[]) => names.map((name) => `test/contract/${name}`);

/** Browsers, whole forges, proxies, several programs at once, long stories: `npm run test:slow`, and the gate. */
const SLOW = 'test/**/*.slow.test.ts';

const memoryGit = new URL('test/model/memory-git.ts', import.meta.url);

const hasPostgres = findProgram('postgresql') !== null;

export default defineConfig({
  test: {
    // Most of the time goes into programs that tests start and wait for, so two cores bear four workers.
    maxWorkers: 4,
    // Projects transform the same modules, each for itself otherwise.
    experimental: { fsModuleCache: true },
    reporters: ['default', './test/support/reporter.ts'],
    projects: [
      project('unit', ['test/unit/**/*.test.ts', 'test/architecture.test.ts'], {
        // No measure, and only there to end a test that hangs: a loaded machine must not fail one that is right.
        testTimeout: 120_000,
        hookTimeout: 60_000,
      }),
      project('property', ['test/property/**/*.test.ts'], {
        testTimeout: 60_000,
        hookTimeout: 60_000,
      }),
      {
        ...project('model', ['test/model/**/*.test.ts'], { testTimeout: 60_000 }),
        // There is no git in a small world: what the library behind its door would be asked is answered from memory.
        resolve: { alias: { 'simple-git': fileURLToPath(memoryGit) } },
      },
      project('contract', ['test/contract/**/*.test.ts'], {
        exclude: [SLOW, ...contractFiles(POSTGRES_ONLY)],
        testTimeout: 120_000,
        hookTimeout: 60_000,
      }),
      // What reaches a statement of SQL, over the other store. Without PostgreSQL one file is left, which says so, or fails where
      // nothing may be skipped.
      project(
        'contract-postgres',
        contractFiles(hasPostgres ? ON_POSTGRES : ['postgres.test.ts']),
        {
          testTimeout: 120_000,
          hookTimeout: 60_000,
          globalSetup: ['./test/support/postgres-server.ts'],
          setupFiles: [DRAWN_CASES, './test/support/use-postgres.ts'],
        },
      ),
      project('contract-strict', contractFiles(STRICT), {
        testTimeout: 120_000,
        hookTimeout: 60_000,
        env: { TEST_SERVICE_STRICT: '1' },
      }),
      project('e2e', ['test/e2e/**/*.test.ts'], {
        testTimeout: 120_000,
        hookTimeout: 60_000,
        globalSetup: ['./test/support/postgres-server.ts'],
      }),
      project('slow', [SLOW], {
        exclude: [],
        testTimeout: 120_000,
        hookTimeout: 60_000,
        globalSetup: ['./test/support/postgres-server.ts'],
      }),
    ],
  },
});
