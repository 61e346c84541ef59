import type { Checkout } from '../git/checkout.js';
import { attribute } from '../git/history.js';
import { fitWords } from '../git/words.js';
import { objectId, type ObjectId, type ObjectRef } from '../model/object-id.js';
import type { Words } from '../model/run.js';
import { killOrders, type KillOrder } from '../plan/kill-orders.js';
import { readSpecs } from '../specs/read-specs.js';
import { SpecMemory } from '../specs/spec-memory.js';

/** A kill waits for its words: the commits that are looked into are few, older ones are judged by their files. */
const MAX_COMMITS = 20;

/** A kill that is about to be sent, with the object that it kills. */
export interface PlacedOrder {
  readonly ref: ObjectRef;
  readonly order: KillOrder;
}

/**
 * Title and comment of kills: of the newest commit that ordered each, also where its specs are invalid; without
 * history what the order itself says. Never throws: a kill does not wait for git to be well.
 */
export async function killWords(
  orders: readonly PlacedOrder[],
  checkout: Checkout,
  head: string | null,
): Promise<ReadonlyMap<ObjectId, Words>> {
  const plain = new Map(orders.map((each) => [objectId(each.ref), plainWords(each)]));
  if (checkout.repository === null || head === null) return plain;
  const configNames = new Map(orders.map(({ ref, order }) => [objectId(ref), order.environment]));
  const cache = new SpecMemory();
  try {
    const found = await attribute(checkout, {
      head,
      requests: orders.map(({ ref }) => {
        return { id: objectId(ref), ref, base: null, action: 'kill', reason: 'kill' };
      }),
      formsAt: async (tree, refs) => {
        const specs = await readSpecs(tree, cache);
        const ordered = specs.ok ? killOrders(specs.desired) : specs.kills;
        const isOrdered = (ref: ObjectRef): boolean =>
          ordered.some(
            ({ flag, environment }) =>
              flag === ref.name && environment === configNames.get(objectId(ref)),
          );
        return new Map(refs.map((ref) => [objectId(ref), isOrdered(ref) ? 'killed' : undefined]));
      },
      maxCommits: MAX_COMMITS,
    });
    return new Map([...plain, ...found]);
  } catch {
    return plain;
  }
}

function plainWords({ ref, order }: PlacedOrder): Words {
  const title = `flaghoist: kill ${objectId(ref)}`;
  const by = order.by === undefined ? '' : ` (${order.by})`;
  return fitWords({ title, comment: `${order.reason}${by}` }, title);
}
