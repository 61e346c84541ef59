import { expect, it } from 'vitest';
import { adoptDrift } from '../../../src/import/adopt.js';
import type { Difference } from '../../../src/import/drift.js';
import { aDesired, anActual, aPolicy, NO_STATE } from '../../support/builders.js';
import { treeOf } from '../../support/spec-tree.js';

it('leaves a changed object to a person whose kind has no file that could be edited', async () => {
  const difference: Difference = {
    gone: false,
    change: {
      id: 'identities/user@staging',
      ref: { kind: 'identities', name: 'user', environment: 'staging' },
      action: 'update',
      reason: 'drift',
      location: null,
      fields: [],
      dependsOn: [],
    },
  };
  const input = { desired: aDesired(), actual: anActual(), state: NO_STATE, policy: aPolicy() };

  const adoption = await adoptDrift([difference], input, treeOf({}));

  expect(adoption.adopted).toEqual([]);
  expect([...adoption.files]).toEqual([]);
  expect(adoption.left).toEqual([
    { id: 'identities/user@staging', why: 'only a person can edit its file' },
  ]);
});
