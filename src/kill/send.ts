import { FlagkeelError } from '../errors.js';
import { environmentNames } from '../model/bound-desired.js';
import { findEnvironment, type Workspace } from '../admin-api/workspace.js';
import type { AdminReader } from '../admin-api/reader.js';
import { KILL } from '../admin-api/wire.js';
import type { AdminWriter } from '../admin-api/writer.js';
import type { Checkout } from '../git/checkout.js';
import { traced, type Facts } from '../platform/telemetry.js';
import { truncateNote } from '../model/audit-note.js';
import { objectId, type ObjectId, type ObjectRef } from '../model/ref.js';
import type { KillResult, KillResults, ChangeNote } from '../model/outcome.js';
import { type KillOrder, killOrders } from '../plan/kills/orders.js';
import { isNotFoundSo, isNotThere, liveDefinition } from './live-definition.js';
import { attribute } from '../history/attribute.js';
import type { Forms } from '../history/snapshots.js';
import { readSpecs } from '../specs/read-specs.js';
import type { SpecCache } from '../specs/cache.js';

export interface KillLane {
  /** Null: nothing is looked at, and a kill that the service does not find is `absent`. */
  readonly reader: AdminReader | null;
  readonly openWriter: () => AdminWriter;
  readonly checkout: Checkout;
  readonly head: string | null;
  /** Replace what the commits say. */
  readonly note: Partial<ChangeNote>;
  readonly specs: SpecCache;
  readonly onKill: (id: ObjectId, result: KillResult) => void;
}

/**
 * Sends the kills that git orders and the service does not have, in all environments at once and before anything else
 * is asked of the service: at most one reading, and one patch of `/killed` for each.
 *
 * Stopped by nothing: a kill that fails leaves the others to go on, and one whose definition cannot be read or found is
 * sent all the same, unless the service shows that there is none. Never throws on what the service does.
 *
 * @throws FlagkeelError `INTERRUPTED` while it was looked.
 */
