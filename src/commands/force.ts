import { createInterface } from 'node:readline';
import { planText } from '../report/plan-text.js';
import type { PlanReport } from '../report/plan-report.js';
import type { Terminal } from './options.js';
import type { Screen } from './screen.js';

/**
 * Shows a plan and asks on the terminal whether it may pass. Nothing but `yes` is one: no answer, the end of the input
 * and a signal are a no. Where standard input is no terminal nothing is asked.
 */
export async function askToForce(
  report: PlanReport,
  { stdin, stderr, signal }: Terminal,
  screen: Screen,
): Promise<boolean> {
  if (!stdin.isTTY) {
    screen.note(
      'warning: --force asks on a terminal, and standard input is none (add --approve HASH)',
    );
    return false;
  }
  stderr.write(planText(report, { color: false, width: screen.width, showKeys: false }));
  stderr.write('Apply it all the same? Only "yes" is accepted: ');
  // Without its own handling of the terminal: Ctrl-C stays the signal that it is for the rest of the run.
  const lines = createInterface({ input: stdin, terminal: false, signal });
  try {
    for await (const line of lines) return line.trim() === 'yes';
    stderr.write('\n');
    return false;
  } finally {
    lines.close();
  }
}
