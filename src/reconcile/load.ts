import { findWorkspace, type LiveWorkspace, type Workspace } from '../admin-api/workspace.js';
import type { AdminReader } from '../admin-api/reader.js';
import { KillSender } from '../kill/first.js';
import type { Killing } from '../kill/send.js';
import type { BoundDesired } from '../model/bound-desired.js';
import type { Desired } from '../model/desired.js';
import type { Diagnostic } from '../model/diagnostic.js';
import { FlagkeelError } from '../errors.js';
import { isOlder } from '../git/lineage.js';
import { noteRun, traced } from '../platform/telemetry.js';
import { readSpecs } from '../specs/read-specs.js';
import { NOTHING } from '../state/known-state.js';
import type { StateHome, StateReading } from '../state/store.js';
import { internBases } from '../state/tree.js';
import { InvalidSpecsError, type Remembered, type RunContext } from './context.js';
import { recordKills } from './record.js';

/** The specs of a run. */
export interface LoadedSpecs {
  readonly desired: Desired;
  /** `KIND/NAME` of objects that the run leaves alone; empty unless it may quarantine invalid ones. */
  readonly quarantined: ReadonlySet<string>;
  /** Errors in the specs, if the run goes on in spite of them. */
  readonly invalid: readonly Diagnostic[];
}

/**
 * Reads the specs. Any error stops the run, unless `quarantineInvalid` lets it go on with the valid objects.
 *
 * @throws InvalidSpecsError after sending the kills of the invalid specs.
 */
export async function loadSpecs(
  { source, options, memory }: RunContext,
  kills: KillSender,
): Promise<LoadedSpecs> {
  const specs = await traced('read specs', async () => readSpecs(source.tree, memory.specs));
  if (specs.ok) return { desired: specs.desired, quarantined: new Set(), invalid: [] };
  if (options.quarantineInvalid === true && specs.rest) {
    return { ...specs.rest, invalid: specs.diagnostics };
  }
  const { results, due } = await kills.sendAmongInvalid(specs);
  throw new InvalidSpecsError(specs.diagnostics, results, due);
}

/** The open service, and the workspace that the specs name. */
export interface OpenedService {
  readonly reader: AdminReader;
  readonly workspace: LiveWorkspace;
}

/**
 * Opens the service. Sends the kills that HEAD adds before any other request.
 *
 * @throws FlagkeelError `NOT_ON_SERVICE`: the service has no such workspace.
 */
export async function openService(
  context: RunContext,
  desired: Desired,
  kills: KillSender,
): Promise<OpenedService> {
  const reader = await context.openReader(desired);
  await kills.sendAdded(desired);
  const workspace = await findWorkspace(reader, desired.config.workspace);
  context.memory.place = { desired, workspace: workspace.workspace };
  noteRun({ 'flagkeel.workspace': workspace.workspace.name });
  return { reader, workspace };
}

/** @throws FlagkeelError `OLDER_HEAD`: an earlier run applied a newer commit. */
export async function readState(
  context: RunContext,
  home: StateHome | null,
  desired: BoundDesired,
): Promise<Remembered> {
  context.memory.states.intern = internBases(desired);
  const last = await traced('read state', async () => home?.read());
  const { commit, state, head: applied, outOfSync, ramps, approvals } = last ?? NO_STATE;
  const isBehind = await isBehindApplied(context, applied);
  const isWritten = applied !== null || state.size > 0;
  return { home, commit, state, applied, isBehind, outOfSync, isWritten, ramps, approvals };
}

const NO_STATE = { ...NOTHING, commit: null };

/** The sender of kills, which go out before all else in a run. @param killing null for a dry run. */
export function openKillLane(context: RunContext, killing: Killing | null): KillSender {
  // An unreadable state must not stop kills.
  const peeked = async (place: Workspace): Promise<Partial<StateReading>> =>
    (async () => (await (await context.peekState(place))?.read()) ?? {})().catch(() => ({}));
  return new KillSender(
    {
      ...context,
      isOutdated: async (place) => isOlderThan(context, (await peeked(place)).head ?? null),
      killsSentOf: async (place) => {
        const { head = null, killsOf = null } = await peeked(place);
        if (head === null || killsOf === null) return head ?? killsOf;
        const { checkout } = context.source;
        return isOlder(checkout, head, killsOf).then(
          (isBefore) => (isBefore ? killsOf : head),
          () => null,
        );
      },
      record: async (place, results) =>
        recordKills(context, place, results, context.source.revision.commit),
    },
    killing,
  );
}

/** Whether an earlier run applied a newer commit, which this HEAD would revert. */
async function isOlderThan(
  { source, options }: RunContext,
  applied: string | null,
): Promise<boolean> {
  const head = source.revision.commit;
  if (options.allowOlder || head === null || applied === null) return false;
  return isOlder(source.checkout, head, applied);
}

/** @throws FlagkeelError `OLDER_HEAD`: HEAD is behind the applied commit, which the run would revert. */
async function isBehindApplied(context: RunContext, applied: string | null): Promise<boolean> {
  const head = context.source.revision.commit;
  if (head === null || applied === null || !(await isOlderThan(context, applied))) return false;
  if (context.options.mayBeBehind === true) {
    context.note(
      `HEAD ${head.slice(0, 8)} is behind ${applied.slice(0, 8)}, the commit of the last apply: only what its review covers is looked at, and what later commits changed is left alone`,
    );
    return true;
  }
  throw new FlagkeelError(
    'OLDER_HEAD',
    `cannot go back to ${head.slice(0, 8)}: the last apply was of ${applied.slice(0, 8)}, which is newer (use --allow-older)`,
  );
}
