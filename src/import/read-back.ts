import { FlagkeelError } from '../errors.js';
import type { Desired } from '../model/desired.js';
import { byCodeUnits } from '../model/json.js';
import { isSpecPath, type SpecTree } from '../model/spec-tree.js';
import { readSpecs } from '../specs/read-specs.js';

/**
 * Presents unwritten files as a tree of specs. They replace files of the same path in the tree `below`.
 *
 * @param files path → text.
 */
export function filesTree(files: ReadonlyMap<string, string>, below?: SpecTree): SpecTree {
  const contents = new Map([...files].map(([path, text]) => [path, Buffer.from(text)]));
  const entries = [...contents].map(([path, content]) => ({
    path,
    type: 'file' as const,
    sizeBytes: content.length,
  }));
  const others = below?.list().filter(({ path }) => !contents.has(path)) ?? [];
  const all = [...others, ...entries]
    .filter(({ path }) => isSpecPath(path))
    .toSorted((a, b) => byCodeUnits(a.path, b.path));
  return {
    list: () => all,
    read: async (path) => {
      const content = contents.get(path) ?? (await below?.read(path));
      if (content === undefined) throw new Error(`bug: "${path}" is no file of this tree`);
      return content;
    },
  };
}

/** Reads written files as a run would. @throws FlagkeelError `SPECS_INVALID` if they are not valid. */
export async function readBack(
  files: ReadonlyMap<string, string>,
  holder: string,
): Promise<Desired> {
  const specs = await readSpecs(filesTree(files));
  if (specs.ok) return specs.desired;
  const errors = specs.diagnostics.filter(({ severity }) => severity === 'error');
  throw cannotSay(
    errors.map(({ location, message }) => `${location.file}: ${message}`),
    holder,
  );
}

const MOST_SHOWN = 20;

export function cannotSay(problems: readonly string[], holder = 'the service'): FlagkeelError {
  const shown = problems.slice(0, MOST_SHOWN);
  const more = problems.length > MOST_SHOWN ? [`and ${problems.length - MOST_SHOWN} more`] : [];
  return new FlagkeelError(
    'SPECS_INVALID',
    `cannot say in files what ${holder} holds; nothing was written (change it there, or name what to import with --only)\n${[...shown, ...more].map((line) => `  ${line}`).join('\n')}`,
  );
}
