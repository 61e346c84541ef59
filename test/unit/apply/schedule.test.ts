import { expect, it } from 'vitest';
import { StepSchedule, type ScheduledStep } from '../../../src/apply/schedule.js';

/** `a1`: the first step of object `a`; needs are ids of earlier ones. */
function step(id: string, ...needs: string[]): ScheduledStep {
  return { id, needs, change: `flag/${id.slice(0, 1)}` };
}

/** Ids of all that is free now. */
function free(schedule: StepSchedule<ScheduledStep>): string[] {
  const ids: string[] = [];
  for (let each = schedule.take(); each; each = schedule.take()) ids.push(each.id);
  return ids;
}

it.each<[string, readonly (readonly string[])[], readonly (readonly [string | null, string])[]]>([
  [
    'those that need nothing, one of each object, in the order of the list',
    [['b1'], ['a1'], ['a2'], ['c1', 'b1']],
    [
      [null, 'b1 a1'],
      [null, ''],
    ],
  ],
  [
    'one once the last of its needs has ended',
    [['a1'], ['b1'], ['c1', 'a1', 'b1']],
    [
      [null, 'a1 b1'],
      ['a1', ''],
      ['b1', 'c1'],
    ],
  ],
  [
    'the next of an object once the one before it has ended, also where it does not need it',
    [['a1'], ['a2'], ['a3', 'a1']],
    [
      [null, 'a1'],
      ['a1', 'a2'],
      ['a2', 'a3'],
    ],
  ],
])('the steps that may be sent are %s', (_, steps, moments) => {
  const schedule = new StepSchedule(steps.map(([id = '', ...needs]) => step(id, ...needs)));
  for (const [ended, expected] of moments) {
    if (ended !== null) schedule.end(step(ended));
    expect([ended, free(schedule).join(' ')]).toEqual([ended, expected]);
  }
});

it('the steps that may be sent are given by their place in the list, whenever they became free', () => {
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
