import { addConsole } from '../../src/console/console.js';
import { sharesOf } from './on-off.js';
import { aDefinition, callsOf, ruleOn } from './service-calls.js';
import { startTestService, type TestService } from './service.js';

const matcher = (type: string, rest: object): object => ({
  type,
  negate: false,
  ...rest,
});

/**
 * What somebody asks for in that shop: less of a flag and a key more in staging, which wait, and a kill in dev that is withdrawn.
 * The change of the flag comes last, and is the newest.
 */
export async function askForChanges(service: Pick<TestService, 'origin' | 'key'>): Promise<void> {
  const client = callsOf(service);
  const ask = async (environment: string, body: object): Promise<{ id: string }> =>
    client.ok('POST', `/changeRequests/ws/Shop/environments/${environment}`, body);
  const kill = { split: { name: 'checkout-v2' }, operationType: 'KILL', title: 'Too early' };
  const { id } = await ask('dev', kill);
  await client.ok('PUT', `/changeRequests/${id}`, { status: 'WITHDRAWN', comment: 'Not needed' });
  const segment = { name: 'beta-testers', keys: ['user-0451'] };
  await ask('staging', { segment, operationType: 'CREATE', title: 'One more' });
  const split = aDefinition({
    name: 'checkout-v2',
    treatments: [{ name: 'on', keys: ['ana'] }, { name: 'off' }],
    trafficAllocation: 80,
  });
  const note = { title: 'Less of it', comment: 'Until the slow query is gone' };
  await ask('staging', { split, operationType: 'UPDATE', ...note });
}

/** A long text in the middle of which `word` is the difference: 60 lines, the middle one of 500 characters. */
function aLongText(word: string): string {
  return Array.from({ length: 60 }, (_, line) => {
    return line === 30 ? `${'long '.repeat(50)}${word}${' long'.repeat(50)}` : `  line ${line}`;
  }).join('\n');
}

export const LONG_KEYS = Array.from({ length: 60 }, (_, n) => `customer-number-${String(n)}`);

/**
 * A request of a single large change in staging: 60 targeted keys, a new rule with 60 values, a configuration of many
 * lines, and words with line breaks.
 */
export async function askForALargeChange(
  service: Pick<TestService, 'origin' | 'key'>,
): Promise<void> {
  const client = callsOf(service);
  const path = '/splits/ws/Shop/recommendations/environments/staging';
  const treatments = (word: string, keys: readonly string[]) => [
    { name: 'on', keys, configurations: JSON.stringify(aLongText(word)) },
    { name: 'off' },
  ];
  await client.ok('PUT', path, aDefinition({ treatments: treatments('before', []) }));
  const countries = LONG_KEYS.map((key) => `country of ${key}`);
  const split = aDefinition({
    name: 'recommendations',
    treatments: treatments('after', LONG_KEYS),
    rules: [ruleOn(matcher('IN_LIST_STRING', { attribute: 'country', strings: countries }))],
  });
  const note = { title: 'Much at once', comment: 'First line\nSecond line' };
  const body = { split, operationType: 'UPDATE', ...note };
  await client.ok('POST', '/changeRequests/ws/Shop/environments/staging', body);
}

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
  const segment = { name: 'beta-testers', description: 'People who asked to see new things' };
  await client.ok('POST', '/segments/ws/Shop/trafficTypes/user', segment);
  for (const { name } of environments) await client.ok('POST', `/segments/${name}/beta-testers`);
  const keys = Array.from({ length: 450 }, (_, index) => `user-${String(index).padStart(4, '0')}`);
  await client.ok('PUT', '/segments/production/beta-testers/upload', keys);
  const share = (on: number): object => ({ defaultRule: sharesOf(on) });
  const all = share(100);
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
