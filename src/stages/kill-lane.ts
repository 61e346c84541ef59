import { findEnvironment, type Place } from '../api/connect.js';
import type { AdminReader } from '../api/reader.js';
import { KILL, type WireEnvironment } from '../api/wire.js';
import type { AdminWriter } from '../api/writer.js';
import type { Checkout } from '../git/checkout.js';
import { fitWords } from '../git/words.js';
import type { Actual } from '../model/actual.js';
import { objectId, type ObjectId } from '../model/object-id.js';
import type { Words } from '../model/run.js';
import type { KillOrder } from '../plan/kill-orders.js';
import { killWords, type PlacedOrder } from './kill-words.js';

/** How one kill went; `absent`: the flag has no definition there, and nothing was sent. */
export type KillResult =
  | { readonly status: 'killed'; readonly words: Words }
  | { readonly status: 'absent' }
  | { readonly status: 'failed'; readonly error: unknown };

/** The kills of one run that were not on the service yet; in the order of the specs. */
export type KillResults = ReadonlyMap<ObjectId, KillResult>;

export interface KillLane {
  readonly reader: AdminReader;
  readonly openWriter: () => AdminWriter;
  readonly checkout: Checkout;
  readonly head: string | null;
  /** Replace what the commits say. */
  readonly words: Partial<Words>;
  readonly isInReach: (flag: string, environment: PlacedEnvironment) => boolean;
  readonly onKill: (id: ObjectId, result: KillResult) => void;
}

/** An environment by the name that the config has for it, and by those of the service. */
export interface PlacedEnvironment extends WireEnvironment {
  readonly configName: string;
}

/**
 * Sends the kills that git orders and the service does not have, in all environments at once and before anything else
 * is asked of the service: one reading and one patch of `/killed` for each.
 *
 * Stopped by nothing: a kill that fails leaves the others to go on, and one whose definition cannot be read is sent
 * all the same. Never throws on what the service does.
 */
export async function sendKills(
  orders: readonly KillOrder[],
  place: Place,
  lane: KillLane,
): Promise<KillResults> {
  const placed = orders.flatMap((order) => placedOrder(order, place, lane));
  const live = await Promise.all(placed.map(async (each) => readLive(each, place, lane)));
  const due = placed.filter(({ order }, index) => {
    return live[index] === 'alive' || (live[index] === 'absent' && order.isDeclared !== true);
  });
  const isThere = new Set(placed.filter((_, index) => live[index] !== 'absent'));
  const sending = due.filter((each) => isThere.has(each));
  const words =
    sending.length > 0
      ? await killWords(sending, lane.checkout, lane.head)
      : new Map<ObjectId, Words>();
  const writer = sending.length > 0 ? lane.openWriter() : null;
  const results = await Promise.all(
    due.map(async (each): Promise<[ObjectId, KillResult]> => {
      const id = objectId(each.ref);
      if (!writer || !isThere.has(each)) return [id, { status: 'absent' }];
      return [id, await send(each, place, { writer, words: words.get(id), given: lane.words })];
    }),
  );
  for (const [id, result] of results) lane.onKill(id, result);
  return new Map(results);
}

interface Placed extends PlacedOrder {
  readonly environmentId: string;
}

/** An environment that the service lacks keeps no other from its kills; the run says so later. */
function placedOrder(order: KillOrder, place: Place, { isInReach }: KillLane): Placed[] {
  const { flag, environment: configName } = order;
  let environment: WireEnvironment;
  try {
    environment = findEnvironment(place, configName);
  } catch {
    return [];
  }
  if (!isInReach(flag, { ...environment, configName })) return [];
  const ref = { kind: 'flag' as const, name: flag, environment: environment.name };
  return [{ ref, order, environmentId: environment.id }];
}

async function readLive(
  { order, environmentId }: Placed,
  { workspace }: Place,
  { reader }: KillLane,
): Promise<'killed' | 'alive' | 'absent'> {
  try {
    const live = await reader.getDefinition(workspace.id, environmentId, { name: order.flag });
    if (!live) return 'absent';
    return live.killed ? 'killed' : 'alive';
  } catch {
    // A reading that fails is no reason to leave it on: killing twice is killing once.
    return 'alive';
  }
}

async function send(
  { ref, order, environmentId }: Placed,
  { workspace }: Place,
  {
    writer,
    words,
    given,
  }: { writer: AdminWriter; words: Words | undefined; given: Partial<Words> },
): Promise<KillResult> {
  if (!words) throw new Error(`bug: the kill of ${objectId(ref)} has no title`);
  const fitted = fitWords({ ...words, ...given }, words.title);
  const place = { workspaceId: workspace.id, environmentId, flag: order.flag };
  try {
    await writer.patchDefinition(place, KILL, fitted);
    return { status: 'killed', words: fitted };
  } catch (error) {
    return { status: 'failed', error };
  }
}

/** What was looked at after the kills as it was before them, so that the plan shows them as what they are: changes. */
export function beforeKills(actual: Actual, results: KillResults): Actual {
  const flags = new Map(actual.flags);
  for (const [name, flag] of flags) {
    const definitions = new Map(flag.definitions);
    for (const [environment, live] of definitions) {
      const result = results.get(objectId({ kind: 'flag', name, environment }));
      if (live && result?.status === 'killed')
        definitions.set(environment, { ...live, killed: false });
    }
    flags.set(name, { ...flag, definitions });
  }
  return { ...actual, flags };
}
