import { isMap, parseDocument } from 'yaml';
import { editedText, hasMember } from './write/edit-file.js';
import { DOCUMENT_OPTIONS, mapping } from './write/yaml-text.js';

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
  const list = text ?? 'kills: {}\n';
  if (!isList(list)) return undefined;
  const value = mapping(['reason', reason], ['since', since]);
  return editedText(list, [{ kind: 'set', path: ['kills', flag], value }]);
}

/** The same without an entry; as it is where there is none. Undefined where the text is no such list. */
export function withoutKillEntry(text: string, flag: string): string | undefined {
  if (!isList(text)) return undefined;
  const path = ['kills', flag];
  return hasMember(text, path) ? editedText(text, [{ kind: 'unset', path }]) : text;
}

function isList(text: string): boolean {
  const document = parseDocument(text, { ...DOCUMENT_OPTIONS, logLevel: 'silent' });
  return document.errors.length === 0 && isMap(document.get('kills'));
}
