import { appendFile } from 'node:fs/promises';
import { operatorSettings } from '../config.js';
import { EXIT, FlaghoistError, messageOf, type ExitCode } from '../errors.js';
import { syncComment } from '../forge/comment.js';
import { Statuses } from '../forge/statuses.js';
import { isAncestor, openCheckout, type Checkout } from '../git/checkout.js';
import { commitTree } from '../git/commit-tree.js';
import type { Diagnostic } from '../model/diagnostic.js';
import { clean } from '../report/clean.js';
import { diagnosticFindings, planFindings, type Finding } from '../report/findings.js';
import { junit } from '../report/junit.js';
import { failureMarkdown } from '../report/markdown/failure-markdown.js';
import { gistOf, planMarkdown } from '../report/markdown/plan-markdown.js';
import { writeResult } from '../report/output.js';
import type { PlanReport } from '../report/plan-report.js';
import { errorText } from '../report/run-error.js';
import { sarif } from '../report/sarif.js';
import { readConfig } from '../specs/read-config.js';
import { exitCodeOfSignal } from '../stages/reporting.js';
import { InvalidSpecsError } from '../stages/run.js';
import { packageVersion } from '../version.js';
import { combinedExitCode } from './exit-code.js';
import type { ReviewFlags, Terminal } from './options.js';
import { judgement, OVERALL, statusContext } from './review-judgement.js';
import { reviewPlace, type ReviewPlace } from './review-place.js';
import { offlinePlan, onlinePlan } from './review-plan.js';
import { openScreen, type Screen } from './screen.js';

/** Plans what a merge would do, and tells the pull request: one comment, statuses, notes on lines. Writes nothing else. */
export async function runReview(
  directories: readonly string[],
  flags: ReviewFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const screen = openScreen(flags, terminal);
  const place = await reviewPlace(flags, terminal);
  const results: Reviewed[] = [];
  for (const directory of directories) {
    // One after the other: they may share a service, a credential and a state.
    results.push(await review(directory, { flags, terminal, screen, place }));
  }
  await screen.result(results.map(({ markdown }) => markdown).join('\n'));
  await writeReports(results, flags, terminal);
  return combinedExitCode(results.map(({ exitCode }) => exitCode));
}

interface Reviewing {
  readonly flags: ReviewFlags;
  readonly terminal: Terminal;
  readonly screen: Screen;
  readonly place: ReviewPlace;
}

/** What came of one directory. */
interface Reviewed {
  readonly exitCode: ExitCode;
  readonly markdown: string;
  readonly findings: readonly Finding[];
  /** Of the directory, from the top of the repository. */
  readonly prefix: string;
}

/** What there is to tell; `report` is absent where there is no plan. */
interface Told extends Omit<Reviewed, 'prefix'> {
  readonly report?: PlanReport;
  readonly gist: string;
  /** The service was not asked. */
  readonly offline?: boolean;
}

async function review(directory: string, reviewing: Reviewing): Promise<Reviewed> {
  const { place, screen, terminal } = reviewing;
  const checkout = await openCheckout(directory);
  const prefix = checkout.repository?.prefix ?? '';
  const statuses = place.forge && new Statuses(place.forge, await contextsOf(checkout, prefix));
  let told: Told | undefined;
  try {
    await leniently(statuses?.open('planning what a merge does'), reviewing);
    told = await tell(directory, checkout, reviewing);
    await publish(told, prefix, reviewing);
    return { ...told, prefix };
  } catch (error) {
    if (!(error instanceof FlaghoistError)) throw error;
    terminal.stderr.write(errorText(error));
    const { exitCode, ...failed } = told ?? failure(error);
    if (terminal.signal.aborted) {
      return { ...failed, prefix, exitCode: exitCodeOfSignal(terminal.signal) };
    }
    return { ...failed, prefix, exitCode: exitCode === EXIT.ok ? error.exitCode : exitCode };
  } finally {
    const judge = (context: string) => judgement(context, prefix, told);
    await statuses?.close(judge).catch((error: unknown) => {
      screen.note(`warning: ${clean(messageOf(error))}`);
    });
    await checkout.close();
  }
}

/** A fork is given a token that may write nothing: what cannot be told there is said on the terminal. */
async function leniently(
  telling: Promise<void> | undefined,
  { place, screen }: Pick<Reviewing, 'place' | 'screen'>,
): Promise<void> {
  try {
    await telling;
  } catch (error) {
    if (!place.isFork || !(error instanceof FlaghoistError)) throw error;
    screen.note(`warning: ${clean(error.message)}`);
  }
}

