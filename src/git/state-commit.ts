import { sameJson } from '../kinds/json.js';
import { contentText, parseEntryFile, type StateContent } from './state-file.js';

/** Path → what stands there, for every file of the state's tree. */
export type StateFiles = ReadonlyMap<string, StateContent>;

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
export function changesBetween(before: StateFiles | null, after: StateFiles): StateChanges {
  const written = new Map<string, string>();
  for (const [path, content] of after) {
    if (!sameJson(before?.get(path), content)) written.set(path, contentText(content));
  }
  return { written, gone: [...(before?.keys() ?? [])].filter((path) => !after.has(path)) };
}

/** What the next reading would find. What did not change is what was read before. */
export function filesAfter(
  before: StateFiles | null,
  after: StateFiles,
  { written }: StateChanges,
): StateFiles {
  const files = [...after].map(([path, content]): [string, StateContent] => {
    const text = written.get(path);
    return [path, text === undefined ? (before?.get(path) ?? content) : contentOf(path, text)];
  });
  return new Map(files);
}

/**
 * Input of `git fast-import` that makes one commit, prints its name and leaves no ref behind: only `update-ref`
 * compares what it replaces.
 */
export function commitStream(
  tip: { readonly commit: string | null; readonly files: StateFiles | null },
  { written, gone }: StateChanges,
  message: string,
): string {
  const scratch = 'refs/flaghoist-scratch';
  return [
    `commit ${scratch}`,
    'mark :1',
    'committer flaghoist <flaghoist@localhost> now',
    data(`${message}\n`),
    ...(tip.commit === null ? [] : [`from ${tip.commit}`]),
    // Where it is not known what stands there, nothing of it may stay.
    ...(tip.files === null ? ['deleteall'] : []),
    ...[...written].flatMap(([path, text]) => [`M 100644 inline ${path}`, data(text)]),
    ...gone.map((path) => `D ${quoted(path)}`),
    'get-mark :1',
    `reset ${scratch}`,
    `from ${'0'.repeat(tip.commit?.length ?? 40)}`,
    '',
    'done',
    '',
  ].join('\n');
}

function data(text: string): string {
  return `data ${String(Buffer.byteLength(text))}\n${text}`;
}

/** A path of ours needs no quotes; one that was pushed may. */
function quoted(path: string): string {
  const escaped = path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n');
  return `"${escaped}"`;
}
