import type { Reporter, TestModule } from 'vitest/node';

/**
 * Ends a run with one plain line of totals, and names every test that was skipped: a skip that nobody sees is a hole.
 */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') counts.passed += 1;
        else if (state === 'failed') counts.failed += 1;
        else {
          counts.skipped += 1;
          process.stdout.write(`skipped: ${test.fullName}\n`);
        }
      }
      if (module.state() === 'failed' && counts.failed === 0) counts.failed += 1;
    }
    // An error outside of every test fails the run; the totals must not look clean.
    counts.failed += unhandled.length;
    process.stdout.write(
      `\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`,
    );
  }
}