/** One status for the whole and one for each environment, as far as the config can be read. */
async function contextsOf(checkout: Checkout, prefix: string): Promise<string[]> {
  const { head } = checkout;
  const config = head === null ? null : await readConfig(await commitTree(checkout, head));
  const names = config?.ok === true ? config.config.environments.map(({ name }) => name) : [];
  return [OVERALL, ...names].map((name) => statusContext(name, prefix));
}

async function tell(directory: string, checkout: Checkout, reviewing: Reviewing): Promise<Told> {
  const { flags, terminal, screen, place } = reviewing;
  const settings = operatorSettings(terminal.environment);
  const isMerge = place.merge !== undefined && checkout.head === place.merge;
  const since = isMerge ? 'HEAD^1' : place.base;
  const note = (text: string): void => {
    screen.note(text);
  };
  const offline = flags.offline === true || (place.isFork && !hasKey(settings.apiKey));
  try {
    if (!isMerge && since !== undefined) await warnOfOldBranch(checkout, since, note);
    const options = { flags, since, settings, signal: terminal.signal, note };
    const report = await (offline ? offlinePlan : onlinePlan)(directory, options);
    const about = { subject: 'merge', target: place.target, offline } as const;
    return {
      report,
      offline,
      exitCode: report.guardFindings?.length ? EXIT.guardRefused : EXIT.ok,
      gist: gistOf(report, about),
      findings: planFindings(report),
      markdown: planMarkdown(report, { ...about, planUrl: place.runUrl, madeAt: new Date() }),
    };
  } catch (error) {
    // Whoever interrupts a run wants it to end.
    if (!(error instanceof FlaghoistError) || terminal.signal.aborted) throw error;
    terminal.stderr.write(errorText(error));
    return failure(error);
  }
}

function failure(error: FlaghoistError): Told {
  const diagnostics: readonly Diagnostic[] =
    error instanceof InvalidSpecsError ? error.diagnostics : [];
  const markdown = failureMarkdown(error.message, diagnostics);
  return {
    exitCode: error.exitCode,
    gist: markdown,
    findings: diagnosticFindings(diagnostics),
    markdown,
  };
}

function hasKey(apiKey: () => string): boolean {
  try {
    return apiKey() !== '';
  } catch {
    return false;
  }
}

async function warnOfOldBranch(
  checkout: Checkout,
  since: string,
  note: (text: string) => void,
): Promise<void> {
  if ((await isAncestor(checkout, since, 'HEAD')) !== false) return;
  note(
    `warning: HEAD does not hold the newest of "${clean(since)}": the plan is of this branch and not of its merge (check out the merge, or update the branch)`,
  );
}

async function publish(told: Told, prefix: string, reviewing: Reviewing): Promise<void> {
  const { place, screen } = reviewing;
  const { forge } = place;
  if (place.summaryFile !== undefined) await appendFile(place.summaryFile, `${told.markdown}\n`);
  if (!forge) return;
  const { markdown, gist, report } = told;
  const planHash = report?.planHash ?? null;
  const comment = { scope: prefix, planHash, gist, body: markdown };
  const telling = async (): Promise<void> => {
    const done = await syncComment(forge, comment);
    screen.note(`${forge.name}: comment ${done}`);
    if (done !== 'unchanged') await annotate(told, prefix, reviewing);
  };
  await leniently(telling(), reviewing);
}

const LEVELS = { error: 'failure', warning: 'warning', note: 'notice' } as const;
/** More are no help to anybody, and each fifty cost a request. */
const MOST_ANNOTATIONS = 200;

/** Notes are a help and no verdict: a token that may not write them is no failure. */
async function annotate(
  { findings, gist }: Told,
  prefix: string,
  { place, screen }: Reviewing,
): Promise<void> {
  const annotations = findings.flatMap(({ place: at, level, subject, message }) =>
    at === null
      ? []
      : [
          {
            file: `${prefix}${at.file}`,
            line: at.line,
            level: LEVELS[level],
            title: subject,
            message,
          },
        ],
  );
  try {
    await place.forge?.annotate(annotations.slice(0, MOST_ANNOTATIONS), gist);
  } catch (error) {
    if (!(error instanceof FlaghoistError)) throw error;
    screen.note(`warning: ${clean(error.message)}`);
  }
}

async function writeReports(
  results: readonly Reviewed[],
  { sarif: sarifFile, junit: junitFile }: ReviewFlags,
  { stdout }: Terminal,
): Promise<void> {
  const findings = results.flatMap(({ findings: each, prefix }) =>
    each.map((finding) => ({
      ...finding,
      place: finding.place && { ...finding.place, file: `${prefix}${finding.place.file}` },
    })),
  );
  if (sarifFile !== undefined) {
    await writeResult(sarif(findings, packageVersion()), { file: sarifFile, stdout });
  }
  if (junitFile !== undefined) await writeResult(junit(findings), { file: junitFile, stdout });
}
