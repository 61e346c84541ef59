import { byCodeUnits } from '../../model/json.js';
import type { LoadedFiles } from '../parse/load-files.js';
import { validOf } from '../resolve/spec-set.js';

/** Where GitHub and GitLab look for the file, from the top of the repository; each takes the first that is there. */
const CODE_OWNERS_PATHS = [
  '.github/CODEOWNERS',
  '.gitlab/CODEOWNERS',
  'CODEOWNERS',
  'docs/CODEOWNERS',
] as const;

const BEGIN = '# flagkeel: the owners of flags, kept by `flagkeel fmt`';
const END = '# flagkeel: end';

export const EMPTY_BLOCK = `${BEGIN}\n${END}\n`;

/** The text of a file by its path from the top of the repository; null if there is none. */
export type ReadBeside = (path: string) => Promise<string | null>;

/** The CODEOWNERS of a repository as its specs want it, by its path from the top; null if there is nothing to change. */
export async function changedCodeOwners(
  prefix: string,
  loaded: LoadedFiles,
  read: ReadBeside,
): Promise<{ readonly path: string; readonly text: string } | null> {
  for (const path of CODE_OWNERS_PATHS) {
    const before = await read(path);
    if (before === null) continue;
    const text = withCodeOwners(before, prefix, loaded);
    return text === before ? null : { path, text };
  }
  return null;
}

/** Writes the marked block anew, if there is one. @param prefix of the config directory: empty, or with a final slash. */
function withCodeOwners(text: string, prefix: string, loaded: LoadedFiles): string {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin === -1 || end < begin) return text;
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = ownerLines(prefix, loaded).map((line) => line + newline);
  return `${text.slice(0, begin)}${BEGIN}${newline}${lines.join('')}${text.slice(end)}`;
}

function ownerLines(prefix: string, loaded: LoadedFiles): string[] {
  const flags = validOf(loaded, 'flag');
  const ownerOf = new Map(flags.map(({ spec }) => [spec.flag, spec.owner]));
  const overlays = validOf(loaded, 'flag-overlay');
  return [...flags, ...overlays]
    .flatMap(({ file: { path }, spec: { flag } }) => {
      const owner = ownerOf.get(flag);
      return owner !== undefined && isOwner(owner) ? [`/${pattern(prefix + path)} ${owner}`] : [];
    })
    .sort(byCodeUnits);
}

/** Forges know accounts, teams and groups (`@name`, `@org/team`) and mail addresses, and ignore a line with another. */
function isOwner(owner: string): boolean {
  return /^(@\S+|[^@\s]+@[^@\s]+)$/.test(owner);
}

function pattern(path: string): string {
  return path.replaceAll(/[\\ #[\]*?!]/g, String.raw`\$&`);
}
