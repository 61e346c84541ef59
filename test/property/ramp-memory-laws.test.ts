import fc from 'fast-check';
import { expect, it } from 'vitest';
import { askedBy, DEFAULT, Oracle } from '../support/ramp-law/oracle.js';
import { edited, FIRST, FREEZE, someEdit } from '../support/ramp-law/specs.js';
import { RampWorld } from '../support/ramp-law/world.js';
import { lawSettings } from './law-settings.js';

const SETTINGS = lawSettings('law of remembered ramps', 200);

/** What happens in some hours, and whether a run looks at it: several commits may come before one does. */
const someEvent = fc.record({
  hours: fc.integer({ min: 0, max: 15 }),
  isRun: fc.boolean(),
  what: fc.oneof(
    { weight: 8, arbitrary: someEdit },
    { weight: 3, arbitrary: fc.constant({ edit: null, does: 'nothing' as const, share: 0 }) },
    {
      weight: 2,
      arbitrary: fc.record({
        edit: fc.constant(null),
        does: fc.constantFrom(
          'kill by hand',
          'lose the state',
          'run without a state',
          'share by hand',
        ),
        share: fc.nat(100),
      }),
    },
  ),
});

it('whatever is edited, moved, killed or lost, what a run writes is what the ladders say', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someEvent, { minLength: 4, maxLength: 14 }), async (events) => {
      const world = new RampWorld();
      const oracle = new Oracle();
      let rollout = FIRST;
      let hour = 0;
      let specs = await world.specsOf(rollout);
      for (const { hours, isRun, what } of events) {
        hour += hours;
        if (what.edit !== null) {
          const next = edited(rollout, what.edit, what.numbers);
          const read = await world.specsOf(next);
          // Two ramps that no run could tell apart are refused.
          if (read !== null) [rollout, specs] = [next, read];
        }
        if (specs === null) throw new Error('the first specs are not valid');
        const does = what.edit === null ? what.does : 'nothing';
        if (does === 'kill by hand') world.live = { ...world.live, killed: !world.isKilled };
        if (does === 'lose the state') {
          world.loseState();
          oracle.loseState();
        }
        const before = world.live;
        const isKilled = (): boolean => rollout.killed || world.isKilled;
        const asked = [...rollout.rules.map(askedBy), DEFAULT];
        const isFrozen = hour >= FREEZE[0] && hour < FREEZE[1];
        if (does === 'run without a state') {
          const expected = oracle.stateless(rollout, world.shares, isKilled(), hour);
          const { live } = await world.run(specs, hour, true);
          if (!isFrozen) expect(live).toEqual(asked.map((each) => [each, expected.get(each)]));
          world.live = before;
        }
        if (!isRun && does !== 'share by hand') continue;
        const ownShare = world.shares.get(DEFAULT) ?? 0;
        const isByHand = does === 'share by hand' && what.edit === null;
        if (isByHand) world.setDefault(what.share);
        const found = world.shares;
        const expected = oracle.expected(rollout, found, isKilled(), hour);
        const { live, isEqual } = await world.run(specs, hour);
        const said = asked.map((each) => [each, expected.get(each)]);
        if (isFrozen) {
          for (const [asks, share] of live) {
            expect([found.get(asks), expected.get(asks)]).toContain(share);
          }
        } else if (isByHand && !isEqual.ofDefault) {
          expect(live).toEqual([...said.slice(0, -1), [DEFAULT, what.share]]);
        } else {
          expect(live).toEqual(said);
          expect(isEqual).toMatchObject({ rules: true, ofDefault: true });
        }
        oracle.ran(rollout, expected, { ...isEqual, killed: isKilled() });
        if (isByHand && !isEqual.ofDefault) world.setDefault(ownShare);
      }
    }),
    SETTINGS,
  );
});
