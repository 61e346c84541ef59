import type { ObjectId } from '../model/object-id.js';
import type { Plan } from '../model/plan.js';
import type { Words } from '../model/run.js';
import { isOlderThan } from './head-order.js';
import type { KillResults } from './kill-lane.js';
import type { KillContext } from './killing.js';
import type { RunContext } from './run.js';

/** What the lane of the kills needs to know of a run. */
export function killContextOf(context: RunContext): KillContext {
  const { source, options, openReader } = context;
  return {
    source,
    options,
    openReader,
    isOutdated: async (place) => {
      const applied = async (): Promise<string | null> => {
        const home = await context.peekState(place);
        return (await home?.read())?.head ?? null;
      };
      // Kills do not wait for a state that cannot be read.
      return isOlderThan(context, await applied().catch(() => null));
    },
  };
}

/** A change that is a kill and nothing else has the words that the kill went out with. */
export function killsInTheirWords(
  words: ReadonlyMap<ObjectId, Words>,
  { changes }: Plan,
  kills: KillResults,
): ReadonlyMap<ObjectId, Words> {
  const sent = changes.flatMap(({ id, fields }): [ObjectId, Words][] => {
    const result = kills.get(id);
    return result?.status === 'killed' && fields.length === 1 ? [[id, result.words]] : [];
  });
  return new Map([...words, ...sent]);
}

export function killedIn(kills: KillResults): ReadonlySet<ObjectId> {
  return new Set([...kills].flatMap(([id, { status }]) => (status === 'killed' ? [id] : [])));
}
