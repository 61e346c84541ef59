import type { Workspace } from '../admin-api/workspace.js';
import { FlagkeelError } from '../errors.js';
import { flagIdsIn } from '../kill/send.js';
import { present } from '../model/collections.js';
import { flagEntry, type State } from '../model/state.js';
import { afterRestore } from '../plan/kills/plan.js';
import { objectId, type ObjectId } from '../model/ref.js';
import type {
  ChangeNote,
  KillResult,
  KillResults,
  LoggedChange,
  LoggedField,
  LoggedWrite,
  Outcome,
  Outcomes,
} from '../model/outcome.js';
import { keyCounts, type Change } from '../model/plan.js';
import { plural } from '../report/values.js';
import { applyMessage, type LoggedApply } from '../state/run-log.js';
import type { StateHome, StateMeta } from '../state/store.js';
import type { Planned, RunContext } from './context.js';

/**
 * The record of a run for `flagkeel history`, without kills that were sent, and recorded, before the plan was made.
 *
 * @param ended missing at the beginning of the run.
 */
export function runMessage(
  verb: 'Begin' | 'Apply',
  { plan, notes, kills }: Pick<Planned, 'plan' | 'notes' | 'kills'>,
  head: string | null,
  ended?: { readonly outcomes: Outcomes; readonly isInterrupted: boolean },
): Pick<StateMeta, 'message' | 'isRecord'> {
  const outcomes = ended?.outcomes;
  const changes = kills.stillToWrite(plan.changes).map((change): LoggedChange => {
    const { id, action } = change;
    const note = notes.get(id);
    const outcome = outcomes?.get(id);
    const isWritten = outcome !== undefined && mayHaveWritten(outcome);
    return {
      outcome: outcomes ? (outcome?.status ?? 'skipped') : 'planned',
      action,
      id,
      title: note?.title ?? '',
      ...(note && isWritten && { written: loggedWrite(change, note.comment) }),
    };
  });
  const subject = `${verb} ${shortHead(head)}: ${plural(changes.length, 'change')}`;
  return {
    message: applyMessage(subject, head, changes, ended),
    isRecord: changes.some(({ written }) => written !== undefined),
  };
}

function mayHaveWritten(outcome: Outcome): boolean {
  if (outcome.status === 'applied' || outcome.partly === true) return true;
  return outcome.status === 'failed' && outcome.fateUnknown === true;
}

/** In characters of JSON. */
const MAX_VALUE = 10_000;

export function loggedWrite(
  { fields, keys }: Pick<Change, 'fields' | 'keys'>,
  comment: string,
): LoggedWrite {
  const logged = fields.map(({ path, before, after, keys: targets }): LoggedField => {
    const [was, is] = [before, after].map(ifShort);
    return { path, ...present({ before: was, after: is, keys: targets && keyCounts(targets) }) };
  });
  return { comment, fields: logged, ...present({ keys: keys && keyCounts(keys) }) };
}

function ifShort(value: unknown): unknown {
  const isLong = value !== undefined && JSON.stringify(value).length > MAX_VALUE;
  return isLong ? undefined : value;
}

/** Creations of interrupted runs, by id; empty if the last run was not interrupted, or did not come to its end. */
export interface Interrupted {
  /** Planned by the last run and not sent. It saw no such objects. */
  readonly unsent: ReadonlySet<string>;
  /** Made by the last run, or by interrupted runs right before it. */
  readonly made: ReadonlySet<string>;
}

/** Records of kills, restores and used approvals may stand between those of runs. */
const LOOKED_BACK = 10;
const OUTSIDE_RUNS = /^(Kill|Restore|Use approval) /;
export const BEGINNING = 'Begin ';
const ENDING = 'Apply ';

/** Whether a run of a commit came to its end, and not only its kills were sent. Unreadable records must not stop kills. */
export async function wasApplied(home: StateHome | null, commit: string): Promise<boolean> {
  const log = (await home?.history(null).catch(() => null)) ?? [];
  return log.some(({ head, subject }) => head === commit && subject.startsWith(ENDING));
}

export async function interruptedIn(home: StateHome | null): Promise<Interrupted> {
  const log = (await home?.history(null, LOOKED_BACK)) ?? [];
  const runs = log.filter(({ subject }) => !OUTSIDE_RUNS.test(subject));
  const cut = runs.slice(0, endOfInterrupted(runs));
  const creations = cut.map(({ changes }) => changes.filter(({ action }) => action === 'create'));
  const unsent = creations[0]?.filter(({ outcome, written }) => outcome === 'skipped' && !written);
  const made = creations.flat().filter(({ outcome }) => outcome === 'applied');
  const idsOf = (changes: readonly LoggedChange[] = []): ReadonlySet<string> =>
    new Set(changes.map(({ id }) => id));
  return { unsent: idsOf(unsent), made: idsOf(made) };
}

