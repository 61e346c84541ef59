import type { Matcher } from '../../kinds/flag.js';
import { sortedSet } from '../../kinds/json.js';
import { dependencyOf, segmentOf } from '../../kinds/matcher.js';
import type { LiveFlag, LiveSegment } from './live-objects.js';

/**
 * What rules name though these specs do not declare it, or not as the rule needs it: it has to stand in `references`.
 * Sorted, unique.
 */
export function foreignReferences(
  flags: readonly LiveFlag[],
  segments: readonly LiveSegment[],
): { readonly flags: readonly string[]; readonly segments: readonly string[] } {
  const flagByName = new Map(flags.map((flag) => [flag.name, flag]));
  const segmentByName = new Map(segments.map((segment) => [segment.name, segment]));
  const foreignFlags: string[] = [];
  const foreignSegments: string[] = [];
  for (const { matcher, flag, environment } of matchersOf(flags)) {
    const segment = segmentOf(matcher);
    const dependency = dependencyOf(matcher);
    if (segment !== undefined) {
      const found = segmentByName.get(segment);
      const fits = found?.trafficType === flag.trafficType && found.environments.has(environment);
      if (!fits) foreignSegments.push(segment);
    }
    if (dependency !== undefined) {
      const found = flagByName.get(dependency.flag)?.environments.get(environment);
      const names = found?.treatments.map(({ name }) => name) ?? [];
      const fits =
        found !== undefined && dependency.treatments.every((each) => names.includes(each));
      if (!fits) foreignFlags.push(dependency.flag);
    }
  }
  return { flags: sortedSet(foreignFlags), segments: sortedSet(foreignSegments) };
}

function matchersOf(
  flags: readonly LiveFlag[],
): { matcher: Matcher; flag: LiveFlag; environment: string }[] {
  return flags.flatMap((flag) =>
    [...flag.environments].flatMap(([environment, { rules }]) =>
      rules.flatMap(({ matchers }) => matchers.map((matcher) => ({ matcher, flag, environment }))),
    ),
  );
}
