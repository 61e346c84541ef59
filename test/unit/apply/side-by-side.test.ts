import { describe, expect, it } from 'vitest';
import { type ScheduledStep, takeSideBySide } from '../../../src/apply/schedule.js';

type Result = 'done' | 'conflict';

interface Play {
  /** `+a1` when a step is sent, `-a1 done` when it has ended. */
  readonly story: string[];
  /** Answers the step that was sent. */
  readonly answer: (id: string, result?: Result) => Promise<void>;
  readonly ended: Promise<void>;
}

/** Steps are sent, and wait for the test to answer them. */
function play(
  concurrency: number,
  steps: readonly (readonly [id: string, ...needs: string[]])[],
): Play {
  const story: string[] = [];
  const open = new Map<string, (result: Result) => void>();
  const ended = takeSideBySide<ScheduledStep, Result>(
    steps.map(([id, ...needs]) => ({ id, needs, change: `flag/${id.slice(0, 1)}` })),
    {
      concurrency,
      skip: () => undefined,
      send: async ({ id }) => {
        story.push(`+${id}`);
        return new Promise((resolve) => open.set(id, resolve));
      },
      isRefusedBeside: (result) => result === 'conflict',
      end: ({ id }, result) => story.push(`-${id} ${result}`),
    },
  );
  return {
    story,
    ended,
    answer: async (id, result = 'done') => {
      const resolve = open.get(id);
      if (!resolve) throw new Error(`${id} was not sent`);
      open.delete(id);
      resolve(result);
      await new Promise(setImmediate);
    },
  };
}

describe('steps that are taken side by side', () => {
  it('are no more at once than is allowed, and the next goes when one has ended', async () => {
    const { story, answer, ended } = play(2, [['a1'], ['b1'], ['c1']]);
    expect(story).toEqual(['+a1', '+b1']);
    await answer('b1');
    expect(story.slice(2)).toEqual(['-b1 done', '+c1']);
    await answer('a1');
    await answer('c1');
    await ended;
  });

  it.each([
    ['itself', [['a1', 'a1']]],
    ['a later one', [['a1', 'b1'], ['b1']]],
    ['none of the list', [['a1', 'z9']]],
  ] as const)('refuse a step that needs %s, and do not wait for ever', async (_, steps) => {
    await expect(play(2, steps).ended).rejects.toThrow('bug: a1 is before');
  });

  it('send what was refused beside another once more, by itself, when the rest is done', async () => {
    const { story, answer, ended } = play(3, [['a1'], ['b1'], ['c1'], ['d1', 'a1']]);
    await answer('a1', 'conflict');
    await answer('b1', 'conflict');
    await answer('c1');
    expect(story).toEqual(['+a1', '+b1', '+c1', '-c1 done', '+a1']);
    await answer('a1');
    expect(story.slice(5)).toEqual(['-a1 done', '+d1']);
    await answer('d1');
    expect(story.slice(7)).toEqual(['-d1 done', '+b1']);
    await answer('b1');
    await ended;
  });

  it('take a second refusal for what it is, and one of a step that was alone', async () => {
    const { story, answer, ended } = play(2, [['a1'], ['b1']]);
    await answer('a1', 'conflict');
    await answer('b1');
    await answer('a1', 'conflict');
    await ended;
    expect(story.slice(2)).toEqual(['-b1 done', '+a1', '-a1 conflict']);

    const alone = play(8, [['a1']]);
    await alone.answer('a1', 'conflict');
    await alone.ended;
    expect(alone.story).toEqual(['+a1', '-a1 conflict']);
  });
});
