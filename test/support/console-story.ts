import { addConsole } from '../../src/console/console.js';
import { aDefinition, callsOf, ruleOn } from './service-calls.js';
import { startTestService, type TestService } from './service.js';

const matcher = (type: string, rest: object): object => ({
  type,
  negate: false,
  ...rest,
});

/** A service with a console, over a shop in three environments: something at 25 %, something targeted, something killed. */
export async function aShopWithConsole(
  options: Parameters<typeof startTestService>[0] = {},
): Promise<TestService> {
  const environments = [
    { name: 'dev' },
    { name: 'staging' },
    { name: 'production', production: true },
  ];
  const workspaces = [
    { name: 'Shop', environments, trafficTypes: ['user'] },
    { name: 'Warehouse', environments: [{ name: 'live' }], trafficTypes: ['user'] },
  ];
  const service = await startTestService({ seed: { workspaces }, console: addConsole, ...options });
  const client = callsOf(service);
  const flag = async (name: string, description: string, definitions: object): Promise<void> => {
    const note = `title=Add+${name}&comment=For+the+autumn+sale`;
    await client.ok('POST', `/splits/ws/Shop/trafficTypes/user?${note}`, { name, description });
    for (const [environment, changed] of Object.entries(definitions)) {
      const path = `/splits/ws/Shop/${name}/environments/${environment}?${note}`;
      await client.ok('POST', path, aDefinition(changed as object));
    }
  };
  for (const environment of ['dev', 'staging', 'production']) {
    if (environment === 'dev')
      await client.ok('POST', '/segments/ws/Shop/trafficTypes/user', {
        name: 'beta-testers',
        description: 'People who asked to see new things',
      });
    await client.ok('POST', `/segments/${environment}/beta-testers`);
  }
  const keys = Array.from({ length: 450 }, (_, index) => `user-${String(index).padStart(4, '0')}`);
  await client.ok('PUT', '/segments/production/beta-testers/upload', keys);
  const all = { defaultRule: [{ treatment: 'on', size: 100 }] };
  const share = (on: number): object => ({
    defaultRule: [
      { treatment: 'on', size: on },
      { treatment: 'off', size: 100 - on },
    ],
  });
  const rules = [
    ruleOn(matcher('IN_SEGMENT', { string: 'beta-testers' })),
    ruleOn(matcher('IN_LIST_STRING', { attribute: 'country', strings: ['ES', 'PT'] })),
  ];
  const targeted = [{ name: 'on', keys: ['ana', 'bo', 'chu'] }, { name: 'off' }];
  await flag('checkout-v2', 'The checkout in one page', {
    dev: all,
    staging: { ...share(50), rules },
    production: { ...share(25), rules, treatments: targeted },
  });
  await flag('new-search', 'Search that forgives typing errors', {
    dev: all,
    production: share(60),
  });
  await flag('recommendations', 'Others also bought', { dev: all, staging: all, production: all });
  const kill = '/splits/ws/Shop/recommendations/environments/production/kill';
  await client.ok('PUT', `${kill}?title=Kill&comment=INC-6012:+slow+answers`);
  return service;
}
