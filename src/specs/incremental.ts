import type { FlagSpec } from '../generated/flag.schema.d.js';
import type { Desired } from '../model/desired.js';
import type { SpecTree, TreeEntry } from '../model/spec-tree.js';
import { isReadable, kindOf, loadFile } from './parse/load-files.js';
import { changedReferenceDiagnostics } from './resolve/references.js';
import { desiredFlag, resolvedFlag } from './resolve/flags.js';
import { rampDiagnostics } from './resolve/ramps.js';
import type { ResolvedFlag } from './resolve/resolved-flag.js';
import { validOf } from './resolve/spec-set.js';
import type { RightReading, SpecCache } from './cache.js';

/** Above this number it is faster to read all files together. */
const FEW = 100;

/**
 * Reads specs that differ from the last right ones in a few flags alone, as most commits do, and
 * judges only these flags.
 *
 * @returns null where anything else changed or is wrong, so that everything has to be read.
 */
export async function readChanged(tree: SpecTree, memory: SpecCache): Promise<Desired | null> {
  const last = memory.rightReading;
  const changed = last && changedFlags(last.entries, tree.list());
  if (!last || !changed) return null;
  const flags: ResolvedFlag[] = [];
  for (const entry of changed) {
    const flag = await flagIn(entry, tree, last, memory);
    if (flag === null) return null;
    flags.push(flag);
  }
  const { config, segments } = last.desired;
  const diagnostics = changedReferenceDiagnostics({ config, memory }, flags, segments);
  if (diagnostics === null || diagnostics.length > 0) return null;
  if (rampDiagnostics(flags, config).length > 0) return null;
  const all = new Map(last.desired.flags);
  for (const flag of flags)
    all.set(
      flag.name,
      memory.desiredFlags.get(flag, [], () => desiredFlag(flag)),
    );
  const desired = flags.length === 0 ? last.desired : { ...last.desired, flags: all };
  memory.rightReading = { ...last, entries: tree.list(), desired };
  memory.endReading(tree.list().length, () =>
    tree.list().flatMap((each) => memory.fileOf(each) ?? []),
  );
  return desired;
}

/**
 * The files of flags that have another content than before; null where anything else differs, or
 * very many flags do.
 */
function changedFlags(
  before: readonly TreeEntry[],
  now: readonly TreeEntry[],
): readonly TreeEntry[] | null {
  if (before.length !== now.length) return null;
  const changed: TreeEntry[] = [];
  for (const [at, entry] of now.entries()) {
    const old = before[at];
    if (old === entry) continue;
    if (old?.path !== entry.path || old.type !== entry.type) return null;
    if (entry.blobId === undefined || old.blobId === undefined) return null;
    if (old.blobId === entry.blobId) continue;
    if (kindOf(entry.path) !== 'flag' || !isReadable(entry, 'flag')) return null;
    changed.push(entry);
    if (changed.length > FEW) return null;
  }
  return changed;
}

/** The flag of a changed file; null where it is wrong, or where other files have a say in it. */
async function flagIn(
  entry: TreeEntry,
  tree: SpecTree,
  { desired, settings, overlaid }: RightReading,
  memory: SpecCache,
): Promise<ResolvedFlag | null> {
  const file = memory.fileOf(entry) ?? (await loadFile(tree, entry, 'flag', memory));
  const [of] = validOf<FlagSpec>([file]);
  if (of === undefined || file.diagnostics().length > 0) return null;
  const { spec } = of;
  const before = memory.rightReferences?.flags.get(spec.flag);
  if (before?.file.path !== file.path || overlaid.has(spec.flag)) return null;
  const { flag, diagnostics } = resolvedFlag({ config: desired.config, settings, memory }, of, []);
  return diagnostics.length > 0 ? null : flag;
}
