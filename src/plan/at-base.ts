import { sameJson } from '../kinds/json.js';
import type { DesiredFlag, DesiredSegment } from '../model/desired.js';
import type { Base, StateEntry } from '../model/state.js';
import { effectiveFields } from './kills.js';
import type { PlanInput } from './plan-input.js';
import { baseSpec } from './segments.js';

type Known = Pick<PlanInput, 'desired' | 'policy'>;

/**
 * Whether all that the specs say of a flag in the selected environments, and at workspace level, is what was last found
 * equal on the service: nothing to do, as long as nobody changed it there.
 */
export function isFlagAtBase(
  flag: DesiredFlag,
  entry: StateEntry | undefined,
  { desired, policy }: Known,
): boolean {
  if (entry?.kind !== 'flag') return false;
  const { trafficType, fields } = flag;
  if (!isBase(entry.workspace, { trafficType, fields })) return false;
  return policy.environments.every((environment) => {
    if (!environment.selected) return true;
    const base = entry.environments[environment.id];
    const definition = flag.environments.get(environment.configName);
    if (!definition) return base === undefined;
    return isBase(base, effectiveFields({ flag, definition, environment }, desired));
  });
}

/** The same of a segment and its activations. */
export function isSegmentAtBase(
  segment: DesiredSegment,
  entry: StateEntry | undefined,
  { policy }: Known,
): boolean {
  if (entry?.kind !== 'segment') return false;
  if (!isBase(entry.workspace, { trafficType: segment.trafficType })) return false;
  return policy.environments.every(({ configName, id, selected }) => {
    if (!selected) return true;
    const activation = segment.environments.get(configName);
    if (!activation) return entry.environments[id] === undefined;
    return isBase(entry.environments[id], baseSpec(activation));
  });
}

function isBase(base: Base<unknown> | undefined, spec: unknown): boolean {
  return base?.spec !== undefined && base.pending === undefined && sameJson(base.spec, spec);
}
