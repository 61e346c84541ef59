import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Definition } from '../../src/model/flag/flag.js';
import {
  bindEnvironments,
  environmentNames,
  type BoundDesired,
} from '../../src/model/bound-desired.js';
import { SpecCache } from '../../src/specs/cache.js';
import { readSpecs } from '../../src/specs/read-specs.js';
import { ENVIRONMENTS } from '../support/builders.js';
import { sharesOf } from '../support/on-off.js';
import { askedBy, DEFAULT, Oracle } from '../support/ramp-law/oracle.js';
import {
  edited,
  EPOCH_MS,
  filesOf,
  FIRST,
  FREEZE,
  HOUR_MS,
  someEdit,
  type Rollout,
} from '../support/ramp-law/specs.js';
import { RampWorld, type Ran } from '../support/ramp-law/world.js';
import { treeOf } from '../support/spec-tree.js';
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
      const world = new RampWorld({ ...onDefault(0), killed: false });
      const oracle = new Oracle();
      const cache = new SpecCache();
      let rollout = FIRST;
      let hour = 0;
      let specs = await specsOf(rollout, cache);
      const run = async (desired: BoundDesired, isStateless = false): Promise<Ran> =>
        world.run(desired, EPOCH_MS + hour * HOUR_MS, { isStateless });
      for (const { hours, isRun, what } of events) {
        hour += hours;
        if (what.edit !== null) {
          const next = edited(rollout, what.edit, what.numbers);
          const read = await specsOf(next, cache);
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
          const expected = oracle.stateless(rollout, sharesIn(world.live), isKilled(), hour);
          await run(specs, true);
          const live = [...sharesIn(world.live)];
          if (!isFrozen) expect(live).toEqual(asked.map((each) => [each, expected.get(each)]));
          world.live = before;
        }
        if (!isRun && does !== 'share by hand') continue;
        const ownShare = world.share;
        const isByHand = does === 'share by hand' && what.edit === null;
        if (isByHand) world.live = { ...world.live, ...onDefault(what.share) };
        const found = sharesIn(world.live);
        const expected = oracle.expected(rollout, found, isKilled(), hour);
        const { open } = await run(specs);
        const live = [...sharesIn(world.live)];
        const isEqual = {
          rules: !open.has('/rules'),
          ofDefault: !open.has('/defaultRule'),
          whole: open.size === 0,
        };
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
        if (isByHand && !isEqual.ofDefault) world.live = { ...world.live, ...onDefault(ownShare) };
      }
    }),
    SETTINGS,
  );
});

/** Null: the specs are not valid. */
async function specsOf(rollout: Rollout, cache: SpecCache): Promise<BoundDesired | null> {
  const result = await readSpecs(treeOf(filesOf(rollout)), cache);
  return result.ok ? bindEnvironments(result.desired, environmentNames(ENVIRONMENTS)) : null;
}

function onDefault(share: number): Pick<Definition, 'defaultRule'> {
  return { defaultRule: sharesOf(share) };
}

/** By what each rule asks for, the default rule at the end. */
function sharesIn({ rules = [], defaultRule = [] }: Definition): ReadonlyMap<string, number> {
  const shareOf = (buckets: typeof defaultRule): number =>
    buckets.find(({ treatment }) => treatment === 'on')?.size ?? 0;
  const shares = rules.map(({ matchers: [matcher], buckets }): [string, number] => {
    const { attribute, ...rest } = matcher ?? { type: '' };
    const values = Object.values(rest).find(Array.isArray) ?? [];
    return [
      askedBy({ attribute: attribute as string, values: values as string[] }),
      shareOf(buckets),
    ];
  });
  return new Map([...shares, [DEFAULT, shareOf(defaultRule)]]);
}
