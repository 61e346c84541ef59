import { beforeEach, expect, it } from 'vitest';
import {
  appliedWorld,
  flagSpec,
  toldOf,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

const NEEDED = 'rules: [{ if: { segment: beta }, serve: { "on": 100 } }]';
const SEGMENT = `segment: beta
environments:
  production: { keys: [ana] }
`;

let world: PipelineWorld;

beforeEach(async () => {
  world = await appliedWorld({
    'flags/pay.yaml': flagSpec('pay'),
    'segments/beta.yaml': SEGMENT,
  });
});

async function deactivate(): Promise<void> {
  const path = `/segments/${world.live.production}/beta`;
  await world.live.ok('PUT', `${path}/removeKeys`, { keys: ['ana'], comment: 'c' });
  await world.live.ok('DELETE', path);
  world.service.requests.length = 0;
}

function commitRule(): void {
  world.repository.commit('Serve pay to beta', {
    'flags/pay.yaml': flagSpec('pay', { production: NEEDED }),
  });
}

it.each([{ only: ['flag/pay'] }, { touchedSince: 'state' } as const])(
  'a run over a part holds a rule back whose segment somebody deactivated, as a run over all does: %o',
  async (settings) => {
    await deactivate();
    commitRule();

    const done = await world.applied(settings);

    expect(toldOf(done)).toEqual(['withheld flag/pay@production needs-withheld']);
    expect(done.plan.withheld[0]?.because).toBe(
      'it needs segment/beta@production, which is not on the service',
    );
    expect(done.converged).toBe(true);
    expect(world.writes()).toEqual([]);
    expect(toldOf(await world.applied()).join()).toContain('flag/pay@production needs-withheld');
  },
);

it('a run over what was touched looks at what changed rules name, and at that alone', async () => {
  const looks = (): string[] =>
    world.service.requests
      .splice(0)
      .map(({ path }) => path.split('/').slice(4).join('/'))
      .filter((path) => path.startsWith('segments/'));
  commitRule();
  world.service.requests.length = 0;

  expect(toldOf(await world.applied({ touchedSince: 'state' }))).toEqual([
    'update flag/pay@production applied',
  ]);

  expect(looks()).toEqual([`segments/${world.live.production}/beta/keys`]);
  world.repository.commit('Ramp pay', {
    'flags/pay.yaml': flagSpec('pay', { on: 20, production: NEEDED }),
  });
  await world.applied({ touchedSince: 'state' });
  expect(looks()).toEqual([]);
});
