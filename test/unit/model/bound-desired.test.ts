import { describe, expect, it } from 'vitest';
import {
  bindConfig,
  bindEnvironments,
  environmentNames,
} from '../../../src/model/bound-desired.js';
import type { Config, Desired } from '../../../src/model/desired.js';
import {
  aDesired,
  desiredFlag,
  desiredIdentities,
  desiredSegment,
} from '../../support/builders.js';

const NAMES = environmentNames([
  { id: 'e-1', name: 'staging' },
  { id: 'e-2', name: 'production' },
]);
const LOCATION = { file: 'kills/e-2.yaml', line: 1, column: 1 };

function configOf(...names: string[]): Config {
  return { ...aDesired().config, environments: names.map((name) => ({ name, guards: {} })) };
}

/** Specs that call production by its id. */
function byId(): Desired {
  const specs = aDesired({
    flags: [desiredFlag('pay', { environments: { 'e-2': {}, staging: {} } })],
    segments: [desiredSegment('staff', { 'e-2': ['u-1'] })],
    identities: [desiredIdentities('e-2', { 'u-1': {} })],
    kills: [{ flag: 'theirs', environment: 'e-2', reason: 'INC-1', location: LOCATION }],
  });
  return { ...specs, config: configOf('staging', 'e-2') };
}

describe('specs that are bound to a workspace', () => {
  it('have every environment by the name of the service, in the order of the specs', () => {
    const bound = bindEnvironments(byId(), NAMES);

    expect(bound.config.environments.map(({ name }) => name)).toEqual(['staging', 'production']);
    expect([...(bound.flags.get('pay')?.environments.keys() ?? [])]).toEqual([
      'production',
      'staging',
    ]);
    expect([...(bound.segments.get('staff')?.environments.keys() ?? [])]).toEqual(['production']);
    expect(bound.identities).toMatchObject([{ environment: 'production' }]);
    expect(bound.kills).toMatchObject([{ flag: 'theirs', environment: 'production' }]);
    expect([...bound.killLists]).toEqual(['production']);
    expect([...bound.configNames]).toEqual([
      ['staging', 'staging'],
      ['production', 'e-2'],
    ]);
  });

  it('keep the word for what the workspace does not have', () => {
    const { config, configNames } = bindEnvironments(
      { ...byId(), config: configOf('nowhere') },
      NAMES,
    );

    expect(config.environments).toMatchObject([{ name: 'nowhere' }]);
    expect([...configNames]).toEqual([['nowhere', 'nowhere']]);
  });

  it('have the environment of that name where another one has it for an id', () => {
    const names = environmentNames([
      { id: 'production', name: 'staging' },
      { id: 'e-2', name: 'production' },
    ]);

    expect(bindConfig(configOf('production'), names).environments[0]?.name).toBe('production');
  });

  it('are the very objects that were read, where those have the names already', () => {
    const specs = aDesired({ flags: [desiredFlag('pay', { environments: { staging: {} } })] });
    const bound = bindEnvironments(specs, NAMES);

    expect(bound.flags).toBe(specs.flags);
    expect(bound.config).toBe(specs.config);
  });

  it('are the same objects each time, until an environment gets another name', () => {
    const specs = byId();
    const first = bindEnvironments(specs, NAMES);
    const again = bindEnvironments(specs, new Map(NAMES));
    const renamed = bindEnvironments(specs, new Map([...NAMES, ['e-2', 'live']]));

    expect(again.flags.get('pay')).toBe(first.flags.get('pay'));
    expect(again.segments.get('staff')).toBe(first.segments.get('staff'));
    expect(again.config).toBe(first.config);
    expect([...(renamed.flags.get('pay')?.environments.keys() ?? [])]).toEqual(['live', 'staging']);
    expect(renamed.config.environments.map(({ name }) => name)).toEqual(['staging', 'live']);
  });
});
