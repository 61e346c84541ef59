import type { Desired, DesiredDefinition } from '../model/desired.js';
import { rampedBuckets, type DesiredRamp, type RampStep } from '../model/flag/ramp.js';
import { withBuckets } from '../plan/ramps.js';
import { calendarsOf, dueMoments, stepAt } from '../timing/ladder.js';
import { calendarIn } from '../timing/windows.js';

export type Startless = 'before' | 'end' | number;

/**
 * The specs as they apply at a moment, provided that no step fails or is delayed: each ramp at the step that is due
 * then.
 *
 * @param ms since the epoch.
 * @param startless assumed position of a ramp that has no time as its `start` and so begins with a run, which no file
 *   knows. A number is its assumed beginning, in milliseconds since the epoch.
 */
export function desiredAt(desired: Desired, ms: number, startless: Startless): Desired {
  const { config } = desired;
  const flags = [...desired.flags].map(([flagName, flag]) => {
    const environments = [...flag.environments].map(([name, definition]) => {
      const calendar = calendarIn(desired, name);
      const stepOf = (ramp: DesiredRamp): RampStep | undefined => {
        const startMs = ramp.startMs ?? startless;
        if (startMs === 'before') return undefined;
        if (startMs === 'end') return ramp.steps.at(-1);
        return ramp.steps[
          stepAt(dueMoments(ramp, startMs, calendarsOf(ramp, config, calendar)), ms)
        ];
      };
      return [name, ramped(definition, stepOf)] as const;
    });
    return [flagName, { ...flag, environments: new Map(environments) }] as const;
  });
  return { ...desired, flags: new Map(flags) };
}

/** @param stepOf gives undefined to keep the written buckets, as while steps are held. */
function ramped(
  definition: DesiredDefinition,
  stepOf: (ramp: DesiredRamp) => RampStep | undefined,
): DesiredDefinition {
  let { creation } = definition;
  for (const ramp of definition.ramps ?? []) {
    const step = ramp.hold ? undefined : stepOf(ramp);
    if (step) creation = withBuckets(creation, ramp, rampedBuckets(ramp, step.percent));
  }
  return { ...definition, creation };
}