/** The number of newest records from interrupted runs, each of which wrote one at its beginning and one at its end. */
function endOfInterrupted(runs: readonly LoggedApply[]): number {
  const other = runs.findIndex((each, index) =>
    index % 2 === 0 ? !each.isInterrupted : !each.subject.startsWith(BEGINNING),
  );
  return other === -1 ? runs.length : other;
}

function shortHead(head: string | null): string {
  return head?.slice(0, 8) ?? 'a directory without commits';
}

type RecordContext = Pick<RunContext, 'openRecords' | 'note'>;

/** Records the kills of a run right after they were sent, even if the run fails later. Never throws; not repeatable. */
export async function recordKills(
  context: RecordContext,
  place: Workspace,
  results: KillResults,
  head: string | null,
): Promise<void> {
  const isWhole = [...results.values()].every(({ status }) => status !== 'failed');
  const changes = [...results].flatMap(([id, result]): LoggedChange[] => {
    const { status } = result;
    if (status === 'absent' || result.note === undefined || !mayBeSent(result)) return [];
    const wasKilled = status === 'killed' && result.unseen !== true ? false : null;
    const change = liveChange(id, { isKill: true, wasKilled, note: result.note });
    return [status === 'failed' ? { ...change, outcome: status } : change];
  });
  if (changes.length === 0) return;
  const subject = `Kill for ${shortHead(head)}: ${plural(changes.length, 'change')}`;
  await record(context, place, {
    message: applyMessage(subject, head, changes),
    ...(isWhole && head !== null && { killsOf: head }),
    flagIds: flagIdsIn(results),
  });
}

function mayBeSent(result: KillResult): boolean {
  if (result.status !== 'failed') return result.status === 'killed';
  return result.error instanceof FlagkeelError && result.error.fateUnknown;
}

export interface ActRecord {
  readonly flag: string;
  /** Name on the service. */
  readonly environment: string;
  readonly isKill: boolean;
  /** null if unknown: the record leaves the old value out then. */
  readonly wasKilled: boolean | null;
  readonly note: ChangeNote;
}

/**
 * Records a kill or restore by hand, outside all runs. A restore ends the kill of the base too. Never throws; not
 * repeatable.
 */
export async function recordAct(
  context: RecordContext,
  place: Workspace,
  act: ActRecord,
): Promise<void> {
  const { flag: name, environment, isKill } = act;
  const id = objectId({ kind: 'flag', name, environment });
  const subject = `${isKill ? 'Kill' : 'Restore'} ${id} by hand`;
  const change = liveChange(id, act);
  const environmentId = place.environments.find((each) => each.name === environment)?.id;
  const next = (state: State): State =>
    isKill || environmentId === undefined ? state : afterRestore(state, name, environmentId);
  await record(context, place, { message: applyMessage(subject, null, [change]) }, next);
}

function liveChange(
  id: ObjectId,
  { isKill, wasKilled, note }: Omit<ActRecord, 'flag' | 'environment'>,
): LoggedChange {
  const action = isKill ? 'kill' : 'restore';
  const field: Change['fields'][number] = {
    path: '/killed',
    reason: action,
    ...(wasKilled !== null && { before: wasKilled }),
    after: isKill,
  };
  const written: LoggedWrite = loggedWrite({ fields: [field] }, note.comment);
  return { outcome: 'applied', action, id, title: note.title, written };
}

/** Tries against runs that write the state at the same time. */
const MAX_TRIES = 5;

/** Adds a record to the state, without a lock. A failure causes only a warning, because the write itself has succeeded. */
async function record(
  { openRecords, note }: RecordContext,
  place: Workspace,
  meta: Pick<StateMeta, 'message' | 'killsOf' | 'flagIds'>,
  next: (state: State) => State = (state) => state,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      const home = await openRecords(place);
      if (!home) return;
      const { state, head, flagIds: known } = await home.read();
      const ids = Object.entries(meta.flagIds ?? {});
      const others = ids.filter(([name]) => flagEntry(state, name) === undefined);
      const flagIds = { ...known, ...Object.fromEntries(others) };
      await home.write(next(state), { ...meta, head, flagIds, isRecord: true });
      return;
    } catch (error) {
      if (!(error instanceof FlagkeelError)) throw error;
      if (error.code === 'IN_USE' && tries < MAX_TRIES) continue;
      note(`Not recorded in the history: ${error.message}`);
      return;
    }
  }
}
