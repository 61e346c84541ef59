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

describe('the machine of a source', () => {
  it('waits a moment for more after a commit, and runs once for all that came', () => {
    expect(story(trigger('commit'), trigger('files'), trigger('commit'), TIME, SETTLED)).toEqual({
      phases: ['debouncing', 'debouncing', 'debouncing', 'running', 'idle'],
      effects: ['debounce', 'run commit+files'],
    });
  });

  it('runs again, once, for what came while it ran', () => {
    const { phases, effects } = story(
      trigger('start'),
      trigger('commit'),
      trigger('commit'),
      trigger('webhook'),
      SETTLED,
      SETTLED,
    );
    expect(phases).toEqual(['running', 'queued', 'queued', 'queued', 'running', 'idle']);
    expect(effects).toEqual(['run start', 'run commit+webhook']);
  });

  it('backs off longer with each failure, and forgets them with the first success', () => {
    const { effects } = story(
      trigger('start'),
      FAILED,
      TIME,
      FAILED,
      TIME,
      SETTLED,
      trigger('schedule'),
      FAILED,
    );
    expect(effects).toEqual([
      'run start',
      'retry after 1',
      'run retry',
      'retry after 2',
      'run retry',
      'run schedule',
      'retry after 1',
    ]);
  });

  it('keeps commits that come while it backs off for the retry', () => {
    const { phases, effects } = story(trigger('start'), FAILED, trigger('commit'), TIME);
    expect(phases).toEqual(['running', 'backing-off', 'backing-off', 'running']);
    expect(effects.at(-1)).toBe('run commit+retry');
  });

  it.each(['kill', 'request', 'signal', 'adopt'] as const)('lets %s wait for nothing', (urgent) => {
    expect(story(trigger('commit'), trigger(urgent)).effects).toEqual([
      'debounce',
      'cancel-wait',
      `run commit+${urgent}`,
    ]);
    expect(story(trigger('start'), FAILED, trigger(urgent)).effects.slice(2)).toEqual([
      'cancel-wait',
      `run ${urgent}`,
    ]);
    expect(story(trigger('start'), trigger(urgent), FAILED).effects.at(-1)).toBe(`run ${urgent}`);
  });

  it('interrupts the run under way for a kill, once, and for nothing else', () => {
    const { effects } = story(
      trigger('start'),
      trigger('request'),
      trigger('kill'),
      trigger('kill'),
      SETTLED,
    );
    expect(effects).toEqual(['run start', 'interrupt', 'run request+kill']);
  });

  it('lets a run under way end before it is stopped, and hears nothing more', () => {
    const { phases, effects } = story(trigger('start'), STOP, trigger('kill'), SETTLED, STOP, TIME);
    expect(phases).toEqual(['running', 'stopping', 'stopping', 'stopped', 'stopped', 'stopped']);
    expect(effects).toEqual(['run start', 'interrupt', 'stopped']);
  });

  it('stops at once where nothing is under way, and gives its wait up', () => {
    expect(story(STOP).effects).toEqual(['stopped']);
    expect(story(trigger('files'), STOP).effects).toEqual(['debounce', 'cancel-wait', 'stopped']);
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
