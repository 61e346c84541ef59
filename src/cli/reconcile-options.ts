import { Option, type Command } from 'commander';
import {
  forgeOptions,
  momentOption,
  noteOptions,
  policyOptions,
  repeatableOption,
  type CommonOptions,
  type NoteOptions,
} from './options.js';
import type { RunFlags } from '../compose/run.js';
import { type Asking, type ForgeFlags, askedPullRequest } from '../review/pull-request.js';
import { FlagkeelError } from '../errors.js';
import type { RefusedApproval } from '../forge/forge.js';
import type { Approval, ShownChanges } from '../model/run.js';
import { clean } from '../report/sanitize.js';
import { readBounded } from '../platform/bounded-file.js';
import { shownIn } from '../plan/reviewed.js';
import { parseReviewedPlans, reviewedHash, type PlanDocument } from '../report/json/plan.js';

export interface ReconcileOptions extends CommonOptions, ForgeFlags, NoteOptions, RunFlags {
  readonly events?: string;
  readonly detailedExitcode?: boolean;
  readonly plan: readonly string[];
  readonly everyKey?: boolean;
  readonly countKeys?: boolean;
  readonly touched?: boolean;
  readonly kills?: boolean;
  readonly approveComment?: boolean;
  readonly force?: boolean;
  readonly approve?: string;
  readonly commitStatuses?: boolean;
  readonly allowHeld?: boolean;
}

export function planOptions(command: Command): void {
  const events = 'write each event as a line of JSON; - is standard output, without the report';
  const countKeys = 'count the keys of segments that git did not change';
  const plan = repeatableOption('--plan <file>', 'apply only what this plan of a review shows');
  const touched = 'look only at what commits touched since the last apply, and what was open then';
  momentOption(command).option('--events <file>', events).optionsGroup('What the plan holds:');
  policyOptions(command)
    .option('--identities', 'write all identities, also those that were written before')
    .option('--every-key', 'compare the keys of every segment, however many it has')
    .addOption(new Option('--count-keys', countKeys).conflicts('everyKey'))
    .addOption(plan.conflicts('planHash'))
    .option('--plan-hash <hash>', 'apply only the plan with this hash', reviewedHash)
    .option('--since <revision>', 'plan only objects whose specs differ from this revision')
    .option('--touched', touched);
}

export function applyingOptions(command: Command): void {
  const kills = new Option('--kills', 'send the kills that git orders, and nothing else');
  const statuses = 'set statuses on the commit: which environments have it';
  command
    .addOption(kills.conflicts(['dryRun', 'plan', 'planHash']))
    .addOption(new Option('--commit-statuses', statuses).conflicts(['dryRun', 'kills']));
}

export function approvalOptions(command: Command): void {
  forgeOptions(command, 'for --approve-comment and --commit-statuses')
    .optionsGroup('What may pass:')
    .option('--approve <hash>', 'let the plan with this hash pass guards and windows', reviewedHash)
    .option('--approve-comment', 'let a plan pass that a comment on the pull request approves')
    .option('--override-window <reason>', 'write although windows or freezes hold it back')
    .option('--force', 'also an empty repository or another workspace; asks, or needs --approve')
    .option('--allow-older', 'apply a HEAD that does not follow that of the last apply')
    .option('--allow-dirty', 'apply the working tree instead of HEAD')
    .option('--allow-held', 'exit 0 also where something waits for a person')
    .optionsGroup('Words of the writes:');
  noteOptions(command);
}

/**
 * What reviewed plans showed, by directory; undefined if no plan limits the run. A file with an empty list shows nothing.
 * @throws FlagkeelError `USAGE`
 */
export async function readShown(
  { plan: files }: Pick<ReconcileOptions, 'plan'>,
  directories: readonly string[],
): Promise<readonly ShownChanges[] | undefined> {
  if (files.length === 0) return undefined;
  const found: PlanDocument[][] = directories.map(() => []);
  for (const file of files) {
    const plans = await parseReviewedPlans(String(await readBounded(file, 'read plan')), file);
    if (plans.length > 0 && plans.length !== directories.length) {
      const why = `it holds ${plans.length} plans, for ${directories.length} directories`;
      throw new FlagkeelError('USAGE', `cannot use "${file}": ${why}`);
    }
    plans.forEach((plan, index) => found[index]?.push(plan));
  }
  return found.map(shownIn);
}

/**
 * The approvals of the command line and of the pull request. Notes say which comments do not count. @throws
 * FlagkeelError as `askedPullRequest`; `FORGE`.
 */
export async function readGivenApprovals(
  options: ReconcileOptions,
  asking: Asking,
  note: (text: string) => void,
): Promise<readonly Approval[]> {
  const own = options.approve === undefined ? [] : [{ hash: options.approve }];
  if (options.approveComment !== true) return own;
  const { forge, pullRequest } = await askedPullRequest(options, asking, 'read approvals');
  const { approvals, refused } = await forge.approvals(pullRequest);
  for (const each of refused) note(`warning: ${refusalText(each)}`);
  return [...own, ...approvals];
}

function refusalText({ hash, by, why }: RefusedApproval): string {
  const account = clean(by);
  if (why === 'may not merge') return `${account} may not merge, and so not approve ${hash}`;
  const fault = why === 'edited' ? 'it was edited' : 'it is older than the last push';
  return `the approval of ${hash} by ${account} does not count: ${fault} (write a new comment)`;
}
