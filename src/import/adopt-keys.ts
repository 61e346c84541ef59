import type { KeyChange } from '../model/plan.js';
import type { Edit } from '../specs/edit/edit-file.js';
import { parseKeyFile } from '../specs/parse/key-lists.js';
import { fitsKeyFile } from './object-files.js';

interface KeyEdit {
  readonly add: readonly string[];
  readonly remove: ReadonlySet<string>;
}

/**
 * Edits that give a segment its live keys. New keys go into the key file if there is one.
 *
 * @param change from live to git, as in a plan.
 * @param at path of the environment's block.
 * @param listed text of the key file, if there is one.
 */
export function segmentEdits(
  change: KeyChange,
  at: readonly string[],
  listed: string | undefined,
): { edits: Edit[]; toFile: KeyEdit } {
  const remove = new Set(change.added);
  const hasFile = listed !== undefined;
  const toFile = change.removed.filter((key) => hasFile && fitsKeyFile(key));
  const inline = change.removed.filter((key) => !hasFile || !fitsKeyFile(key));
  const inFile = new Set(hasFile ? parseKeyFile(listed).keys : []);
  const fromInline = [...remove].some((key) => !inFile.has(key));
  const edits: Edit[] =
    inline.length > 0 || fromInline || !hasFile
      ? [{ kind: 'texts', path: [...at, 'keys'], add: inline, remove }]
      : [];
  return { edits, toFile: { add: toFile, remove } };
}

/** Keeps lines that are not keys, such as comments, and appends new keys. */
export function editedKeyFile(text: string, { add, remove }: KeyEdit): string {
  const lines = text.split('\n');
  const kept = lines.filter((line) => !remove.has(line.trim()));
  if (add.length === 0) return kept.join('\n');
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const body = kept.join('\n');
  const start = body === '' || body.endsWith('\n') ? body : `${body}${end}`;
  return `${start}${add.map((key) => `${key}${end}`).join('')}`;
}
