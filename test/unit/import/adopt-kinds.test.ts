import { expect, it } from 'vitest';
import { adoptDrift } from '../../../src/import/adopt.js';
import { driftOf, type Difference } from '../../../src/import/drift.js';
import { bindEnvironments, environmentNames } from '../../../src/model/bound-desired.js';
import { planChanges } from '../../../src/plan/plan.js';
import { readSpecs } from '../../../src/specs/read-specs.js';
import {
  aDesired,
  anActual,
  aPolicy,
  ENVIRONMENTS,
  liveSegment,
  NO_STATE,
} from '../../support/builders.js';
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

it('keeps the format of fmt where keys are added, and the order of a file that has one of its own', async () => {
  const spec = (name: string, keys: string): string =>
    `segment: ${name}\ntrafficType: user\nenvironments:\n  staging: ${keys}\n`;
  const tree = treeOf({
    'flagkeel.yaml': 'workspace: Default\nenvironments: { staging: {} }\n',
    'segments/file.yaml': spec('file', '{ keysFile: file.keys }'),
    'segments/file.keys': '\uFEFFb\nd\n',
    'segments/inline.yaml': spec('inline', '{ keys: [b, d] }'),
    'segments/own.yaml': spec('own', '{ keys: [d, b] }'),
  });
  const specs = await readSpecs(tree);
  if (!specs.ok) throw new Error(JSON.stringify(specs.diagnostics));
  const desired = bindEnvironments(specs.desired, environmentNames(ENVIRONMENTS));
  const segments = ['file', 'inline', 'own'].map((name) =>
    liveSegment(name, { staging: ['a', 'b', 'c', 'd'] }),
  );
  const policy = aPolicy({ adopt: true });
  const input = { desired, actual: anActual({ segments }), state: NO_STATE, policy };
  const { differences } = driftOf(planChanges(input), NO_STATE, policy.environments);

  const { files } = await adoptDrift(differences, input, tree);

  expect([...files]).toEqual([
    ['segments/file.keys', 'a\nb\nc\nd\n'],
    ['segments/inline.yaml', spec('inline', '{ keys: [ a, b, c, d ] }')],
    ['segments/own.yaml', spec('own', '{ keys: [ d, b, a, c ] }')],
  ]);
});
