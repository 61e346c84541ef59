import { isAncestor, type Checkout } from '../git/checkout.js';
import { MAX_LOGGED, readLog } from '../git/log.js';
import { keyOf, type Kind, type ObjectKey } from '../model/ref.js';
import { plannedKind } from '../plan/objects/kinds.js';

/** An object that a commit may be about. */
export interface NamedObject {
  readonly kind: Kind;
  readonly name: string;
}

/**
 * The objects with a file that any commit after `since` touched, even if a later commit reverted the change: a run that
 * was cut short in between may have applied it without a record.
 *
 * Lists of kills are skipped, because every run compares all of them with the service.
 *
 * @param objects the present ones, and those that existed at `since`.
 * @returns null if history does not show it, or if a commit touched the config, which shapes all objects.
 * @throws FlagkeelError `GIT`
 */
export async function objectsTouchedSince(
  checkout: Checkout,
  { since, head }: { readonly since: string; readonly head: string | null },
  objects: Iterable<NamedObject>,
): Promise<ReadonlySet<ObjectKey> | null> {
  const { repository } = checkout;
  if (repository === null || head === null) return null;
  if ((await isAncestor(checkout, since, head)) !== true) return null;
  const commits = since === head ? [] : await readLog(repository, since, head);
  if (commits.length >= MAX_LOGGED) return null;
  const paths = new Set(commits.flatMap(({ paths: own }) => own));
  if (paths.has('flagkeel.yaml')) return null;
  const shaping = [...paths].filter((path) => !path.startsWith('kills/'));
  if (shaping.length === 0) return new Set();
  const touched = [...objects].filter((object) => shaping.some((path) => isAbout(path, object)));
  return new Set(touched.map(({ kind, name }) => keyOf(kind, name)));
}

function isAbout(path: string, { kind, name }: NamedObject): boolean {
  const ref = { kind, name, environment: null };
  const { files } = plannedKind(kind);
  return files.isOwn(path, ref) || files.mayShape(path, ref);
}
