import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AdminWriter } from '../../src/admin-api/writer.js';
import { applyPlan } from '../../src/apply/apply.js';
import { RejectedError } from '../../src/errors.js';
import type { Plan, Step } from '../../src/model/plan.js';
import { keyOfId } from '../../src/model/ref.js';
import { WORKSPACE } from '../support/builders.js';
import { aChange, aPlan } from '../support/plan-builder.js';
import { lawSettings } from './law-settings.js';

const settings = lawSettings('laws of an apply that sends side by side', 200);

/** How a step ends: well, refused for good, or refused as long as another is under way beside it. */
type End = 'well' | 'refused' | 'busy';

/** One step of a change of its own; `needs` are distances back in the list. */
interface Drawn {
  readonly object: number;
  readonly needs: readonly number[];
  readonly end: End;
}

const someSteps = fc.array(
  fc.record<Drawn>({
    object: fc.nat(4),
    needs: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 3 }),
    end: fc.oneof(
      { weight: 6, arbitrary: fc.constant<End>('well') },
      { weight: 1, arbitrary: fc.constant<End>('refused') },
      { weight: 1, arbitrary: fc.constant<End>('busy') },
    ),
  }),
  { maxLength: 16 },
);

/** A plan of steps that write tags; the tag says which step it is. */
function planOf(drawn: readonly Drawn[]): Plan {
  const idOf = (at: number): string =>
    `flag/f${drawn[at]?.object ?? 0}@e${String(at).padStart(2, '0')}`;
  const steps = drawn.map(({ object, needs }, at): Step => {
    const earlier = [...new Set(needs.map((back) => at - back))].filter((each) => each >= 0);
    return {
      id: `${idOf(at)}#1`,
      change: idOf(at),
      needs: earlier.map((each) => `${idOf(each)}#1`).sort(),
      action: 'patch-flag',
      flag: `f${object}`,
      operations: [{ op: 'replace', path: '/tags', value: at }],
      fields: { before: {}, after: {} },
    };
  });
  return aPlan({ steps, changes: steps.map(({ change }) => aChange(change, 'update')) });
}

/** What was seen of an apply. */
interface Seen {
  /** Positions of the steps as they were sent, with those that had ended well before. */
  readonly sent: {
    readonly at: number;
    readonly done: readonly number[];
    readonly open: readonly number[];
  }[];
  readonly outcomes: readonly (readonly [id: string, status: string])[];
}

/** Applies a plan against a service of which the answers come in some order. */
async function applied(
  drawn: readonly Drawn[],
  concurrency: number,
  choices: readonly number[],
): Promise<Seen> {
  const plan = planOf(drawn);
  const sent: Seen['sent'] = [];
  const done: number[] = [];
  const open = new Map<number, { readonly beside: boolean; readonly answer: () => void }>();
  const refusal = (status: number): RejectedError =>
    new RejectedError('refused', { status, serviceMessage: 'no', transactionId: null });
  const send = async (at: number): Promise<void> => {
    sent.push({ at, done: [...done], open: [...open.keys()] });
    for (const [each, { answer }] of open) open.set(each, { beside: true, answer });
    const beside = open.size > 0;
    await new Promise<void>((resolve) => open.set(at, { beside, answer: resolve }));
    const wasBeside = open.get(at)?.beside === true;
    open.delete(at);
    const end = drawn[at]?.end;
    if (end === 'refused') throw refusal(400);
    if (end === 'busy' && wasBeside) throw refusal(409);
    done.push(at);
  };
  // The apply asks nothing else of them: every step writes tags.
  const writer = {
    send: async ({ operations }: { readonly operations: readonly { value: number }[] }) => {
      await send(operations[0]?.value ?? -1);
      return {};
    },
  } as unknown as AdminWriter;
  const notes = new Map(plan.changes.map(({ id }) => [id, { title: 't', comment: 'c' }]));
  const at = { workspace: WORKSPACE, environments: [] };
  const context = {
    ...{ writer, at, notes },
    ...{ now: () => 0, observedAtMs: 0, killed: new Set<string>() },
  };
  const over = new AbortController();
  const run = applyPlan(plan, context, new AbortController().signal, { concurrency });
  const outcomes = run.finally(() => {
    over.abort();
  });
  for (let turn = 0; !over.signal.aborted; turn += 1) {
    const waiting = [...open.values()];
    const choice = choices[turn % choices.length] ?? 0;
    waiting[choice % Math.max(1, waiting.length)]?.answer();
    await new Promise(setImmediate);
  }
  return { sent, outcomes: [...(await outcomes)].map(([id, { status }]) => [id, status]) };
}

/** Whether a step fails, or needs one that does, however far back. */
function isStopped(drawn: readonly Drawn[], at: number): boolean {
  return (drawn[at]?.needs ?? []).some((back) => {
    const need = at - back;
    return need >= 0 && (drawn[need]?.end === 'refused' || isStopped(drawn, need));
  });
}

describe('an apply that sends side by side', () => {
  const someChoices = fc.array(fc.nat(), { minLength: 20, maxLength: 20 });

  it('keeps what is needed first, the order of each object, and its bound; and a failure stops what needs it alone', async () => {
    const law = fc.asyncProperty(
      someSteps,
      fc.integer({ min: 1, max: 8 }),
      someChoices,
      async (drawn, concurrency, choices) => {
        const { sent, outcomes } = await applied(drawn, concurrency, choices);

        for (const { at, done, open } of sent) {
          const needs = (drawn[at]?.needs ?? []).map((back) => at - back).filter((n) => n >= 0);
          expect(done).toEqual(expect.arrayContaining(needs));
          expect(open.length).toBeLessThan(concurrency);
          expect(open.map((each) => drawn[each]?.object)).not.toContain(drawn[at]?.object);
        }
        for (const object of new Set(drawn.map((each) => each.object))) {
          const firsts = [...new Set(sent.map(({ at }) => at))];
          const own = firsts.filter((at) => drawn[at]?.object === object);
          expect(own).toEqual([...own].sort((a, b) => a - b));
        }
        const expected = drawn.map(({ end }, at) => {
          if (isStopped(drawn, at)) return 'skipped';
          return end === 'refused' ? 'failed' : 'applied';
        });
        expect(outcomes.map(([, status]) => status)).toEqual(expected);
        expect(outcomes.map(([id]) => keyOfId(id))).toEqual(
          drawn.map(({ object }) => `flag/f${object}`),
        );
      },
    );
    await fc.assert(law, settings);
  });
});