export async function sendKills(
  placed: readonly PlacedKill[],
  place: Workspace,
  lane: KillLane,
): Promise<KillResults> {
  const looked = await Promise.all(placed.map(async (each) => readLive(each, place, lane)));
  const due = looked.filter(({ live }) => live !== 'killed');
  const sending = due.filter(({ live }) => live !== 'absent');
  const note =
    sending.length > 0 ? await killNotes(sending, place, lane) : new Map<ObjectId, ChangeNote>();
  const writer = sending.length > 0 ? lane.openWriter() : null;
  const answers = await Promise.all(
    due.map(async (each): Promise<KillResult> => {
      if (!writer || each.live === 'absent') return { status: 'absent' };
      const words = { note: note.get(objectId(each.ref)), given: lane.note };
      return traced(
        'write',
        async () => send(each, place, { writer, ...words }),
        { 'flagkeel.object': objectId(each.ref), 'flagkeel.action': 'kill-flag' },
        resultFacts,
      );
    }),
  );
  // What the specs declare and the service does not have yet is made killed, and is nothing to tell of.
  const results = due.flatMap(({ ref, order }, index): [ObjectId, KillResult][] => {
    const answer = answers[index];
    const isToMake = answer?.status === 'absent' && order.isDeclared === true;
    return answer === undefined || isToMake ? [] : [[objectId(ref), answer]];
  });
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

/** A kill with the object that it kills. */
export interface PlacedKill {
  readonly ref: ObjectRef;
  readonly order: KillOrder;
  readonly environmentId: string;
}

/** The kills that are in reach. An environment that the service lacks keeps no other from its kills; the run says so later. */
export function placedKills(
  orders: readonly KillOrder[],
  place: Workspace,
  isInReach: (flag: string, environment: Workspace['environments'][number]) => boolean,
): PlacedKill[] {
  return orders.flatMap((order) => {
    const { flag } = order;
    let environment: Workspace['environments'][number];
    try {
      environment = findEnvironment(place, order.environment);
    } catch {
      return [];
    }
    if (!isInReach(flag, environment)) return [];
    const ref = { kind: 'flag' as const, name: flag, environment: environment.name };
    return [{ ref, order, environmentId: environment.id }];
  });
}

/** An order, and what was found where it goes. `unknown`: nothing, and that proves nothing. `unlooked`: the service was not asked. */
interface Looked extends PlacedKill {
  readonly live: 'killed' | 'alive' | 'absent' | 'unknown' | 'unlooked';
}

async function readLive(
  placed: PlacedKill,
  { workspace }: Workspace,
  { reader }: KillLane,
): Promise<Looked> {
  const { order, environmentId } = placed;
  if (!reader) return { ...placed, live: 'unlooked' };
  try {
    const place = { workspaceId: workspace.id, environmentId };
    const live = await liveDefinition(reader, place, order.flag);
    if (!live) return { ...placed, live: live === null ? 'unknown' : 'absent' };
    return { ...placed, live: live.killed ? 'killed' : 'alive' };
  } catch (error) {
    // The run that comes next looks again.
    if (error instanceof FlagkeelError && error.code === 'INTERRUPTED') throw error;
    // A reading that fails is no reason to leave it on: killing twice is killing once.
    return { ...placed, live: 'alive' };
  }
}

async function send(
  { ref, order, environmentId, live }: Looked,
  { workspace }: Workspace,
  {
    writer,
    note,
    given,
  }: { writer: AdminWriter; note: ChangeNote | undefined; given: Partial<ChangeNote> },
): Promise<KillResult> {
  if (!note) throw new Error(`bug: the kill of ${objectId(ref)} has no title`);
  const fitted = truncateNote({ ...note, ...given }, note.title);
  const place = { workspaceId: workspace.id, environmentId, flag: order.flag };
  try {
    await writer.patchDefinition(place, KILL, fitted);
    return { status: 'killed', note: fitted };
  } catch (error) {
    // The service that could not show it says now that it is not there.
    if (live === 'unknown' && isNotThere(error)) return { status: 'absent' };
    if (live === 'unlooked' && isNotFoundSo(error)) return { status: 'absent' };
    return { status: 'failed', error, note: fitted };
  }
}

/** A kill waits for its note: the commits that are looked into are few, older ones are judged by their files. */
const MAX_COMMITS = 20;

const KILLED: Forms = new Map([['/killed', 'true']]);

/**
 * Title and comment of kills: of the newest commit that ordered each, also where its specs are invalid; without
 * history what the order itself says. Never throws: a kill does not wait for git to be well.
 */
async function killNotes(
  orders: readonly PlacedKill[],
  { environments }: Workspace,
  { checkout, head, specs: cache }: Pick<KillLane, 'checkout' | 'head' | 'specs'>,
): Promise<ReadonlyMap<ObjectId, ChangeNote>> {
  const plain = new Map(orders.map((each) => [objectId(each.ref), plainNote(each)]));
  if (checkout.repository === null || head === null) return plain;
  const names = environmentNames(environments);
  try {
    const found = await attribute(checkout, {
      head,
      requests: orders.map(({ ref }) => {
        const parts = [{ paths: null, base: null, isDrift: false }];
        return { id: objectId(ref), ref, action: 'kill', reason: 'kill', parts };
      }),
      snapshotsAt: async (tree, refs) => {
        const specs = await readSpecs(tree, cache);
        const ordered = specs.ok ? killOrders(specs.desired) : specs.kills;
        const isOrdered = (ref: ObjectRef): boolean =>
          ordered.some(
            ({ flag, environment }) =>
              flag === ref.name && (names.get(environment) ?? environment) === ref.environment,
          );
        return new Map(refs.map((ref) => [objectId(ref), isOrdered(ref) ? KILLED : undefined]));
      },
      maxCommits: MAX_COMMITS,
    });
    return new Map(
      orders.map((each, index) => [objectId(each.ref), found[index] ?? plainNote(each)]),
    );
  } catch {
    return plain;
  }
}

function plainNote({ ref, order }: PlacedKill): ChangeNote {
  const title = `flagkeel: kill ${objectId(ref)}`;
  const by = order.by === undefined ? '' : ` (${order.by})`;
  return truncateNote({ title, comment: `${order.reason}${by}` }, title);
}
