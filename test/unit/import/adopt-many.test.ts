import { expect, it } from 'vitest';
import { adoptDrift } from '../../../src/import/adopt.js';
import { driftOf } from '../../../src/import/drift.js';
import { workspaceFiles } from '../../../src/import/workspace-files.js';
import { bindEnvironments, environmentNames } from '../../../src/model/bound-desired.js';
import type { Definition } from '../../../src/model/flag/flag.js';
import { planChanges } from '../../../src/plan/plan.js';
import { readSpecs } from '../../../src/specs/read-specs.js';
import {
  anActual,
  aPolicy,
  ENVIRONMENTS,
  liveFlag,
  NO_STATE,
  onShare,
} from '../../support/builders.js';
import { treeOf } from '../../support/spec-tree.js';

const NAMES = Array.from({ length: 64 }, (_, position) => `f${position}`);

function living(definitionOf: (name: string) => Definition) {
  const flags = NAMES.map((name) => liveFlag(name, { staging: definitionOf(name) }));
  return anActual({ flags });
}

it('adopts many objects without reading all specs for each, and leaves the one that specs cannot say', async () => {
  const environments = ENVIRONMENTS.map(({ name, production }) => ({
    ...{ name, configName: name, protected: production },
  }));
  const before = living(() => ({}));
  const written = workspaceFiles({ workspace: 'Default', environments, actual: before });
  const tree = treeOf(Object.fromEntries(written));
  const specs = await readSpecs(tree);
  if (!specs.ok) throw new Error('the files of an import are valid');
  const desired = bindEnvironments(specs.desired, environmentNames(ENVIRONMENTS));
  const matchers = [{ type: 'EQUAL_NUMBER', attribute: 'n', number: 2 ** 60 }];
  const unsaid = { rules: [{ matchers, buckets: [{ treatment: 'on', size: 100 }] }] };
  const actual = living((name) => (name === 'f9' ? unsaid : onShare(40)));
  const input = { desired, actual, state: NO_STATE, policy: aPolicy({ adopt: true }) };
  const { differences } = driftOf(planChanges(input), NO_STATE, input.policy.environments);
  let reads = 0;
  const read = async (path: string): Promise<Buffer> => {
    reads += 1;
    return tree.read(path);
  };

  const { adopted, files, left } = await adoptDrift(differences, input, { ...tree, read });

  expect(adopted).toHaveLength(NAMES.length - 1);
  expect(files.size).toBe(NAMES.length - 1);
  expect(left).toMatchObject([{ id: 'flag/f9@staging' }]);
  expect(left[0]?.why).toContain('is no number that JSON can carry exactly');
  // One reading for each of the halves in which the one at fault is looked for, not one for each object.
  expect(reads).toBeLessThan(20 * NAMES.length);
});
