import type { WireDefinition } from '../../src/admin-api/wire.js';
import { aDefinition, callsOf, ruleOn, type ServiceCalls } from './service-calls.js';
import type { TestService } from './service.js';
import { sharesOf } from './on-off.js';

type Environment = 'staging' | 'production';

/** Ids of the workspace `Default` of a test service, and the way to it. Without an environment, production is meant. */
export interface LiveWorkspace extends ServiceCalls {
  readonly id: string;
  readonly staging: string;
  readonly production: string;
  /** Path of a definition. */
  at(flag: string, environment?: Environment): string;
  definition(flag: string, environment?: Environment): Promise<WireDefinition>;
  /** The percentage of `on` in the default rule. */
  share(flag: string, environment?: Environment): Promise<number>;
  /** Sets fields of a definition as somebody does by hand; `on`: the percentage in the default rule. */
  set(flag: string, fields: HandEdit, environment?: Environment): Promise<void>;
  /** Sets change permissions of production. */
  permit(permissions: Readonly<Record<string, boolean>>): Promise<void>;
}

type HandEdit = Partial<WireDefinition> & { readonly on?: number };

export async function liveWorkspace(service: TestService): Promise<LiveWorkspace> {
  const calls = callsOf(service);
  const { objects } = await calls.ok<{ objects: { id: string }[] }>('GET', '/workspaces');
  const id = objects[0]?.id ?? '';
  const all = await calls.ok<{ id: string; name: string }[]>('GET', `/environments/ws/${id}`);
  const idOf = (name: string): string => all.find((each) => each.name === name)?.id ?? '';
  const ids = { staging: idOf('staging'), production: idOf('production') };
  const at: LiveWorkspace['at'] = (flag, environment = 'production') =>
    `/splits/ws/${id}/${flag}/environments/${ids[environment]}`;
  const definition: LiveWorkspace['definition'] = async (...place) => calls.ok('GET', at(...place));
  return {
    ...{ ...calls, id, ...ids, at, definition },
    share: async (...place) => {
      const { defaultRule } = await definition(...place);
      return defaultRule.find(({ treatment }) => treatment === 'on')?.size ?? 0;
    },
    set: async (flag, { on, ...fields }, environment) => {
      const all = { ...fields, ...(on !== undefined && { defaultRule: sharesOf(on) }) };
      const operations = Object.entries(all).map(([name, value]) => {
        return { op: 'replace', path: `/${name}`, value };
      });
      await calls.ok('PATCH', at(flag, environment), operations);
    },
    permit: async (permissions) => {
      const operations = Object.entries(permissions).map(([name, value]) => {
        return { op: 'replace', path: `/changePermissions/${name}`, value };
      });
      await calls.ok('PATCH', `/environments/ws/${id}/${ids.production}`, operations);
    },
  };
}

/** What people made by hand before there was git: two flags and two segments, of nearly every shape. */
export async function makeByHand(
  live: LiveWorkspace,
  { hasConfigurations = true } = {},
): Promise<void> {
  const { id, staging, production } = live;
  const ok: LiveWorkspace['ok'] = async (...request) => live.ok(...request);
  const flags = `/splits/ws/${id}`;
  const staff = { name: 'staff', description: 'Everybody on the payroll' };
  await ok('POST', `/segments/ws/${id}/trafficTypes/user`, staff);
  await ok('POST', `/segments/ws/${id}/trafficTypes/user`, { name: 'beta', description: '' });
  for (const environment of [staging, production]) {
    await ok('POST', `/segments/${environment}/staff`);
  }
  await ok('POST', `/segments/${production}/beta`);
  await ok('PUT', `/segments/${staging}/staff/upload`, ['0012', 'null', 'u-7']);
  await ok(
    'PUT',
    `/segments/${production}/beta/upload`,
    Array.from({ length: 60 }, (_, i) => `user-${i}`),
  );
  for (const name of ['cart', 'checkout']) {
    const description = `Words: "${name}" # of\n  the old days`;
    await ok('POST', `${flags}/trafficTypes/user`, { name, description });
  }
  await ok('PATCH', `${flags}/cart`, [
    { op: 'replace', path: '/tags', value: [{ name: 'web' }, { name: 'no' }] },
  ]);
  await ok('POST', `${flags}/cart/environments/${production}`, aDefinition());
  const treatments = [
    {
      name: 'on',
      description: 'new',
      keys: ['q'],
      ...(hasConfigurations && { configurations: '{"steps": 3, "on": ["1e5"]}' }),
    },
    { name: 'off', description: 'old' },
  ];
  await ok('POST', `${flags}/checkout/environments/${staging}`, aDefinition({ treatments }));
  const depends = { splitName: 'cart', treatments: ['off'] };
  await ok(
    'POST',
    `${flags}/checkout/environments/${production}`,
    aDefinition({
      killed: true,
      trafficAllocation: 40,
      rules: [
        ruleOn({ type: 'IN_SEGMENT', string: 'beta' }),
        ruleOn({ type: 'IN_SPLIT', depends, negate: true }),
        ruleOn({ type: 'EQUAL_TO_SEMVER', attribute: 'version', string: '1.10' }),
      ],
      defaultRule: [
        { treatment: 'off', size: 90 },
        { treatment: 'on', size: 10 },
      ],
    }),
  );
}
