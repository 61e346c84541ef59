import { join } from 'node:path';
import { openRun, type Run } from '../compose/open-run.js';
import { operatorSettings } from '../config.js';
import { EXIT, FlaghoistError, type ExitCode } from '../errors.js';
import { localChanges } from '../git/local-changes.js';
import { plan } from '../reconcile.js';
import { reportOf } from '../stages/reporting.js';
import { InvalidSpecsError, type Planned } from '../stages/run.js';
import { clean } from '../report/clean.js';
import { diagnosticsText } from '../report/diagnostics-text.js';
import { driftText } from '../report/drift-text.js';
import { writeResult } from '../report/output.js';
import { planDocument, type PlanDocument } from '../report/plan-json.js';
import { errorText } from '../report/run-error.js';
import { adoptDrift, type Adoption } from '../stages/adopt.js';
import { driftOf, type Drift } from '../stages/drift.js';
import { combinedExitCode } from './exit-code.js';
import type { CommonFlags, ServiceFlags, Terminal } from './options.js';
import { openScreen, type Screen } from './screen.js';

export interface DriftFlags extends CommonFlags, ServiceFlags {
  readonly adopt?: boolean;
  readonly allowOlder?: boolean;
}

/** Shows what is live and not in git; with `adopt` writes it into the files. Nothing is sent, nothing committed. */
export async function runDrift(
  directories: readonly string[],
  flags: DriftFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const screen = openScreen(flags, terminal);
  const results: DirectoryResult[] = [];
  for (const directory of directories) {
    // One after the other: they may share a service, a credential and a state.
    results.push(await runDirectory(directory, flags, terminal, screen));
  }
  if (flags.format === 'json') {
    const documents = results.map(({ document }) => document);
    const all = documents.length === 1 ? documents[0] : documents;
    await screen.result(`${JSON.stringify(all, null, 2)}\n`);
  } else {
    const parts = results.map(({ directory, text }) =>
      results.length > 1 ? `${directory}:\n${text}` : text,
    );
    await screen.result(parts.join('\n'));
  }
  return combinedExitCode(results.map(({ exitCode }) => exitCode));
}

interface DirectoryResult {
  readonly directory: string;
  readonly exitCode: ExitCode;
  readonly text: string;
  readonly document: PlanDocument | object;
}

async function runDirectory(
  directory: string,
  flags: DriftFlags,
  terminal: Terminal,
  screen: Screen,
): Promise<DirectoryResult> {
  try {
    const onlyReads = { adopt: false, dryRun: true, committedOnly: true, lockTimeout: 0 };
    const reading = { ...flags, ...onlyReads, everyKey: true };
    await using run = await openRun(directory, reading, {
      settings: operatorSettings(terminal.environment),
      signal: terminal.signal,
      note: (text) => {
        screen.note(text);
      },
      progress: screen.progress,
    });
    const planned = await plan(run.context).finally(() => {
      screen.progress?.end();
    });
    const drift = driftOf(planned.plan, planned.input.state, planned.input.policy.environments);
    const adoption = flags.adopt === true ? await adopt(drift, planned, run, terminal) : undefined;
    const showKeys = flags.showKeys === true;
    const unseen = new Set(drift.unseen);
    const unchanged = planned.plan.unchanged.filter((id) => !unseen.has(id)).length;
    const report = { ...drift, unchanged, unseen: unseen.size };
    const text = driftText(report, { ...screen, showKeys });
    const open = adoption ? adoption.left.length : drift.differences.length;
    return {
      directory,
      exitCode: open > 0 ? EXIT.changes : EXIT.ok,
      text: text + (adoption ? adoptionText(adoption) : ''),
      document: planDocument(reportOf(planned, run), { showKeys }),
    };
  } catch (error) {
    if (!(error instanceof FlaghoistError)) throw error;
    return refused(directory, error, terminal, screen);
  }
}

/** @throws FlaghoistError `OUTPUT`: a file that is to be written has changes that are not committed. */
async function adopt(
  drift: Drift,
  { input }: Planned,
  { context: { source } }: Run,
  { stdout }: Terminal,
): Promise<Adoption> {
  const adoption = await adoptDrift(drift.differences, input, source.tree);
  const changed = await localChanges(source.checkout);
  const mine = changed.filter((path) => adoption.files.has(path));
  if (mine.length > 0) {
    throw new FlaghoistError(
      'OUTPUT',
      `cannot write what is live into ${mine.join(', ')}: the working tree differs from HEAD there (commit it, or take it back)`,
    );
  }
  for (const [path, text] of adoption.files) {
    // In sequence, so that a failure leaves the later ones as they are.
    await writeResult(text, { file: join(source.checkout.directory, path), stdout });
  }
  return adoption;
}

function adoptionText({ adopted, left, files }: Adoption): string {
  const lines = [
    ...adopted.map(({ id, paths }) => `Wrote ${clean(id)} into ${clean(paths.join(', '))}.`),
    ...left.map(({ id, why }) => `Left ${clean(id)}: ${clean(why)}.`),
    ...(files.size > 0 ? ['Nothing was committed: look at git diff, then commit.'] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function refused(
  directory: string,
  error: FlaghoistError,
  { stderr, signal }: Terminal,
  { color }: Screen,
): DirectoryResult {
  stderr.write(errorText(error));
  const diagnostics = error instanceof InvalidSpecsError ? error.diagnostics : [];
  const interrupted = signal.reason === 'SIGINT' ? EXIT.sigint : EXIT.sigterm;
  return {
    directory,
    exitCode: signal.aborted ? interrupted : error.exitCode,
    text: diagnostics.length === 0 ? '' : diagnosticsText(diagnostics, { color }),
    document: {
      formatVersion: 1,
      error: { code: error.code, message: error.message },
      ...(diagnostics.length > 0 && { diagnostics }),
    },
  };
}
