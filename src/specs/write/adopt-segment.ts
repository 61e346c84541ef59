import type { KeyChange } from '../../model/plan.js';
import { parseKeyFile } from '../key-file.js';
import type { Edit } from './edit-file.js';
import { fitsKeyFile } from './segment-file.js';

export interface KeyEdit {
  readonly add: readonly string[];
  readonly remove: ReadonlySet<string>;
}

/**
 * Edits that make a segment say its live keys: new ones go into the key file where there is one.
 *
 * @param change from live to git, as a plan has it.
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

/** Lines that are not keys stay, comments among them; new keys come last. */
export function editedKeyFile(text: string, { add, remove }: KeyEdit): string {
  const lines = text.split('\n');
  const kept = lines.filter((line) => !remove.has(line.trim()));
  if (add.length === 0) return kept.join('\n');
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const body = kept.join('\n');
  const start = body === '' || body.endsWith('\n') ? body : `${body}${end}`;
  return `${start}${add.map((key) => `${key}${end}`).join('')}`;
}
