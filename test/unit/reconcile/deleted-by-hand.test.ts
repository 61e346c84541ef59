import { describe, expect, it } from 'vitest';
import type { Applied } from '../../../src/reconcile/context.js';
import type { ServiceOptions } from '../../../src/service/service.js';
import { withIdsAlone } from '../../support/service-habits.js';
import {
  appliedWorld,
  PIPELINE_CONFIG,
  toldOf,
  type PipelineWorld,
} from '../../support/pipeline-world.js';
import { aDefinition } from '../../support/service-calls.js';

const REVERTING = PIPELINE_CONFIG.replace('staging: {}', 'staging: { onDrift: revert }').replace(
  'production: {}',
  'production: { onDrift: revert }',
);

/** In production alone. */
const PAY = `flag: pay
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  production: { defaultRule: { "on": 10, "off": rest } }
`;

let world: PipelineWorld;

/** A service that has `pay` as the specs say. */
async function begin(options: Partial<ServiceOptions>, config = PIPELINE_CONFIG): Promise<void> {
  world = await appliedWorld(
    {
      'flagkeel.yaml': `${config}prune: true\nguards: { maxDeletePercent: 100 }\n`,
      'flags/pay.yaml': PAY,
      'flags/stays.yaml': PAY.replace('pay', 'stays'),
    },
    options,
  );
}

/** What somebody does to `pay`; the path goes on after the flag. */
async function byHand(method: string, path = '', body?: object): Promise<void> {
  await world.live.ok(method, `/splits/ws/${world.live.id}/pay${path}`, body);
}

async function makeAnother(): Promise<void> {
  await world.live.ok('POST', `/splits/ws/${world.live.id}/trafficTypes/user`, { name: 'pay' });
}

async function removed(): Promise<Applied> {
  world.repository.commit('Remove pay', { 'flags/pay.yaml': null });
  return world.applied();
}

/** Requests that wrote something, as the service tells it. */
function written(): string[] {
  const done = world.writes().filter(({ status }) => status === 200);
  return done.map(({ method, path }) => `${method} ${path.split('/').slice(7).join('/')}`);
}

it.each<[string, Partial<ServiceOptions>, 'staging' | 'production' | null, string[]]>([
  [
    'a definition that only its id finds',
    { middleware: withIdsAlone },
    'staging',
    ['withheld flag/pay not-ours'],
  ],
  [
    'a definition where ours had one',
    { strict: true },
    'production',
    ['withheld flag/pay not-ours', 'withheld flag/pay@production not-ours'],
  ],
  [
    'nothing that a read shows',
    { strict: true },
    null,
    ['delete flag/pay skipped', 'withheld flag/pay not-ours'],
  ],
])(
  'a flag that somebody deleted and made anew stays when git removes it, with %s',
  async (_, options, place, told) => {
    await begin(options);
    await byHand('DELETE');
    await makeAnother();
    if (place !== null) await byHand('POST', `/environments/${world.live[place]}`, aDefinition());
    world.writes();

    const done = await removed();

    expect(toldOf(done)).toEqual(told);
    const why = 'another flag has the name "pay" by now';
    if (place === null) expect(done.outcomes.get('flag/pay')).toMatchObject({ why });
    expect(written().filter((each) => place !== null || each.startsWith('DELETE'))).toEqual([]);
    expect(done.converged).toBe(true);
  },
);

describe('a flag that somebody deleted, on a service that shows no flags', () => {
  it('is gone once git removes it as well', async () => {
    await begin({ strict: true });
    await byHand('DELETE');
    world.writes();

    const done = await removed();

    expect(done.converged).toBe(true);
    expect(done.outcomes.get('flag/pay')).toMatchObject({ status: 'skipped' });
    expect([...done.state.keys()]).toEqual(['flag/stays']);
    expect((await world.applied()).plan.changes).toEqual([]);
  });

  it('is made again in one run where drift is reverted, and the run tells all that it made', async () => {
    await begin({ strict: true }, REVERTING);
    await byHand('DELETE');
    world.writes();

    const done = await world.applied();

    expect(toldOf(done)).toEqual(['create flag/pay@production applied', 'create flag/pay applied']);
    expect(done.converged).toBe(true);
    expect((await world.applied()).plan.changes).toEqual([]);
  });

  it('is left as it is where drift is reported, and a new block of it waits', async () => {
    await begin({ strict: true });
    await byHand('DELETE');
    world.repository.commit('Take pay to staging', {
      'flags/pay.yaml': `${PAY}  staging: { defaultRule: { "on": 50, "off": rest } }\n`,
    });
    world.writes();

    const done = await world.applied();

    expect(toldOf(done)).toEqual([
      'create flag/pay@staging skipped',
      'withheld flag/pay drift-reported',
      'withheld flag/pay@production drift-reported',
      'withheld flag/pay@staging needs-withheld',
    ]);
    expect(done.verdict.objects.get('flag/pay@staging')).toMatchObject({ is: 'waits' });
    expect(done.converged).toBe(true);
    expect(written()).toEqual([]);
  });
});

it('a flag that somebody deleted is not said to be in sync by a look at what was touched', async () => {
  await begin({});
  await byHand('DELETE');
  const full = await world.applied();

  const touched = await world.applied({ touchedSince: 'state' });

  expect(full.verdict.whole).toBe('waits');
  expect(touched.plan.observed).toBe('touched');
  for (const id of ['flag/pay', 'flag/pay@production'] as const)
    expect(touched.verdict.objects.get(id)).toMatchObject({ is: 'waits' });
  expect(touched.plan.notCompared).toEqual([]);
  expect(touched.plan.changes).toEqual([]);
});

it('counts a deletion that is answered 404 as done where a look shows that it is gone', async () => {
  let isFirst = true;
  await begin({
    middleware: (next) => (request, response) => {
      const isOvertaken = request.method === 'DELETE' && isFirst;
      if (!isOvertaken) {
        next(request, response);
        return;
      }
      isFirst = false;
      // Somebody else is quicker.
      void byHand('DELETE', `/environments/${world.live.production}`).then(() => {
        next(request, response);
      });
    },
  });

  const done = await removed();

  expect(toldOf(done)).toEqual(['delete flag/pay@production skipped', 'delete flag/pay applied']);
  expect(done.outcomes.get('flag/pay@production')).toMatchObject({
    why: expect.stringMatching(/^it is as git wants it by now .*404/) as string,
  });
});

it('a definition that somebody made, and that only its id finds, is not created over once git declares it', async () => {
  await begin({ middleware: withIdsAlone });
  const { live, repository } = world;
  await live.ok('POST', `/splits/ws/${live.id}/trafficTypes/user`, { name: 'cart' });
  await live.ok('POST', live.at('cart'), aDefinition());
  repository.commit('Add cart', { 'flags/cart.yaml': PAY.replace('pay', 'cart') });

  const done = await world.applied();

  expect(toldOf(done)).toEqual(['withheld flag/cart@production adopt-needed']);
  expect(done.verdict.whole).toBe('held');
});
