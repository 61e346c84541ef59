import { describe, expect, it } from 'vitest';
import { StepSchedule, type ScheduledStep } from '../../../src/apply/schedule.js';

/** `a1`: the first step of object `a`; needs are ids of earlier ones. */
function step(id: string, ...needs: string[]): ScheduledStep {
  return { id, needs, object: id.slice(0, 1) };
}

/** Ids of all that is free now. */
function free(schedule: StepSchedule<ScheduledStep>): string[] {
  const ids: string[] = [];
  for (let each = schedule.take(); each; each = schedule.take()) ids.push(each.id);
  return ids;
}

describe('which steps may be sent now', () => {
  it('are those that need nothing, one of each object, in the order of the list', () => {
    const schedule = new StepSchedule([step('b1'), step('a1'), step('a2'), step('c1', 'b1')]);
    expect(free(schedule)).toEqual(['b1', 'a1']);
    expect(free(schedule)).toEqual([]);
  });

  it('is a step once the last of its needs has ended', () => {
    const steps = [step('a1'), step('b1'), step('c1', 'a1', 'b1')];
    const schedule = new StepSchedule(steps);
    expect(free(schedule)).toEqual(['a1', 'b1']);
    schedule.end(step('a1'));
    expect(free(schedule)).toEqual([]);
    schedule.end(step('b1'));
    expect(free(schedule)).toEqual(['c1']);
  });

  it('is the next of an object once the one before it has ended, also where it does not need it', () => {
    const schedule = new StepSchedule([step('a1'), step('a2'), step('a3', 'a1')]);
    expect(free(schedule)).toEqual(['a1']);
    schedule.end(step('a1'));
    expect(free(schedule)).toEqual(['a2']);
    schedule.end(step('a2'));
    expect(free(schedule)).toEqual(['a3']);
  });

  it('are given by their place in the list, whenever they became free', () => {
    const schedule = new StepSchedule([step('a1'), step('b1', 'a1'), step('c1'), step('d1')]);
    expect(schedule.take()?.id).toBe('a1');
    schedule.end(step('a1'));
    expect(free(schedule)).toEqual(['b1', 'c1', 'd1']);
  });

  it.each([
    ['itself', [step('a1', 'a1')]],
    ['a later one', [step('a1', 'b1'), step('b1')]],
    ['none of the list', [step('a1', 'z9')]],
  ])('never: a step that needs %s is an error and no endless wait', (_, steps) => {
    expect(() => new StepSchedule(steps)).toThrow('bug: a1 is before');
  });
});
