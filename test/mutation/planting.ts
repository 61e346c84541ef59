import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProjectConfiguration } from 'vitest/config';
import { startVitest, type TestModule } from 'vitest/node';

export const ROOT = join(import.meta.dirname, '../..');

/** A wrong program, as changes of sources. */
export interface Planted {
  readonly name: string;
  readonly changes: readonly Change[];
}

/** Text that stands in a file once, and what it becomes. */
interface Change {
  /** Below src. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export const one = (name: string, file: string, from: string, to: string): Planted => ({
  name,
  changes: [{ file, from, to }],
});

/**
 * Changes sources as they are loaded; no file is changed.
 *
 * @throws Error if a source is no longer as the planted error expects it.
 */
export function planting({ name, changes }: Planted) {
  const found = changes.map(({ file, from, to }) => {
    const path = join(ROOT, 'src', file);
    if (readFileSync(path, 'utf8').split(from).length !== 2) {
      throw new Error(`cannot plant "${name}": ${file} does not have "${from}" once`);
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

/** Runs tests in one process, in projects of their own. */
export async function tested(
  projects: TestProjectConfiguration[],
  testNamePattern = '',
): Promise<TestModule[]> {
  const vitest = await startVitest(
    'test',
    [],
    { root: ROOT, config: false, watch: false, reporters: [], maxWorkers: 1, testNamePattern },
    { test: { projects } },
  );
  const modules = vitest.state.getTestModules();
  await vitest.close();
  return modules;
}
