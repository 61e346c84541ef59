import type { AdminReader } from './reader.js';
import type { WireDefinition } from './wire.js';

export interface DefinitionTarget {
  readonly workspaceId: string;
  /** May be its name on services that accept names. */
  readonly environmentId: string;
  /** Name. */
  readonly flag: string;
}

/**
 * `absent`: the service says so, under the name and under each id of the flag that is known, or it has no such flag.
 * `unknown`: the name does not find it, no id is known, and the service does not show flags; it may exist.
 */
export type Look =
  | { readonly is: 'seen'; readonly definition: WireDefinition }
  | { readonly is: 'absent' }
  | { readonly is: 'unknown' };

const ABSENT: Look = { is: 'absent' };
const UNKNOWN: Look = { is: 'unknown' };

/**
 * Looks at one definition: by the name of its flag, then by the ids that are known, then by the id that the service
 * shows for the flag, because some services find definitions by that alone.
 *
 * @param flag its `id` is the one that the state remembers; the reader adds those from other answers of the run.
 * @param flags how to learn the id of a flag that the run does not know: `one` asks for the flag, `list` also for all
 * flags if that shows nothing, `asked` sends no request, because the caller has done either.
 * @throws FlagkeelError a request failed: nothing follows from that.
 */
export async function look(
  reader: AdminReader,
  { workspaceId, environmentId }: Omit<DefinitionTarget, 'flag'>,
  { name, id }: { readonly name: string; readonly id?: string | undefined },
  flags: 'one' | 'list' | 'asked' = 'one',
): Promise<Look> {
  const said = reader.flagSaid(workspaceId, name);
  const shownIds = said === undefined || said === 'absent' ? [] : said.ids;
  const ids = [...(id === undefined ? [] : [id]), ...shownIds];
  const tried = new Set<string>();
  for (const key of [name, ...ids]) {
    if (tried.has(key)) continue;
    tried.add(key);
    const definition = await reader.getDefinition(workspaceId, environmentId, { name, key });
    if (definition) return { is: 'seen', definition };
  }
  if (said === 'absent') return ABSENT;
  const shown = flags === 'asked' ? null : await shownFlag(reader, workspaceId, name, flags);
  if (shown === undefined) return ABSENT;
  if (shown === null) return ids.length > 0 ? ABSENT : UNKNOWN;
  if (tried.has(shown.id)) return ABSENT;
  const by = { name, key: shown.id };
  const definition = await reader.getDefinition(workspaceId, environmentId, by);
  return definition ? { is: 'seen', definition } : ABSENT;
}

/** undefined: the service has no such flag. null: it does not show flags. */
async function shownFlag(
  reader: AdminReader,
  workspaceId: string,
  name: string,
  flags: 'one' | 'list',
): Promise<{ readonly id: string } | null | undefined> {
  const shown = await reader.getFlag(workspaceId, name);
  if (shown !== null || flags === 'one') return shown;
  const all = await reader.listFlags(workspaceId);
  return all === null ? null : all.find((each) => each.name === name);
}
