import type { DesiredSegment } from '../model/desired.js';
import type { Diagnostic } from '../model/diagnostic.js';
import { CONFIG_PATH } from './load-files.js';
import { namesUsedBy } from './references.js';
import type { ResolvedFlag } from './resolved-flag.js';
import { fileNameOf, type SpecSet } from './spec-set.js';

/** The specs of one tree as far as they could be resolved. */
interface Resolved {
  readonly specs: SpecSet;
  readonly flags: readonly ResolvedFlag[];
  readonly segments: ReadonlyMap<string, DesiredSegment>;
}

/** `KIND/NAME` of all identities together: files of theirs share lists, so that one bad line leaves all in doubt. */
export const ALL_IDENTITIES = 'identities/*';

/**
 * What must stay as it is on the service because the specs of it are wrong: `KIND/NAME` of each object that an error
 * lies in, and of each flag whose rules name such an object, and so on.
 *
 * An object that cannot be read is none that was removed: whoever goes on with the rest has to leave these alone.
 *
 * @param errors diagnostics with severity `error`.
 * @returns null where an error cannot be pinned to objects, so that there is no telling what the rest is.
 */
export function heldObjects(
  errors: readonly Diagnostic[],
  resolved: Resolved,
): ReadonlySet<string> | null {
  const { unjudged } = resolved.specs;
  const held = new Set<string>([
    ...[...unjudged.flags].map((name) => `flag/${name}`),
    ...[...unjudged.segments].map((name) => `segment/${name}`),
  ]);
  const declared = declaredNames(resolved.specs);
  for (const { location } of errors) {
    const objects = objectsIn(location.file, resolved, declared);
    if (objects === null) return null;
    for (const each of objects) held.add(each);
  }
  for (;;) {
    const users = resolved.flags
      .map((flag) => ({ id: `flag/${flag.name}`, uses: namesUsedBy(flag) }))
      .filter(({ id, uses }) => !held.has(id) && uses.some((used) => held.has(used)));
    if (users.length === 0) return held;
    for (const { id } of users) held.add(id);
  }
}

/** Which objects a file says something about; null: what it would say about which is unknown. */
function objectsIn(
  path: string,
  { segments }: Resolved,
  declared: ReadonlyMap<string, string>,
): readonly string[] | null {
  if (path === CONFIG_PATH) return null;
  const folder = path.slice(0, path.indexOf('/'));
  const written = declared.get(path);
  const names = [named(path), ...(written === undefined ? [] : [written])];
  // A link or a submodule that stands for a folder hides the files below it.
  const isSpec = /\.ya?ml$/i.test(path);
  switch (folder) {
    case 'flags':
      return isSpec ? names.map((name) => `flag/${name}`) : null;
    case 'segments':
      if (path.endsWith('.keys')) return usersOfKeyFile(path, segments);
      return isSpec ? names.map((name) => `segment/${name}`) : null;
    case 'identities':
      return [ALL_IDENTITIES];
    case 'kills':
    case 'tests':
      return [];
    default:
      return null;
  }
}

/** The object that the name of a file promises; an overlay's is its flag. */
function named(path: string): string {
  return fileNameOf(path.replace(/\.yml$/i, '.yaml')).split('@')[0] ?? '';
}

function usersOfKeyFile(path: string, segments: ReadonlyMap<string, DesiredSegment>): string[] {
  return [...segments.values()]
    .filter(({ environments }) =>
      [...environments.values()].some(({ keysFile }) => keysFile === path),
    )
    .map(({ name }) => `segment/${name}`);
}

/** Path → the name that stands in the file, which may differ from the file's own. */
function declaredNames({ loaded }: SpecSet): ReadonlyMap<string, string> {
  const members = { flag: 'flag', 'flag-overlay': 'flag', segment: 'segment' } as const;
  return new Map(
    Object.entries(members).flatMap(([kind, member]) =>
      (loaded.files.get(kind as keyof typeof members) ?? []).flatMap((file) => {
        const value = file.parsed.value as Readonly<Record<string, unknown>> | null | undefined;
        const name = value?.[member];
        return typeof name === 'string' ? [[file.path, name] as const] : [];
      }),
    ),
  );
}
