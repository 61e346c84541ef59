import { sameJson } from '../model/json.js';
import { importData } from '../git/write-commit.js';
import {
  entryPath,
  entryText,
  parseEntryFile,
  type StateContent,
  type StateTree,
} from './codec.js';

/**
 * What a reading makes of a file of the state.
 *
 * @throws FlaghoistError `STATE_UNREADABLE`
 */
export function contentOf(path: string, text: string): StateContent {
  return path.startsWith('objects/') ? parseEntryFile(path, text) : text;
}

/** What one state has otherwise than another. */
export interface StateChanges {
  /** Path → the text that stands there from now on. */
  readonly written: ReadonlyMap<string, string>;
  readonly gone: readonly string[];
}

/** @param before null: it is not known what there was. */
export function changesBetween(before: StateTree | null, after: StateTree): StateChanges {
  const written = new Map<string, string>();
  for (const [key, entry] of after.entries) {
    if (!sameJson(before?.entries.get(key), entry)) written.set(entryPath(entry), entryText(entry));
  }
  for (const [path, text] of after.others) {
    if (before?.others.get(path) !== text) written.set(path, text);
  }
  const gone: string[] = [];
  for (const [key, entry] of before?.entries ?? []) {
    if (!after.entries.has(key)) gone.push(entryPath(entry));
  }
  for (const path of before?.others.keys() ?? []) if (!after.others.has(path)) gone.push(path);
  return { written, gone };
}

/** The tree as the next reading would find it. What did not change is what was read before. */
export function treeAfter(
  before: StateTree | null,
  after: StateTree,
  { written }: StateChanges,
): StateTree {
  const entries = new Map(after.entries);
  for (const [key, entry] of after.entries) {
    const known = before?.entries.get(key);
    if (known === entry) continue;
    const path = entryPath(entry);
    const text = written.get(path);
    entries.set(key, text === undefined ? (known ?? entry) : parseEntryFile(path, text));
  }
  return { entries, others: after.others };
}

/**
 * The changes in the words of `git fast-import`.
 *
 * @param isAfresh it is not known what stands there, and nothing of it may stay.
 */
export function importLines(isAfresh: boolean, { written, gone }: StateChanges): string[] {
  return [
    ...(isAfresh ? ['deleteall'] : []),
    ...[...written].flatMap(([path, text]) => [`M 100644 inline ${path}`, importData(text)]),
    ...gone.map((path) => `D ${quoted(path)}`),
  ];
}

/** A path of ours needs no quotes; one that was pushed may. */
function quoted(path: string): string {
  const escaped = path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n');
  return `"${escaped}"`;
}
