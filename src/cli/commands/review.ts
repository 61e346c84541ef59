import { appendFile } from 'node:fs/promises';
import { EXIT, exitCodeOfSignal, FlagkeelError, messageOf, type ExitCode } from '../../errors.js';
import { syncComment, type ReviewStatus } from '../../forge/forge.js';
import { openCheckout, resolveRevision, type Checkout } from '../../git/checkout.js';
import { isAncestor } from '../../git/lineage.js';
import { commitTree } from '../../git/trees.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import { clean } from '../../report/sanitize.js';
import {
  diagnosticFindings,
  junit,
  planFindings,
  sarif,
  underPrefix,
  type Finding,
} from '../../report/findings.js';
import { failureMarkdown, planMarkdown, summaryOf } from '../../report/markdown/plan.js';
import { planDocument, planJson, type PlanDocument } from '../../report/json/plan.js';
import { mostProtectedFirst } from '../../model/desired.js';
import type { PlanReport } from '../../report/plan-report.js';
import { readConfig } from '../../specs/read-config.js';
import { InvalidSpecsError } from '../../reconcile/context.js';
import { packageVersion } from '../../platform/package-files.js';
import { forEachDirectory } from '../directories.js';
import { secretOrNone } from '../../compose/settings.js';
import { tracedCommand } from '../traced-command.js';
import type { DeclareCommand } from '../command.js';
import {
  commonOptions,
  forgeOptions,
  momentOption,
  selectionOptions,
  serviceOptions,
  type CommonOptions,
} from '../options.js';
import {
  noBase,
  reviewTarget,
  type ReviewedPullRequest,
  type ReviewOptions,
  type ReviewTarget,
} from '../../review/pull-request.js';
import { reviewStatus, statusContext, offlinePlan, onlinePlan } from '../../review/plan.js';
import { ending, type Screen } from '../terminal.js';

type ReviewCommandOptions = CommonOptions & ReviewOptions;

export const declareReview: DeclareCommand = (command, invocation) => {
  command
    .argument('[directory...]', 'config repositories', ['.'])
    .option('--since <revision>', 'the target branch (default: as the CI job says)')
    .option('--target <name>', 'name of the target branch, for people')
    .option('--offline', 'without the service: compare with the specs of the target branch');
  momentOption(command);
  forgeOptions(command, 'where comment and statuses go')
    .option('--commit <sha>', 'the commit that gets the statuses')
    .option('--plan-url <url>', 'where a reader finds the full plan')
    .optionsGroup('Output:')
    .option('--json <file>', 'write the plan as JSON, for reconcile --plan')
    .option('--sarif <file>', 'write findings as SARIF')
    .option('--junit <file>', 'write findings as JUnit XML');
  commonOptions(selectionOptions(serviceOptions(command)), ['markdown']).action(
    ending(reviewAll, invocation),
  );
};

/** The comment replaces that of an earlier run. */
async function reviewAll(
  directories: readonly string[],
  options: ReviewCommandOptions,
  screen: Screen,
): Promise<ExitCode> {
  const { terminal } = screen;
  const place = await reviewTarget(options, terminal);
  return forEachDirectory(
    directories,
    async (directory) =>
      tracedCommand({ name: 'review', directory }, terminal, async () =>
        review(directory, { options, screen, place }),
      ),
    async (results) => {
      await screen.result(results.map(({ markdown }) => markdown).join('\n'));
      await writeReports(results, options, screen);
    },
  );
}

interface Reviewing {
  readonly options: ReviewCommandOptions;
  readonly screen: Screen;
  readonly place: ReviewTarget;
}

interface Verdict {
  readonly exitCode: ExitCode;
  readonly markdown: string;
  readonly findings: readonly Finding[];
  readonly document?: PlanDocument;
  readonly report?: PlanReport;
  readonly summary: string;
  readonly offline?: boolean;
}

type Reviewed = Verdict & { readonly prefix: string };

