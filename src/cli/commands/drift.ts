import { join } from 'node:path';
import { openRun, type Run } from '../../compose/run.js';
import { EXIT, FlagkeelError, type ExitCode } from '../../errors.js';
import { localChanges } from '../../git/spec-source.js';
import { plan } from '../../reconcile/reconcile.js';
import { reportOf } from '../../reconcile/result.js';
import type { Planned } from '../../reconcile/context.js';
import { rewriteFile } from '../../report/output.js';
import { clean } from '../../report/sanitize.js';
import { byEnvironment, type PlanReport, shownEnvironments } from '../../report/plan-report.js';
import { paragraph, EMPTY_LINE, renderLines, span } from '../../report/text/layout.js';
import { rowLines } from '../../report/text/plan.js';
import { fieldLines } from '../../report/view/field.js';
import type { Row } from '../../report/view/row.js';
import { notComparedTexts } from '../../report/view/sentences.js';
import { asFarAsCompared } from '../../report/view/verdict.js';
import { placeText, keysText, plural } from '../../report/values.js';
import { present } from '../../model/collections.js';
import type { FieldChange, KeyChange } from '../../model/plan.js';
import { planDocument } from '../../report/json/plan.js';
import { adoptDrift, type Adoption } from '../../import/adopt.js';
import { driftOf, type Difference, type Drift } from '../../import/drift.js';
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
    .option('--allow-older', 'compare with a HEAD that does not follow that of the last apply');
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
  const adoption = options.adopt === true ? await adopt(found, planned, run) : undefined;
  const others = new Set([...found.unseen, ...found.differences.map(({ change }) => change.id)]);
  const unchanged = planned.plan.unchanged.filter((id) => !others.has(id)).length;
  const whole = reportOf(planned, run);
  const text = driftText(found, { report: whole, unchanged }, screen);
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
): Promise<Adoption> {
  const adoption = await adoptDrift(drift.differences, input, source.tree);
  const changed = await localChanges(source.checkout);
  const mine = changed.filter((path) => adoption.files.has(path));
  if (mine.length > 0) {
    const why = 'the working tree differs from HEAD there (commit it, or take it back)';
    throw new FlagkeelError('OUTPUT', `cannot write what is live into ${mine.join(', ')}: ${why}`);
  }
  for (const [path, text] of adoption.files) {
    // In sequence, so that a failure leaves the later ones as they are.
    await rewriteFile(join(source.checkout.directory, path), text);
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

const WORDS: Readonly<Record<string, string>> = {
  drift: 'changed outside git',
  conflict: 'changed outside git, and in git too',
  adopt: 'differs, and no run remembers it here',
  unknown: 'differs, and nothing is remembered that would tell why',
};

function driftText(
  { differences, pending, unapplied, unseen }: Drift,
  { report, unchanged }: { readonly report: PlanReport; readonly unchanged: number },
  screen: Screen,
): string {
  const found = differences.map((each) => ({ ...each, id: each.change.id }));
  const inOrder = byEnvironment(found, shownEnvironments(report));
  const lines = inOrder.flatMap((each) => rowLines(differenceRow(each, screen)));
  const [are, them] = pending === 1 ? ['is', 'it'] : ['are', 'them'];
  const git = `Not applied: ${plural(pending, 'change')} of git, which ${are} no drift (flagkeel plan shows ${them}).`;
  const exit = unapplied > 0 ? ' The exit code is 2 for unapplied changes too.' : '';
  const unknown = `Of ${plural(unseen.length, 'object')} with identities nothing is known: the service cannot show them.`;
  const verdict =
    differences.length === 0
      ? `No drift${asFarAsCompared(report.plan)}:`
      : `Drift: ${plural(differences.length, 'object')};`;
  return renderLines(
    [
      ...lines,
      ...(lines.length > 0 ? [EMPTY_LINE] : []),
      ...(pending > 0 ? [paragraph(git + exit, 'strong')] : []),
      ...(unseen.length > 0 ? [paragraph(unknown, 'faint')] : []),
      ...notComparedTexts(report.plan.notCompared).map((text) => paragraph(text, 'faint')),
      paragraph(`${verdict} ${plural(unchanged, 'object')} equal.`, 'strong'),
    ],
    screen,
  );
}

function differenceRow({ change, gone }: Difference, { showKeys }: Screen): Row {
  const { location, reason } = change;
  const isKill = change.fields.every(({ path }) => path === '/killed') && !change.keys;
  const words = isKill ? 'killed on the service, not ordered by git' : (WORDS[reason] ?? reason);
  const fields = change.fields.flatMap((field) => fieldLines(turned(field), { showKeys }));
  const keys = change.keys ? [[span(keysText(turnedKeys(change.keys), { showKeys }))]] : [];
  return {
    mark: gone ? span('-', 'remove') : span('~', 'change'),
    subject: clean(change.id),
    deed: span(gone ? 'gone from the service' : words),
    origin: location ? [placeText(location)] : [],
    lines: gone ? [] : [...fields, ...keys],
  };
}

/** Swaps both sides: plans lead from the service to git, and this report from git to the service. */
function turned({ path, reason, before, after, keys }: FieldChange): FieldChange {
  const sides = { before: after, after: before, keys: keys && turnedKeys(keys) };
  return { path, reason, ...present(sides) };
}

function turnedKeys({ added, removed, sha256 }: KeyChange): KeyChange {
  return { added: removed, removed: added, sha256 };
}
