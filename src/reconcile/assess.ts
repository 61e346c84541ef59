import { notesFor } from '../history/change-notes.js';
import { unknowns } from '../history/removals.js';
import type { SentKills } from '../kill/first.js';
import type { Plan } from '../model/plan.js';
import { withApproval } from './approvals.js';
import type { Planned, RunContext, Remembered, TimedInput } from './context.js';
import { checkGuards } from './guards.js';
import type { LoadedSpecs, OpenedService } from './load.js';
import type { Observation } from './observe.js';
import { memoryUnknowns } from './memory.js';
import { withSteps } from '../timing/standings.js';
import { withOverride } from './windows.js';

interface Assessed {
  readonly changes: Plan;
  readonly hash: string;
  readonly heldHash: string | null;
  /** The input of the changes. */
  readonly input: TimedInput;
  readonly at: Observation['at'];
  readonly service: OpenedService;
  readonly remembered: Remembered;
  readonly sent: SentKills;
  readonly invalid: LoadedSpecs['invalid'];
}

/** Assesses the changes: notes, guards, reached users, and unknown facts. */
export async function assess(
  context: RunContext,
  { changes, hash, heldHash, input, at, service, remembered, sent, invalid }: Assessed,
): Promise<Planned> {
  const { checkout, revision } = context.source;
  const { home, state, applied, isWritten } = remembered;
  // A directory with a state for this workspace is no mistake, even if it was applied to others as well.
  const elsewhere = home && !isWritten ? await context.appliedToOthers(at) : [];
  const written = sent.stillToWrite(changes.changes);
  const notes = await notesFor(
    { changes: written, withheld: changes.withheld },
    input,
    checkout,
    revision.commit,
    context.memory.specs,
  );
  const guards = await checkGuards(context, { changes, input }, { applied, elsewhere });
  const said = sent.notesOver(withSteps(notes, changes, input.moment), changes);
  const approval = context.options.approvals?.find((each) => each.hash === hash);
  const approved = withApproval(said, guards.guardFindings, approval);
  return {
    plan: changes,
    planHash: hash,
    notes: withOverride(approved, changes, input),
    ...{ heldHash, approval, ...guards },
    unknowns: [
      ...memoryUnknowns(remembered, changes),
      ...(await unknowns(checkout, state, revision.commit, input.policy)),
    ],
    reader: service.reader,
    kills: sent,
    ...{ invalid, input, at, remembered, originName: context.originName() },
  };
}
