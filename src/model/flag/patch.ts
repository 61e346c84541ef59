import fastJsonPatch, { type Operation } from 'fast-json-patch';
import type { WireDefinition, WirePatchOperation, WireTreatment } from '../../admin-api/wire.js';

/**
 * Operations that turn `live` into `target`, safe to land late: the list may have changed between the read and the
 * write, so no operation relies on a position in it. Any difference inside a field replaces that field, with one
 * exception: keys added to a treatment's individual targets are appended one by one, which is right for any state of
 * the list, but only while nothing else about the treatments differs.
 *
 * @returns in a stable order; empty where nothing differs.
 */
export function patchOperations(
  live: WireDefinition,
  target: WireDefinition,
): WirePatchOperation[] {
  const touched = new Set(
    fastJsonPatch.compare(live, target).map((operation) => operation.path.split('/')[1] ?? ''),
  );
  return [...touched].sort().flatMap((field): WirePatchOperation[] => {
    if (field === 'treatments') {
      const additions = keyAdditions(live.treatments, target.treatments);
      if (additions) return additions;
    }
    const value = (target as unknown as Record<string, unknown>)[field];
    return [{ op: field in live ? 'replace' : 'add', path: `/${field}`, value }];
  });
}

/** Applies operations to a copy of a definition. */
export function patched(
  live: WireDefinition,
  operations: readonly WirePatchOperation[],
): WireDefinition {
  const copy = fastJsonPatch.deepClone(live) as WireDefinition;
  return fastJsonPatch.applyPatch(copy, fastJsonPatch.deepClone(operations) as Operation[])
    .newDocument;
}

/** The appends, if added keys are the only difference; otherwise undefined. */
function keyAdditions(
  live: readonly WireTreatment[],
  target: readonly WireTreatment[],
): WirePatchOperation[] | undefined {
  if (live.length !== target.length) return undefined;
  const operations: WirePatchOperation[] = [];
  for (const [index, wanted] of target.entries()) {
    const held = live[index];
    if (!held || !sameButKeys(held, wanted)) return undefined;
    const heldKeys = new Set(held.keys ?? []);
    const wantedKeys = wanted.keys ?? [];
    const kept = wantedKeys.filter((key) => heldKeys.has(key)).length;
    if (kept !== heldKeys.size) return undefined;
    const added = wantedKeys.filter((key) => !heldKeys.has(key));
    const path = `/treatments/${index}/keys`;
    if (added.length > 0 && held.keys === undefined) {
      operations.push({ op: 'add', path, value: added });
    } else {
      operations.push(
        ...added.map((key) => ({ op: 'add' as const, path: `${path}/-`, value: key })),
      );
    }
  }
  return operations;
}

function sameButKeys(a: WireTreatment, b: WireTreatment): boolean {
  return fastJsonPatch.compare({ ...a, keys: [] }, { ...b, keys: [] }).length === 0;
}
