import { join } from 'node:path';
import { openRun, type Run } from '../../compose/run.js';
import { EXIT, FlagkeelError, type ExitCode } from '../../errors.js';
import { localChanges } from '../../git/spec-source.js';
import { plan } from '../../reconcile/reconcile.js';
import { reportOf } from '../../reconcile/result.js';
import type { Planned } from '../../reconcile/context.js';
import { clean } from '../../report/sanitize.js';
import { byEnvironment, shownEnvironments } from '../../report/plan-report.js';
import { driftText } from '../../report/text/drift.js';
import { planDocument } from '../../report/json/plan.js';
import { adoptDrift, type Adoption } from '../../import/adopt.js';
import { driftOf, type Drift } from '../../import/drift.js';
import { combinedResult, forEachDirectory } from '../directories.js';
import { plannedOrRefused, type PlannedDirectory } from '../traced-command.js';
import type { DeclareCommand } from '../command.js';
import {
  commonOptions,
  selectionOptions,
  serviceOptions,
  type CommonOptions,
  type ServiceOptions,
} from '../options.js';
import { ending, type Screen } from '../terminal.js';

interface DriftOptions extends CommonOptions, ServiceOptions {
  readonly adopt?: boolean;
  readonly allowOlder?: boolean;
}

export const declareDrift: DeclareCommand = (command, invocation) => {
  command
    .argument('[directory...]', 'config repositories', ['.'])
    .option('--adopt', 'write the live values into the files; nothing is committed')
    .option('--allow-older', 'compare with a HEAD that is older than that of the last apply');
  commonOptions(selectionOptions(serviceOptions(command))).action(ending(showDrift, invocation));
};

/** Compares HEAD and not the working tree, because HEAD is what a run applies. */
async function showDrift(
  directories: readonly string[],
  options: DriftOptions,
  screen: Screen,
): Promise<ExitCode> {
  const { format } = options;
  return forEachDirectory(
    directories,
    async (directory) =>
      plannedOrRefused({ name: 'drift', directory, writes: false, format }, screen, async () =>
        runDirectory(directory, options, screen),
      ),
    async (results) => screen.result(combinedResult(results, format)),
  );
}

async function runDirectory(
  directory: string,
  options: DriftOptions,
  screen: Screen,
): Promise<PlannedDirectory> {
  const onlyReads = { adopt: false, dryRun: true, committedOnly: true };
  const reading = { ...options, ...onlyReads, keys: 'listed' } as const;
  await using run = await openRun(directory, reading, screen.surroundings());
  const planned = await plan(run.context);
  const found = driftOf(planned.plan, planned.input.state, planned.input.policy.environments);
  const adoption = options.adopt === true ? await adopt(found, planned, run, screen) : undefined;
  const others = new Set([...found.unseen, ...found.differences.map(({ change }) => change.id)]);
  const unchanged = planned.plan.unchanged.filter((id) => !others.has(id)).length;
  const { notCompared } = planned.plan;
  const whole = reportOf(planned, run);
  const differences = byEnvironment(
    found.differences.map((each) => ({ ...each, id: each.change.id })),
    shownEnvironments(whole),
  );
  const counts = { unchanged, unseen: found.unseen.length };
  const report = { ...found, ...counts, differences, notCompared };
  const text = driftText(report, screen);
  const open = (adoption?.left ?? found.differences).length + found.unapplied;
  return {
    directory,
    exitCode: open > 0 ? EXIT.changes : EXIT.ok,
    text: text + (adoption ? adoptionText(adoption) : ''),
    report: whole,
    document: () => planDocument(whole, screen),
  };
}

/** Writes the live values into the working tree, and nothing if one of the files has changes of its own. */
async function adopt(
  drift: Drift,
  { input }: Planned,
  { context: { source } }: Run,
  screen: Screen,
): Promise<Adoption> {
  const adoption = await adoptDrift(drift.differences, input, source.tree);
  const changed = await localChanges(source.checkout);
  const mine = changed.filter((path) => adoption.files.has(path));
  if (mine.length > 0) {
    throw new FlagkeelError(
      'OUTPUT',
      `cannot write what is live into ${mine.join(', ')}: the working tree differs from HEAD there (commit it, or take it back)`,
    );
  }
  for (const [path, text] of adoption.files) {
    // In sequence, so that a failure leaves the later ones as they are.
    await screen.writeFile(join(source.checkout.directory, path), text);
  }
  return adoption;
}

function adoptionText({ adopted, left, files }: Adoption): string {
  const lines = [
    ...adopted.map(({ id, paths, endsSteps }) => {
      const more = endsSteps
        ? ' A live share is a plain share there now, and its ramp is taken out.'
        : '';
      return `Wrote ${clean(id)} into ${clean(paths.join(', '))}.${more}`;
    }),
    ...left.map(({ id, why }) => `Left ${clean(id)}: ${clean(why)}.`),
    ...(files.size > 0 ? ['Nothing was committed: look at git diff, then commit.'] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
