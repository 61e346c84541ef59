import { EXIT, type ExitCode } from '../../errors.js';
import { runSpecTests, type CaseResult } from '../../lint/spec-tests.js';
import { junit, type Finding } from '../../report/findings.js';
import { clean } from '../../report/sanitize.js';
import { diagnosticsText } from '../../report/text/diagnostics.js';
import type { DeclareCommand } from '../command.js';
import { isNamed, forEachDirectory } from '../directories.js';
import { commonOptions } from '../options.js';
import { readRightSpecs } from '../right-specs.js';
import { ending, type Screen } from '../terminal.js';

export const declareTest: DeclareCommand = (command, invocation) => {
  command.argument('[directory...]', 'config repositories, or files and folders of them', ['.']);
  commonOptions(command, ['text', 'json', 'junit']).action(ending(test, invocation));
};

/** A path in `tests/` runs its own tests. Any other stands for its repository, since a test may hold any part of it. */
async function test(
  directories: readonly string[],
  { format }: { readonly format?: string },
  screen: Screen,
): Promise<ExitCode> {
  return forEachDirectory(
    directories,
    async (directory) => {
      const cases = await runDirectory(directory, screen);
      const fails = cases.some(({ failure }) => failure !== undefined);
      return { cases, exitCode: fails ? EXIT.failed : EXIT.ok };
    },
    async (results) => {
      const cases = results.flatMap((each) => each.cases);
      if (format === 'junit') await screen.result(junit(cases.map(findingOf)));
      else await screen.print({ cases: cases.map(asDocument) }, () => asText(cases, screen));
    },
  );
}

async function runDirectory(directory: string, screen: Screen): Promise<CaseResult[]> {
  const { desired, parts, prefix, named } = await readRightSpecs(directory, screen);
  const isOfTests = /^tests(\/|$)/.test(named.within ?? '');
  return runSpecTests(desired, parts)
    .filter(({ file }) => !isOfTests || isNamed(file, named))
    .map((each) => withPrefix(each, prefix));
}

function withPrefix(result: CaseResult, prefix: string): CaseResult {
  const { failure } = result;
  const file = `${prefix}${result.file}`;
  return {
    ...result,
    file,
    ...(failure && { failure: { ...failure, location: { ...failure.location, file } } }),
  };
}

function findingOf({ flag, environment, name, file, failure }: CaseResult): Finding {
  const subject = clean(`${flag} in ${environment}: ${name}`);
  const place = failure?.location ?? { file, line: 1, column: 1 };
  return failure
    ? { level: 'error', rule: clean(flag), place, subject, message: clean(failure.message) }
    : { level: 'note', rule: clean(flag), place, subject, message: 'passed' };
}

function asText(cases: readonly CaseResult[], { color }: Screen): string {
  const failures = cases.flatMap(({ failure }) => failure ?? []);
  const passed = cases.length - failures.length;
  return `${diagnosticsText(failures, { color })}${passed} passed, ${failures.length} failed\n`;
}

function asDocument({ failure, ...each }: CaseResult): object {
  return {
    ...each,
    passed: failure === undefined,
    ...(failure && { message: failure.message, line: failure.location.line }),
  };
}