/** Closes a status that was opened, whatever happens: a forge would wait for it without end. */
async function review(directory: string, reviewing: Reviewing): Promise<Reviewed> {
  const { place, screen } = reviewing;
  const { pull } = place;
  const checkout = await openCheckout(directory);
  const prefix = checkout.repository?.prefix ?? '';
  const contexts = pull === null ? [] : await contextsOf(checkout, prefix);
  let verdict: Verdict | undefined;
  try {
    const refused = await setStatuses(contexts, () => PENDING, reviewing);
    verdict = await judge(directory, checkout, reviewing);
    await publish(verdict, checkout, reviewing);
    // Last: people get the comment also without statuses.
    if (refused) await leniently(async () => Promise.reject(refused), screen, place.isFork);
    return { ...verdict, prefix };
  } catch (error) {
    if (!(error instanceof FlagkeelError)) throw error;
    screen.failure(error);
    const { exitCode, ...failed } = verdict ?? failure(error);
    const code = exitCode === EXIT.ok ? error.exitCode : exitCode;
    const { signal } = screen.terminal;
    return { ...failed, prefix, exitCode: signal.aborted ? exitCodeOfSignal(signal) : code };
  } finally {
    const statusOf = (context: string) => reviewStatus(context, prefix, verdict);
    const failed = await setStatuses(contexts, statusOf, reviewing);
    if (failed) screen.note(`warning: ${clean(failed.message)}`);
    await checkout.close();
  }
}

const PENDING: ReviewStatus = { state: 'pending', description: 'planning what a merge does' };

/** Sets every status, even if one of them fails. @returns the first failure. */
async function setStatuses(
  contexts: readonly string[],
  statusOf: (context: string) => ReviewStatus,
  { place: { pull } }: Reviewing,
): Promise<Error | undefined> {
  const failures: Error[] = [];
  for (const context of contexts) {
    await pull?.forge
      .setStatus(pull, { context, ...statusOf(context) })
      .catch((error: unknown) => failures.push(error as Error));
  }
  return failures[0];
}

/** The token of a fork may write nothing: the reason becomes a warning on the terminal. */
async function leniently(
  write: () => Promise<void>,
  screen: Screen,
  isLenient: boolean,
): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isLenient || !(error instanceof FlagkeelError)) throw error;
    screen.note(`warning: ${clean(error.message)}`);
  }
}

async function contextsOf(checkout: Checkout, prefix: string): Promise<string[]> {
  const { head } = checkout;
  const config = head === null ? null : await readConfig(await commitTree(checkout, head));
  const names = config ? mostProtectedFirst(config.environments) : [];
  return [null, ...names].map((name) => statusContext(name, prefix));
}

async function judge(
  directory: string,
  checkout: Checkout,
  reviewing: Reviewing,
): Promise<Verdict> {
  const { options, screen, place } = reviewing;
  const surroundings = screen.surroundings();
  const { settings, note } = surroundings;
  const isMerge = place.merge !== undefined && checkout.head === place.merge;
  const since = isMerge ? 'HEAD^1' : place.base;
  const offline =
    options.offline === true || (place.isFork && secretOrNone(settings.apiKey) === '');
  try {
    if (since === undefined) throw noBase();
    if (!isMerge) await warnOfOldBranch(checkout, since, note);
    const planning = { ...surroundings, flags: options, since };
    const report = await (offline ? offlinePlan : onlinePlan)(directory, planning);
    const about = { subject: 'merge', target: place.target, offline } as const;
    return {
      report,
      offline,
      exitCode: report.guardFindings?.length ? EXIT.guardRefused : EXIT.ok,
      summary: summaryOf(report, about),
      findings: planFindings(report),
      document: planDocument(report),
      markdown: planMarkdown(report, { ...about, planUrl: place.runUrl, madeAt: new Date() }),
    };
  } catch (error) {
    // An interrupted run is to end, and not to be published.
    if (!(error instanceof FlagkeelError) || screen.terminal.signal.aborted) throw error;
    screen.failure(error);
    return failure(error);
  }
}

