import { FlagkeelError, isRefusedWith } from '../errors.js';
import { environmentNames } from '../model/bound-desired.js';
import type { Workspace } from '../admin-api/workspace.js';
import { look, type Look } from '../admin-api/look.js';
import type { AdminReader } from '../admin-api/reader.js';
import type { AdminWriter } from '../admin-api/writer.js';
import type { Checkout } from '../git/checkout.js';
import type { Source } from '../git/spec-source.js';
import { traced, type Facts } from '../platform/telemetry.js';
import { truncateNote } from '../model/audit-note.js';
import type { Desired } from '../model/desired.js';
import { objectId, refOfId, type ObjectId, type ObjectRef } from '../model/ref.js';
import type { KillResult, KillResults, ChangeNote } from '../model/outcome.js';
import type { KillOrder } from '../plan/kills/orders.js';
import { attribute } from '../history/change-notes.js';
import type { Forms } from '../history/spec-history.js';
import { readSpecs } from '../specs/read-specs.js';
import type { SpecCache } from '../specs/cache.js';
import { killsIn } from './in-git.js';

export interface Killing {
  readonly openWriter: () => AdminWriter;
  /** Replaces title or comment from the commits. */
  readonly note: Partial<ChangeNote>;
  readonly onKill: (id: ObjectId, result: KillResult) => void;
}

interface KillLane extends Killing {
  /** null sends kills without reading first; one that the service does not find is `absent` then. */
  readonly reader: AdminReader | null;
  /** Name → id of flags, as the state remembers them. */
  readonly flagIds: ReadonlyMap<string, string>;
  readonly checkout: Checkout;
  readonly head: string | null;
  readonly specs: SpecCache;
}

/**
 * Sends the kills that git orders and the service lacks, in all environments at once and before any other request: at
 * most one reading, and one patch of `/killed` for each.
 *
 * A failed kill does not stop the others, and a kill whose definition cannot be read or found is sent nevertheless,
 * unless the service shows that there is none. Never throws on failures of the service.
 *
 * @throws FlagkeelError `INTERRUPTED` during the readings.
 */
export async function sendKills(
  placed: readonly PlacedKill[],
  place: Workspace,
  lane: KillLane,
): Promise<KillResults> {
  const looked = await Promise.all(placed.map(async (each) => readLive(each, place, lane)));
  const due = looked.filter(({ live }) => live?.is !== 'seen' || !live.definition.killed);
  const sending = due.filter(({ live }) => live?.is !== 'absent');
  const notes = sending.length > 0 ? await killNotes(sending, place, lane) : null;
  const writer = sending.length > 0 ? lane.openWriter() : null;
  const answers = await Promise.all(
    due.map(async (each): Promise<[ObjectId, KillResult][]> => {
      const { id, order, live } = each;
      const note = notes?.get(id) ?? plainNote(each);
      const answer: KillResult =
        !writer || live?.is === 'absent'
          ? { status: 'absent' }
          : await traced(
              'write',
              async () => send(each, place, { writer, note, lane }),
              { 'flagkeel.object': id, 'flagkeel.action': 'kill-flag' },
              resultFacts,
            );
      // A declared definition that the service lacks will be created killed, which needs no report here.
      return answer.status === 'absent' && order.isDeclared === true ? [] : [[id, answer]];
    }),
  );
  const results = answers.flat();
  for (const [id, result] of results) {
    if (lane.reader !== null || result.status !== 'absent') lane.onKill(id, result);
  }
  return new Map(results);
}

function resultFacts(result: KillResult): Facts {
  if (result.status !== 'failed') return { 'flagkeel.result': result.status };
  const { error } = result;
  const code = error instanceof FlagkeelError ? error.code : 'BUG';
  return { 'flagkeel.result': 'failed', 'error.type': code };
}

export interface PlacedKill {
  readonly id: ObjectId;
  readonly ref: ObjectRef;
  readonly order: KillOrder;
  readonly environmentId: string;
}

interface Looked extends PlacedKill {
  /** null if there was no look, or it failed. */
  readonly live: Look | null;
}

async function readLive(
  placed: PlacedKill,
  { workspace }: Workspace,
  { reader, flagIds }: KillLane,
): Promise<Looked> {
  const { order, environmentId } = placed;
  if (!reader) return { ...placed, live: null };
  try {
    const place = { workspaceId: workspace.id, environmentId };
    const flag = { name: order.flag, id: flagIds.get(order.flag) };
    const live = await look(reader, place, flag);
    // The observation of the plan finds it by this id, even if the flag is in no inventory.
    if (live.is === 'seen') reader.learnFlag(workspace.id, live.definition);
    return { ...placed, live };
  } catch (error) {
    // The next run looks again.
    if (error instanceof FlagkeelError && error.code === 'INTERRUPTED') throw error;
    // After a failed reading, the kill is sent anyway: it does no harm to kill twice.
    return { ...placed, live: null };
  }
}

