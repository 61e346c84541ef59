import { EXIT, type ExitCode } from '../errors.js';
import { tracedRun, type RunEnd, type RunPlan } from '../platform/spans.js';

/** What the run of a command is called by whoever observes it. */
export interface RunName {
  /** Of the command. */
  readonly name: string;
  readonly directory: string;
}

/** Observes a run that makes a plan. @param writes false: the plan is all that it is to make. */
export async function observedRun<
  T extends { readonly exitCode: ExitCode; readonly document: object },
>({ writes, ...run }: RunName & { readonly writes: boolean }, task: () => Promise<T>): Promise<T> {
  return tracedRun(named(run), task, (result) => endOf(result, writes));
}

/** Observes a run that has nothing to tell but how it ended. */
export async function observedCommand<T extends ExitCode | { readonly exitCode: ExitCode }>(
  run: RunName,
  task: () => Promise<T>,
): Promise<T> {
  return tracedRun(named(run), task, (end: ExitCode | { readonly exitCode: ExitCode }) => {
    const exitCode = typeof end === 'number' ? end : end.exitCode;
    return { exitCode, result: resultOf(exitCode, 'done'), plan: null };
  });
}

/** The current directory is called as `watch` calls it. */
function named({ name, directory }: RunName): { readonly name: string; readonly source: string } {
  return { name, source: directory === '.' ? 'default' : directory };
}

/** @param document its JSON: a plan, or in its place an error. */
function endOf(
  { exitCode, document }: { readonly exitCode: ExitCode; readonly document: object },
  writes: boolean,
): RunEnd {
  const plan = 'changes' in document ? (document as RunPlan) : null;
  const { error } = document as { readonly error?: { readonly code: string } };
  const wrote = plan?.changes.some(({ outcome }) => outcome === 'applied') === true;
  const well = writes ? (wrote ? 'applied' : 'in-sync') : 'planned';
  return { exitCode, result: resultOf(exitCode, well), plan, ...(error && { error: error.code }) };
}

/** What the daemon calls runs that ended with these codes. */
const RESULTS: Partial<Record<ExitCode, string>> = {
  [EXIT.invalidSpecs]: 'invalid',
  [EXIT.guardRefused]: 'refused',
  [EXIT.notConverged]: 'partial',
  [EXIT.refused]: 'refused',
  [EXIT.held]: 'held',
  [EXIT.sigint]: 'interrupted',
  [EXIT.sigterm]: 'interrupted',
};

function resultOf(exitCode: ExitCode, well: string): string {
  const isWell = exitCode === EXIT.ok || exitCode === EXIT.changes;
  return isWell ? well : (RESULTS[exitCode] ?? 'failed');
}
