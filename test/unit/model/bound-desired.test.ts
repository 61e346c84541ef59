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
  desiredKill,
  desiredSegment,
} from '../../support/builders.js';

const NAMES = environmentNames([
  { id: 'e-1', name: 'staging' },
  { id: 'e-2', name: 'production' },
]);

function configOf(...names: string[]): Config {
  return { ...aDesired().config, environments: names.map((name) => ({ name, guards: {} })) };
}

/** Specs that call production by its id. */
function byId(): Desired {
  const specs = aDesired({
    flags: [desiredFlag('pay', { environments: { 'e-2': {}, staging: {} } })],
    segments: [desiredSegment('staff', { 'e-2': ['u-1'] })],
    identities: [desiredIdentities({ 'e-2': { 'u-1': {} } })],
    kills: [desiredKill('theirs', 'e-2')],
  });
  return { ...specs, config: configOf('staging', 'e-2') };
}

const environmentsOf = (
  objects: ReadonlyMap<string, { environments: ReadonlyMap<string, unknown> }>,
) => [...objects.values()].flatMap(({ environments }) => [...environments.keys()]);

describe('specs that are bound to a workspace', () => {
  it('keep the word for what the workspace lacks, and prefer a name to an equal id', () => {
    const { config, configNames } = bindEnvironments(
      { ...byId(), config: configOf('nowhere') },
      NAMES,
    );
    expect(config.environments).toMatchObject([{ name: 'nowhere' }]);
    expect([...configNames]).toEqual([['nowhere', 'nowhere']]);

    const names = environmentNames([
      { id: 'production', name: 'staging' },
      { id: 'e-2', name: 'production' },
    ]);
    expect(bindConfig(configOf('production'), names).environments[0]?.name).toBe('production');
  });

  it('are the same objects each time, until an environment gets another name', () => {
    const specs = byId();
    const first = bindEnvironments(specs, NAMES);
    const again = bindEnvironments(specs, new Map(NAMES));
    const renamed = bindEnvironments(specs, new Map([...NAMES, ['e-2', 'live']]));

    expect(again.flags.get('pay')).toBe(first.flags.get('pay'));
    expect(again.segments.get('staff')).toBe(first.segments.get('staff'));
    expect(again.config).toBe(first.config);
    expect(environmentsOf(renamed.flags)).toEqual(['live', 'staging']);
    expect(renamed.config.environments.map(({ name }) => name)).toEqual(['staging', 'live']);
    const named = aDesired({ flags: [desiredFlag('pay', { environments: { staging: {} } })] });
    expect(bindEnvironments(named, NAMES).flags).toBe(named.flags);
    expect(bindEnvironments(named, NAMES).config).toBe(named.config);
  });
});