async function send(
  { order: { flag, environment }, environmentId, live }: Looked,
  { workspace }: Workspace,
  { writer, note, lane }: { writer: AdminWriter; note: ChangeNote; lane: KillLane },
): Promise<KillResult> {
  const fitted = truncateNote({ ...note, ...lane.note }, note.title);
  const place = { workspaceId: workspace.id, environmentId, note: fitted };
  try {
    const { killed } = await writer.send({ action: 'kill-flag', flag, environment }, place);
    const flagId = killed?.id ?? (live?.is === 'seen' ? live.definition.id : undefined);
    if (killed) lane.reader?.learnFlag(workspace.id, killed);
    const unseen = live?.is !== 'seen' && { unseen: true as const };
    return { status: 'killed', note: fitted, ...unseen, ...(flagId !== undefined && { flagId }) };
  } catch (error) {
    // The service could not show the definition, and now shows that it does not exist.
    if (live?.is === 'unknown' && isRefusedWith(error, [404])) return { status: 'absent' };
    if (lane.reader === null && isNotFoundSo(error)) return { status: 'absent' };
    return { status: 'failed', error, note: fitted };
  }
}

/** Most commits to read the specs of: few, because kills wait for their notes. Older ones are judged by their files. */
const MAX_COMMITS = 20;

const KILLED: Forms = new Map([['/killed', 'true']]);

/**
 * Title and comment of kills from the newest commit that ordered each, even if its specs are invalid; null without
 * history. Never throws, because a fault of git must not stop a kill.
 */
async function killNotes(
  orders: readonly PlacedKill[],
  { environments }: Workspace,
  { checkout, head, specs: cache }: Pick<KillLane, 'checkout' | 'head' | 'specs'>,
): Promise<ReadonlyMap<ObjectId, ChangeNote> | null> {
  if (checkout.repository === null || head === null) return null;
  const names = environmentNames(environments);
  try {
    const found = await attribute(checkout, {
      head,
      requests: orders.map(({ id, ref }) => {
        const parts = [{ paths: null, base: null, isDrift: false }];
        return { id, ref, action: 'kill', reason: 'kill', parts };
      }),
      snapshotsAt: async (tree, refs) => {
        const ordered = killsIn(await readSpecs(tree, cache));
        const isOrdered = (ref: ObjectRef): boolean =>
          ordered.some(
            ({ flag, environment }) =>
              flag === ref.name && (names.get(environment) ?? environment) === ref.environment,
          );
        return new Map(refs.map((ref) => [objectId(ref), isOrdered(ref) ? KILLED : undefined]));
      },
      maxCommits: MAX_COMMITS,
    });
    return new Map(orders.map((each, index) => [each.id, found[index] ?? plainNote(each)]));
  } catch {
    return null;
  }
}

function plainNote({ id, order }: PlacedKill): ChangeNote {
  const title = `flagkeel: kill ${id}`;
  const by = order.by === undefined ? '' : ` (${order.by})`;
  return truncateNote({ title, comment: `${order.reason}${by}` }, title);
}

export interface KillSurroundings {
  readonly source: Source;
  readonly openReader: (desired: Desired) => Promise<AdminReader>;
  /** The only workspace of this name or id in the states; null if none or several have it. Sends no request. */
  readonly rememberedPlace: (workspace: string) => Promise<RememberedPlace | null>;
  /** Name → id of the flags that the state knows; empty if it cannot be read. */
  readonly flagIdsOf: (place: Workspace) => Promise<ReadonlyMap<string, string>>;
}

export interface RememberedPlace {
  readonly workspaceId: string;
  /** Id → name. */
  readonly environments?: Readonly<Record<string, string>> | undefined;
}

/** Name → id of the killed flags, as far as the answers show ids. */
export function flagIdsIn(results: KillResults): Readonly<Record<string, string>> {
  const ids = [...results].flatMap(([id, result]): [string, string][] => {
    const name = refOfId(id)?.name;
    if (result.status !== 'killed' || result.flagId === undefined) return [];
    return name === undefined ? [] : [[name, result.flagId]];
  });
  return Object.fromEntries(ids);
}

/** Whether the service refused a path with names, which may mean that it only knows ids, or a method. */
export function isNotFoundSo(error: unknown): boolean {
  return isRefusedWith(error, [400, 404, 405]);
}
