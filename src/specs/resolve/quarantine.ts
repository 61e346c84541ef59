import { keyOf } from '../../model/ref.js';
import type { DesiredSegment } from '../../model/desired.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import { isSpecFolder, topOf } from '../../model/spec-tree.js';
import { CONFIG_PATH } from '../parse/load-files.js';
import type { SpecFile } from '../parse/parse-file.js';
import { referencesOf } from './references.js';
import type { ResolvedFlag } from './flags.js';
import { objectNameOf, type SpecSet } from './spec-set.js';

interface Resolved {
  readonly specs: SpecSet;
  readonly flags: readonly ResolvedFlag[];
  readonly segments: ReadonlyMap<string, DesiredSegment>;
}

/** `KIND/NAME` for all identities together: their files share lists, so one bad line makes all of them doubtful. */
export const ALL_IDENTITIES = keyOf('identities', '*');

/**
 * `KIND/NAME` of objects that must stay as they are on the service: objects with errors, flags whose rules name such an
 * object, and so on. Null if an error cannot be assigned to objects, so that the valid rest is unknown.
 */
export function quarantinedObjects(
  errors: readonly Diagnostic[],
  resolved: Resolved,
): ReadonlySet<string> | null {
  const { unjudged } = resolved.specs;
  const held = new Set<string>([
    ...[...unjudged.flags].map((name) => keyOf('flag', name)),
    ...[...unjudged.segments].map((name) => keyOf('segment', name)),
  ]);
  const files = [...resolved.specs.loaded.files.values()].flat();
  const fileAt = new Map(files.map((file) => [file.path, file]));
  for (const path of new Set(errors.map(({ location }) => location.file))) {
    const objects = objectsIn(path, resolved, fileAt.get(path));
    if (objects === null) return null;
    for (const each of objects) held.add(each);
  }
  for (;;) {
    const users = resolved.flags
      .map((flag) => ({
        id: keyOf('flag', flag.name),
        uses: referencesOf(flag).map((each) => keyOf(each.kind, each.name)),
      }))
      .filter(({ id, uses }) => !held.has(id) && uses.some((used) => held.has(used)));
    if (users.length === 0) return held;
    for (const { id } of users) held.add(id);
  }
}

/** The objects that a file concerns; null if they are unknown. */
function objectsIn(
  path: string,
  { segments, specs }: Resolved,
  file: SpecFile | undefined,
): readonly string[] | null {
  if (path === CONFIG_PATH) return null;
  const hidesFiles = (specs.loaded.entries.get(path)?.type ?? 'file') !== 'file';
  // The name in a file may differ from the file's own.
  const keysOf = (kind: 'flag' | 'segment'): string[] =>
    [objectNameOf(path), file?.nameIn(kind) ?? []].flat().map((name) => keyOf(kind, name));
  // Whatever its extension, a link or a submodule may stand for a folder and hide the files below it.
  const isSpec = /\.ya?ml$/i.test(path) && !hidesFiles;
  switch (topOf(path)) {
    case 'flags':
      return isSpec ? keysOf('flag') : null;
    case 'segments':
      if (path.endsWith('.keys') && !hidesFiles) return usersOfKeyFile(path, segments);
      return isSpec ? keysOf('segment') : null;
    case 'identities':
      return [ALL_IDENTITIES];
    case 'kills':
      // If a list of kills is hidden, its flags would look as if no kill was ordered.
      return hidesFiles || isSpecFolder(path) ? null : [];
    case 'tests':
      return [];
    default:
      return null;
  }
}

function usersOfKeyFile(path: string, segments: ReadonlyMap<string, DesiredSegment>): string[] {
  return [...segments.values()]
    .filter(({ environments }) =>
      [...environments.values()].some(({ keysFile }) => keysFile === path),
    )
    .map(({ name }) => keyOf('segment', name));
}
