import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  INITIAL,
  next,
  retryDelayMs,
  type Effect,
  type Machine,
  type MachineEvent,
} from '../../../../src/daemon/source/machine.js';
import type { Trigger } from '../../../../src/daemon/view.js';

const trigger = (name: Trigger): MachineEvent => ({ type: 'trigger', trigger: name });
const TIME: MachineEvent = { type: 'time-is-up' };
const SETTLED: MachineEvent = { type: 'ended', failed: false };
const FAILED: MachineEvent = { type: 'ended', failed: true };
const STOP: MachineEvent = { type: 'stop' };

/** Phases gone through, and every effect, in words. */
function story(...events: readonly MachineEvent[]): { phases: string[]; effects: string[] } {
  let state: Machine = INITIAL;
  const phases: string[] = [];
  const effects: string[] = [];
  for (const event of events) {
    const transition = next(state, event);
    state = transition.state;
    phases.push(state.phase);
    effects.push(...transition.effects.map(words));
  }
  return { phases, effects };
}

function words(effect: Effect): string {
  if (effect.do === 'run') return `run ${effect.triggers.join('+')}`;
  if (effect.do !== 'wait') return effect.do;
  return effect.for === 'debounce' ? 'debounce' : `retry after ${effect.failures}`;
}

const start = trigger('start');
const commit = trigger('commit');
const kill = trigger('kill');

describe('the machine of a source', () => {
  it.each<[string, readonly MachineEvent[], string, readonly string[]]>([
    [
      'waits a moment for more after a commit, and runs once for all that came',
      [commit, trigger('files'), commit, TIME, SETTLED],
      'debouncing debouncing debouncing running idle',
      ['debounce', 'run commit+files'],
    ],
    [
      'runs again, once, for what came while it ran',
      [start, commit, commit, trigger('webhook'), SETTLED, SETTLED],
      'running queued queued queued running idle',
      ['run start', 'run commit+webhook'],
    ],
    [
      'backs off longer with each failure, and forgets them with the first success',
      [start, FAILED, TIME, FAILED, TIME, SETTLED, trigger('schedule'), FAILED],
      'running backing-off running backing-off running idle running backing-off',
      [
        ...['run start', 'retry after 1', 'run retry', 'retry after 2', 'run retry'],
        ...['run schedule', 'retry after 1'],
      ],
    ],
    [
      'keeps commits that come while it backs off for the retry',
      [start, FAILED, commit, TIME],
      'running backing-off backing-off running',
      ['run start', 'retry after 1', 'run commit+retry'],
    ],
    [
      'interrupts the run under way for a kill, once, and for nothing else',
      [start, trigger('request'), kill, kill, SETTLED],
      'running queued queued queued running',
      ['run start', 'interrupt', 'run request+kill'],
    ],
    [
      'lets a run under way end before it is stopped, and hears nothing more',
      [start, STOP, kill, SETTLED, STOP, TIME],
      'running stopping stopping stopped stopped stopped',
      ['run start', 'interrupt', 'stopped'],
    ],
    ['stops at once where nothing is under way', [STOP], 'stopped', ['stopped']],
    [
      'gives its wait up when it is stopped',
      [trigger('files'), STOP],
      'debouncing stopped',
      ['debounce', 'cancel-wait', 'stopped'],
    ],
    ...(['kill', 'request', 'signal', 'adopt'] as const).flatMap(
      (urgent): [string, MachineEvent[], string, string[]][] => {
        const now = trigger(urgent);
        const interrupts = urgent === 'kill' ? ['interrupt'] : [];
        return [
          [
            `lets ${urgent} wait for no further commits`,
            [commit, now],
            'debouncing running',
            ['debounce', 'cancel-wait', `run commit+${urgent}`],
          ],
          [
            `lets ${urgent} wait for no retry`,
            [start, FAILED, now, now, FAILED],
            'running backing-off running queued running',
            [
              ...['run start', 'retry after 1', 'cancel-wait', `run ${urgent}`],
              ...[...interrupts, `run ${urgent}`],
            ],
          ],
        ];
      },
    ),
  ])('%s', (_, events, phases, effects) => {
    expect(story(...events)).toEqual({ phases: phases.split(' '), effects });
  });
});

describe('backing off', () => {
  it('is doubled up to two minutes, with a half of it left to chance', () => {
    expect([1, 2, 3, 7, 1_000].map((failures) => retryDelayMs(failures, 0))).toEqual([
      500, 1_000, 2_000, 32_000, 60_000,
    ]);
    expect(retryDelayMs(1_000, 0.999_999)).toBe(120_000);
  });
});

const anyTrigger = fc.constantFrom<Trigger>(
  'start',
  'files',
  'commit',
  'schedule',
  'kill',
  'webhook',
  'request',
  'signal',
);
const anyEvent = fc.oneof(
  { weight: 4, arbitrary: anyTrigger.map(trigger) },
  { weight: 2, arbitrary: fc.constant(TIME) },
  { weight: 3, arbitrary: fc.boolean().map((failed) => ({ type: 'ended' as const, failed })) },
);

/** The world around the machine: it ends runs that were started and waits that were asked for, and no others. */
class World {
  state: Machine = INITIAL;
  running = false;
  waiting = false;
  stopped = 0;
  readonly unserved = new Set<Trigger>();

  send(event: MachineEvent): void {
    if (event.type === 'ended' && !this.running) return;
    if (event.type === 'time-is-up' && !this.waiting) return;
    if (event.type === 'ended') this.running = false;
    if (event.type === 'time-is-up') this.waiting = false;
    if (event.type === 'trigger') this.unserved.add(event.trigger);
    const { state, effects } = next(this.state, event);
    this.state = state;
    for (const effect of effects) this.#take(effect);
  }

  #take(effect: Effect): void {
    switch (effect.do) {
      case 'run':
        expect(this.running, 'two runs at once').toBe(false);
        expect(this.stopped, 'a run after the stop').toBe(0);
        expect(effect.triggers.length).toBeGreaterThan(0);
        this.running = true;
        for (const each of effect.triggers) this.unserved.delete(each);
        return;
      case 'wait':
        expect(this.waiting, 'two waits at once').toBe(false);
        this.waiting = true;
        return;
      case 'cancel-wait':
        expect(this.waiting, 'no wait to cancel').toBe(true);
        this.waiting = false;
        return;
      case 'interrupt':
        expect(this.running, 'no run to interrupt').toBe(true);
        return;
      case 'stopped':
        expect(this.running, 'stopped under a run').toBe(false);
        this.stopped += 1;
    }
  }
}

describe('the machine, whatever happens', () => {
  it('never runs twice at once, loses no trigger, and comes to rest', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 60 }), (events) => {
        const world = new World();
        for (const event of events) world.send(event);
        for (let rounds = 0; rounds < 10 && (world.running || world.waiting); rounds += 1) {
          world.send(SETTLED);
          world.send(TIME);
        }
        expect([...world.unserved]).toEqual([]);
        expect(world.state.phase).toBe('idle');
      }),
    );
  });

  it('always ends stopped, once, and waits for nothing then', () => {
    fc.assert(
      fc.property(
        fc.array(anyEvent, { maxLength: 40 }),
        fc.array(anyEvent, { maxLength: 10 }),
        (before, after) => {
          const world = new World();
          for (const event of before) world.send(event);
          world.send(STOP);
          for (const event of after) world.send(event);
          world.send(SETTLED);
          expect(world.state.phase).toBe('stopped');
          expect(world).toMatchObject({ stopped: 1, running: false, waiting: false });
        },
      ),
    );
  });
});
