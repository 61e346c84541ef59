import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProjectConfiguration } from 'vitest/config';
import { startVitest, type TestModule } from 'vitest/node';

const ROOT = join(import.meta.dirname, '../..');

/** A wrong program: in a file below src, text that stands there once, and what it becomes. */
export type Planted = readonly [name: string, file: string, from: string, to: string];

/**
 * Changes a source as it is loaded; no file is changed.
 *
 * @throws Error if the source is no longer as the planted error expects it.
 */
export function planting([name, file, from, to]: Planted) {
  const path = join(ROOT, 'src', file);
  if (readFileSync(path, 'utf8').split(from).length !== 2) {
    throw new Error(`cannot plant "${name}": ${file} does not have "${from}" once`);
  }
  return {
    name,
    enforce: 'pre' as const,
    transform: (code: string, id: string) => (id === path ? code.replace(from, () => to) : code),
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
