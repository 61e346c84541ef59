import { isMap, parseDocument, Scalar, type Document, type YAMLMap } from 'yaml';

/** What an entry of a break-glass list says; `since` as specs write moments. */
export interface KillEntry {
  readonly reason: string;
  readonly since: string;
}

/**
 * A break-glass list with one more entry, its comments and the other entries as they were.
 *
 * @param text of the file; undefined: there is none yet.
 * @returns undefined where the text is no such list.
 */
export function withKillEntry(
  text: string | undefined,
  flag: string,
  { reason, since }: KillEntry,
): string | undefined {
  const list = listIn(text ?? 'kills: {}\n');
  if (!list) return undefined;
  const { document, kills } = list;
  // What was written empty, in one line, goes on as lines: the next entry is then a line of its own in a diff.
  if (kills.items.length === 0) kills.flow = false;
  kills.set(flag, document.createNode({ reason: quoted(reason), since }));
  return textOf(document);
}

/** The same without an entry; as it is where there is none. Undefined where the text is no such list. */
export function withoutKillEntry(text: string, flag: string): string | undefined {
  const list = listIn(text);
  if (!list) return undefined;
  if (!list.kills.has(flag)) return text;
  list.kills.delete(flag);
  return textOf(list.document);
}

/** Read as nothing but text: a flag may be called `null`. */
function listIn(text: string): { document: Document; kills: YAMLMap } | undefined {
  const document = parseDocument(text, { schema: 'failsafe', logLevel: 'silent' });
  const kills = document.errors.length === 0 ? document.get('kills') : undefined;
  return isMap(kills) ? { document, kills } : undefined;
}

function quoted(text: string): Scalar {
  const scalar = new Scalar(text);
  scalar.type = Scalar.QUOTE_DOUBLE;
  return scalar;
}

function textOf(document: Document): string {
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}
