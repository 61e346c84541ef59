import { Option, type Command } from 'commander';
import { examples, forgeOptions, momentOption, type CommonOptions } from './options.js';
import type { RunFlags } from '../compose/run.js';
import type { ForgeFlags } from '../review/pull-request.js';
import type { ReviewedOptions } from './reviewed-plans.js';

/** Options of `flagkeel reconcile` and `flagkeel plan`. */
export interface ReconcileOptions
  extends
    CommonOptions,
    ReviewedOptions,
    ForgeFlags,
    Omit<
      RunFlags,
      | 'approvals'
      | 'committedOnly'
      | 'keys'
      | 'pushState'
      | 'quarantineInvalid'
      | 'suspend'
      | 'touchedSince'
    > {
  /** File to which each event is written as it happens; `-` is standard output. */
  readonly events?: string;
  readonly detailedExitcode?: boolean;
  readonly everyKey?: boolean;
  readonly countKeys?: boolean;
  readonly touched?: boolean;
  /** Plans that comments of the pull request approve may pass too. */
  readonly approveComment?: boolean;
  readonly force?: boolean;
  /** What waits for a person does so on purpose. */
  readonly allowHeld?: boolean;
  readonly title?: string;
  readonly comment?: string;
}

/** What the plan may contain, and where its events go. */
export function planOptions(command: Command): void {
  momentOption(command)
    .option(
      '--events <file>',
      'tell what happens as it happens, in lines of JSON; - is standard output, without the report',
    )
    .option('--prune', 'delete what the specs used to declare and no longer do')
    .option('--adopt', 'take over live objects that differ, also in protected environments')
    .option('--revert-drift', 'undo changes made outside git, also where they are only reported')
    .option('--identities', 'write all identities, also those that were written before')
    .option('--every-key', 'compare the keys of every segment, however many it has')
    .addOption(
      new Option('--count-keys', 'count the keys of segments that git did not change').conflicts(
        'everyKey',
      ),
    )
    .addOption(
      new Option('--plan <file>', 'apply only what equals this plan, JSON of a dry run').conflicts(
        'planHash',
      ),
    )
    .option('--plan-hash <hash>', 'apply only the plan with this hash')
    .option('--since <revision>', 'plan only objects whose specs differ from this revision')
    .option(
      '--touched',
      'look only at what commits touched since the last apply, and what was not in sync then',
    );
}

/** What lets a plan pass, and what is written beside its changes. */
export function approvalOptions(command: Command): void {
  forgeOptions(command, 'where --approve-comment looks')
    .option('--approve <hash>', 'let the plan with this hash pass guards, windows and freezes')
    .option('--approve-comment', 'likewise one that a comment of the pull request approves')
    .option('--override-window <reason>', 'write although windows or freezes hold it back')
    .option('--force', 'also an empty repository or another workspace; asks, or needs --approve')
    .option('--allow-older', 'apply a HEAD that is older than what was applied')
    .option('--allow-dirty', 'apply the working tree instead of HEAD')
    .option('--allow-held', 'exit 0 also where something waits for a person')
    .option('--title <text>', 'title of every write, instead of the commits’')
    .option('--comment <text>', 'comment of every write, instead of the commits’');
}

export function reconcileExamples(
  command: Command,
  { isPlan }: { readonly isPlan: boolean },
): void {
  examples(command, isPlan ? PLAN_EXAMPLES : RECONCILE_EXAMPLES);
}

const PLAN_EXAMPLES = [
  'flagkeel plan --embedded shop',
  'flagkeel plan --detailed-exitcode --format json --output plan.json',
];
const RECONCILE_EXAMPLES = [
  'flagkeel reconcile',
  'flagkeel reconcile --plan plan.json',
  'flagkeel reconcile --only flag/new-checkout --environment staging',
];
