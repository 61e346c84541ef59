import { EXIT, type ExitCode } from '../errors.js';
import { tracedRun } from '../platform/telemetry.js';
import type { PlanDocument } from '../report/json/plan.js';
import type { Terminal } from './terminal.js';

interface CommandRun {
  readonly name: string;
  readonly directory: string;
  readonly terminal: Pick<Terminal, 'environment'>;
  /** False: a plan is all that the command makes. Default: it makes none. */
  readonly writes?: boolean;
}

/** @param document its JSON: a plan, or in its place an error. */
type CommandEnd = ExitCode | { readonly exitCode: ExitCode; readonly document?: object };

/** Does the work of a command in one directory as one run, as OpenTelemetry shows it. */
export async function tracedCommand<T extends CommandEnd>(
  { name, directory, terminal: { environment }, writes }: CommandRun,
  task: () => Promise<T>,
): Promise<T> {
  // The current directory is called as `watch` calls it.
  const source = directory === '.' ? 'default' : directory;
  return tracedRun({ name, source, environment }, task, (end: CommandEnd) => {
    const { exitCode, document = {} } = typeof end === 'number' ? { exitCode: end } : end;
    const { error } = document as { readonly error?: { readonly code: string } };
    const isWell = exitCode === EXIT.ok || exitCode === EXIT.changes;
    const result = isWell ? wellResult(document, writes) : (RESULTS[exitCode] ?? 'failed');
    return { exitCode, result, error: error?.code };
  });
}

function wellResult(document: object, writes: boolean | undefined): string {
  if (writes === undefined) return 'done';
  if (!writes) return 'planned';
  const { changes = [], verdict } = document as Partial<Pick<PlanDocument, 'changes' | 'verdict'>>;
  // Kills alone have no verdict.
  if (verdict === undefined) return 'done';
  if (verdict.whole !== 'live') return verdict.whole === 'waits' ? 'waiting' : verdict.whole;
  return changes.some(({ outcome }) => outcome === 'applied') ? 'applied' : 'in-sync';
}

/** What the daemon calls runs that ended with these codes. */
const RESULTS: Partial<Record<ExitCode, string>> = {
  [EXIT.held]: 'held',
  [EXIT.invalidSpecs]: 'invalid',
  [EXIT.guardRefused]: 'refused',
  [EXIT.notConverged]: 'partial',
  [EXIT.refused]: 'refused',
  [EXIT.sigint]: 'interrupted',
  [EXIT.sigterm]: 'interrupted',
};