function failure(error: FlagkeelError): Verdict {
  const diagnostics: readonly Diagnostic[] =
    error instanceof InvalidSpecsError ? error.diagnostics : [];
  const markdown = failureMarkdown(error.message, diagnostics);
  const findings = diagnosticFindings(diagnostics);
  return { exitCode: error.exitCode, summary: markdown, findings, markdown };
}

async function warnOfOldBranch(
  checkout: Checkout,
  since: string,
  note: (text: string) => void,
): Promise<void> {
  const newest = await resolveRevision(checkout, since);
  if (checkout.head === null || (await isAncestor(checkout, newest, checkout.head)) !== false)
    return;
  note(
    `warning: HEAD does not hold the newest of "${clean(since)}": the plan is of this branch and not of its merge (check out the merge, or update the branch)`,
  );
}

/** Appends to the summary of the CI job and writes the comment; notes on lines follow only where the comment changed. */
async function publish(verdict: Verdict, checkout: Checkout, reviewing: Reviewing): Promise<void> {
  const { place, screen } = reviewing;
  const { pull, summaryFile, isFork } = place;
  if (summaryFile !== undefined) {
    await appendFile(summaryFile, `${verdict.markdown}\n`).catch((error: unknown) => {
      screen.note(`warning: cannot write the summary of the job: ${clean(messageOf(error))}`);
    });
  }
  if (pull)
    await leniently(async () => comment(pull, verdict, checkout, reviewing), screen, isFork);
}

async function comment(
  pull: ReviewedPullRequest,
  verdict: Verdict,
  checkout: Checkout,
  { options, screen }: Reviewing,
): Promise<void> {
  const { forge, pullRequest, commit } = pull;
  const prefix = checkout.repository?.prefix ?? '';
  // A job may run again, late. The newer commit itself may have no review: bots and `[skip ci]` start no job.
  const isOutdated =
    options.commit === undefined && (await forge.newestCommit(pullRequest)) !== commit;
  const follows = async (older: string): Promise<boolean> =>
    (await isAncestor(checkout, older, commit)) === true;
  const said = { scope: prefix, body: verdict.markdown, commit, ...(isOutdated && { follows }) };
  const done = await syncComment(forge, pullRequest, said);
  screen.note(`${forge.name}: comment ${done}`);
  // Notes are a help and no verdict: a token that may not write them is no failure.
  if (done === 'posted' || done === 'edited')
    await leniently(async () => annotate(pull, verdict, prefix), screen, true);
}

const LEVELS = { error: 'failure', warning: 'warning', note: 'notice' } as const;
/** More are no help to anybody, and each fifty cost a request. */
const MOST_ANNOTATIONS = 200;

async function annotate(
  pull: ReviewedPullRequest,
  { findings, summary }: Verdict,
  prefix: string,
): Promise<void> {
  const annotations = underPrefix(prefix, findings).flatMap(({ place, level, subject, message }) =>
    place === null
      ? []
      : [{ file: place.file, line: place.line, level: LEVELS[level], title: subject, message }],
  );
  await pull.forge.annotate(pull.commit, annotations.slice(0, MOST_ANNOTATIONS), summary);
}

/** Writes the files for other programs. Paths in them start at the top of the repository, not at the directory. */
async function writeReports(
  results: readonly Reviewed[],
  { json: jsonFile, sarif: sarifFile, junit: junitFile }: ReviewCommandOptions,
  screen: Screen,
): Promise<void> {
  const findings = results.flatMap((each) => underPrefix(each.prefix, each.findings));
  const documents = results.flatMap(({ document }) => document ?? []);
  // A part of the directories would be taken for all of them.
  if (jsonFile !== undefined && documents.length === results.length) {
    await screen.writeFile(jsonFile, planJson(documents));
  }
  if (sarifFile !== undefined) await screen.writeFile(sarifFile, sarif(findings, packageVersion()));
  if (junitFile !== undefined) await screen.writeFile(junitFile, junit(findings));
}
