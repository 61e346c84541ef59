import { describe, expect, it } from 'vitest';
import type { WireFlag, WirePage } from '../../src/admin-api/wire.js';
import { aDefinition, at, callsOf, ruleOn } from '../support/service-calls.js';
import { aService } from '../support/service.js';

const service = aService();
const client = callsOf(service);

const FLAGS = '/splits/ws/Default';

/** A flag with a definition in both environments. */
async function flagCalled(name: string, definition = aDefinition()): Promise<WireFlag> {
  const flag = await client.flag(name);
  for (const environment of ['staging', 'production']) {
    await client.ok('POST', at(name, environment), definition);
  }
  return flag;
}

async function names(): Promise<string[]> {
  const { objects } = await client.ok<WirePage<WireFlag>>('GET', `${FLAGS}?limit=50`);
  return objects.map(({ name }) => name);
}

describe('an archived flag', () => {
  it('is in no list, is found by no name and no id, and keeps its name', async () => {
    const flag = await flagCalled('banner');

    const answer = await client.ok('POST', `${FLAGS}/banner/archive`, { comment: 'done with' });

    expect(answer).toEqual(flag);
    expect(await names()).not.toContain('banner');
    const definitions = `${FLAGS}/environments/staging`;
    expect(await client.ok('GET', definitions)).toMatchObject({ objects: [], totalCount: 0 });
    for (const path of [`${FLAGS}/banner`, `${FLAGS}/${flag.id}`, at('banner'), at(flag.id)]) {
      expect(await client.status('GET', path)).toBe(404);
    }
    expect(await client.status('POST', `${FLAGS}/banner/archive`)).toBe(404);
    const again = await client.call('POST', `${FLAGS}/trafficTypes/user`, { name: 'banner' });
    expect(again.body).toMatchObject({ code: 409, message: 'Feature flag banner is archived' });
  });

  it('comes back as it was, by name and by id', async () => {
    const flag = await flagCalled('wheel');
    const environments = ['staging', 'production'];
    const shown = async (): Promise<unknown[]> =>
      Promise.all(environments.map(async (each) => client.ok('GET', at('wheel', each))));
    const before = await shown();
    for (const nameOrId of ['wheel', flag.id]) {
      await client.ok('POST', `${FLAGS}/wheel/archive`);

      expect(await client.ok('POST', `${FLAGS}/${nameOrId}/unarchive`, '')).toEqual(flag);

      expect(await shown()).toEqual(before);
      expect(await names()).toContain('wheel');
    }
    expect(await client.status('POST', `${FLAGS}/wheel/unarchive`)).toBe(404);
  });

  it('is no flag that a rule can name, and no user of what its own rules name', async () => {
    await flagCalled('base');
    const onBase = { type: 'IN_SPLIT', depends: { splitName: 'base', treatments: ['on'] } };
    await flagCalled('user-of-base', aDefinition({ rules: [ruleOn(onBase)] }));
    const message = expect.stringContaining('is used by user-of-base') as string;
    const used = await client.call('POST', `${FLAGS}/base/archive`);
    expect(used.body).toMatchObject({ code: 409, message });

    await client.ok('POST', `${FLAGS}/user-of-base/archive`);
    await client.ok('POST', `${FLAGS}/base/archive`);

    const back = await client.call('POST', `${FLAGS}/user-of-base/unarchive`);
    expect(back.body).toMatchObject({ code: 409, message: 'There is no feature flag base' });
    await client.ok('POST', `${FLAGS}/base/unarchive`);
    await client.ok('POST', `${FLAGS}/user-of-base/unarchive`);
    expect(await client.status('DELETE', `${FLAGS}/base`)).toBe(409);
  });

  it('does not come back to a segment that is gone, and waits for no approval where it was not', async () => {
    await client.ok('POST', '/environments/ws/Default', {
      name: 'guarded',
      changePermissions: { areApprovalsRequired: true },
    });
    await client.segment('beta', 'staging', 'production');
    const inBeta = ruleOn({ type: 'IN_SEGMENT', string: 'beta' });
    await flagCalled('in-beta', aDefinition({ rules: [inBeta] }));
    await flagCalled('in-beta-here');
    await client.ok('PUT', at('in-beta-here'), aDefinition({ rules: [inBeta] }));
    for (const name of ['in-beta', 'in-beta-here']) {
      await client.ok('POST', `${FLAGS}/${name}/archive`);
    }
    await client.ok('DELETE', '/segments/production/beta');

    const here = await client.status('POST', `${FLAGS}/in-beta-here/unarchive`);
    const back = await client.call('POST', `${FLAGS}/in-beta/unarchive`);
    await client.ok('POST', '/segments/production/beta');
    const later = await client.status('POST', `${FLAGS}/in-beta/unarchive`);

    await client.ok('DELETE', '/environments/ws/Default/guarded');
    expect([here, back.status, later]).toEqual([200, 409, 200]);
    expect(back.text).toContain('There is no segment beta active in production');
  });

  it('does not come back without its traffic type, which it does not keep from being deleted', async () => {
    const path = '/trafficTypes/ws/Default';
    const { id } = await client.ok<{ id: string }>('POST', path, { name: 'device' });
    await client.ok('POST', `${FLAGS}/trafficTypes/device`, { name: 'of-device' });
    await client.ok('POST', `${FLAGS}/of-device/archive`);
    await client.ok('DELETE', `/trafficTypes/${id}`);

    const back = await client.call('POST', `${FLAGS}/of-device/unarchive`);

    const message = 'The traffic type of feature flag of-device is not there any more';
    expect(back.body).toMatchObject({ code: 409, message });
  });

  it('leaves a row in the audit log of each environment, with what was there and the words', async () => {
    await flagCalled('told');
    await client.ok('POST', `${FLAGS}/told/archive?title=Away&comment=INC-1`);
    await client.ok('POST', `${FLAGS}/told/unarchive`, { title: 'Back', comment: 'INC-2' });

    const rows = await service.audit({ name: 'told' });

    const told = rows.map(({ action, environment, title }) => [action, environment, title]);
    expect(told.slice(0, 6)).toEqual(
      expect.arrayContaining([
        ['unarchive', null, 'Back'],
        ['unarchive', 'production', 'Back'],
        ['unarchive', 'staging', 'Back'],
        ['archive', null, 'Away'],
        ['archive', 'production', 'Away'],
        ['archive', 'staging', 'Away'],
      ]),
    );
    const away = rows.find((row) => row.action === 'archive' && row.environment === 'staging');
    expect(JSON.stringify(away?.difference)).toContain('defaultTreatment');
  });

  it('comes back without what it had in an environment that is gone', async () => {
    await client.ok('POST', '/environments/ws/Default', { name: 'short' });
    await flagCalled('lasting');
    await client.ok('POST', at('lasting', 'short'), aDefinition());
    await client.ok('POST', `${FLAGS}/lasting/archive`);
    await client.ok('DELETE', '/environments/ws/Default/short');

    await client.ok('POST', `${FLAGS}/lasting/unarchive`);

    expect(await client.status('GET', at('lasting', 'production'))).toBe(200);
  });
});
