import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { adoptDrift } from '../../../src/import/adopt.js';
import { driftOf, type Difference } from '../../../src/import/drift.js';
import { workspaceFiles } from '../../../src/import/workspace-files.js';
import type { Actual } from '../../../src/model/actual.js';
import { bindEnvironments, environmentNames } from '../../../src/model/bound-desired.js';
import type { SpecTree } from '../../../src/model/spec-tree.js';
import { planChanges } from '../../../src/plan/plan.js';
import { readSpecs } from '../../../src/specs/read-specs.js';
import {
  aDesired,
  anActual,
  aPolicy,
  ENVIRONMENTS,
  liveFlag,
  liveSegment,
  NO_STATE,
  onShare,
  onWhere,
} from '../../support/builders.js';
import { appliedWorld, flagSpec } from '../../support/pipeline-world.js';
import { treeOf } from '../../support/spec-tree.js';

/** What is live is written into the specs, wherever it differs. */
async function adopted(tree: SpecTree, actual: Actual) {
  const specs = await readSpecs(tree);
  if (!specs.ok) throw new Error(JSON.stringify(specs.diagnostics));
  const desired = bindEnvironments(specs.desired, environmentNames(ENVIRONMENTS));
  const policy = aPolicy({ adopt: true });
  const input = { desired, actual, state: NO_STATE, policy };
  const { differences } = driftOf(planChanges(input), NO_STATE, policy.environments);
  return adoptDrift(differences, input, tree);
}

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
  const segments = ['file', 'inline', 'own'].map((name) =>
    liveSegment(name, { staging: ['a', 'b', 'c', 'd'] }),
  );

  const { files } = await adopted(tree, anActual({ segments }));

  expect([...files]).toEqual([
    ['segments/file.keys', 'a\nb\nc\nd\n'],
    ['segments/inline.yaml', spec('inline', '{ keys: [ a, b, c, d ] }')],
    ['segments/own.yaml', spec('own', '{ keys: [ d, b, a, c ] }')],
  ]);
});

it('adopts many objects without reading all specs for each, and leaves the one that specs cannot say', async () => {
  const names = Array.from({ length: 64 }, (_, position) => `f${position}`);
  const environments = ENVIRONMENTS.map(({ name, production }) => ({
    ...{ name, configName: name, protected: production },
  }));
  const before = anActual({ flags: names.map((name) => liveFlag(name, { staging: {} })) });
  const written = workspaceFiles({ workspace: 'Default', environments, actual: before });
  const tree = treeOf(Object.fromEntries(written));
  const unsaid = onWhere({ type: 'EQUAL_NUMBER', attribute: 'n', number: 2 ** 60 });
  const flags = names.map((name) =>
    liveFlag(name, { staging: name === 'f9' ? unsaid : onShare(40) }),
  );
  let reads = 0;
  const read = async (path: string): Promise<Buffer> => {
    reads += 1;
    return tree.read(path);
  };

  const { adopted: wrote, files, left } = await adopted({ ...tree, read }, anActual({ flags }));

  expect([wrote.length, files.size]).toEqual([names.length - 1, names.length - 1]);
  expect(left).toMatchObject([{ id: 'flag/f9@staging' }]);
  expect(left[0]?.why).toContain('is no number that JSON can carry exactly');
  // One reading for each of the halves in which the one at fault is looked for, not one for each object.
  expect(reads).toBeLessThan(20 * names.length);
});

it('adopts a share of a ramp that was changed by hand as a plain share, and what else drifted', async () => {
  const rule = `{ name: staff, if: { attribute: team, in: [core] }, serve: { "on": 10, "off": rest }, ramp: '20, 1h, 100' }`;
  const world = await appliedWorld({
    'flags/pay.yaml': flagSpec('pay', { production: "ramp: '10, 1h, 100'" }),
    'flags/cart.yaml': flagSpec('cart', { production: `rules: [${rule}]` }),
    'flags/menu.yaml': flagSpec('menu'),
  });
  const { repository, live } = world;
  const share = (path: string, on: number) => [
    { op: 'replace', path: `${path}/0/size`, value: on },
    { op: 'replace', path: `${path}/1/size`, value: 100 - on },
  ];
  for (const [flag, path] of [
    ['pay', '/defaultRule'],
    ['cart', '/rules/0/buckets'],
    ['menu', '/defaultRule'],
  ] as const) {
    const place = `/splits/ws/${live.id}/${flag}/environments/${live.production}`;
    await live.ok('PATCH', place, share(path, 5));
  }

  const run = await world.command('drift', '--adopt');

  expect(run, run.stdout + run.stderr).toMatchObject({ exitCode: 0 });
  const text = (name: string): string =>
    readFileSync(join(repository.directory, `flags/${name}.yaml`), 'utf8');
  expect(run.stdout).toContain(
    'Wrote flag/pay@production into flags/pay.yaml. A live share is a plain share there now, and its ramp is taken out.',
  );
  expect(run.stdout).toMatch(/Wrote flag\/menu@production into flags\/menu\.yaml\.\n/);
  for (const name of ['pay', 'cart', 'menu']) {
    expect(text(name)).toMatch(/"?on"?: 5/);
    expect(text(name)).not.toContain('ramp');
  }
});

it('adopts of a treatment only what the file says of it, and says nothing of empty texts', async () => {
  const spec = [
    'flag: pay',
    'treatments:',
    '  "on": New',
    '  "off": {}',
    'defaultTreatment: "off"',
    'environments:',
    '  staging:',
    '    treatments:',
    '      "on": New',
    '      "off": {} # old',
    '    defaultRule: "off"',
    '  production:',
    '    defaultRule: "off"',
    '',
  ].join('\n');
  const world = await appliedWorld({ 'flags/pay.yaml': spec });
  const { repository, live } = world;
  const change = async (environment: string, operations: readonly object[]) =>
    live.ok('PATCH', `/splits/ws/${live.id}/pay/environments/${environment}`, operations);
  await change(live.staging, [
    { op: 'replace', path: '/treatments/0/description', value: 'Newer' },
    { op: 'add', path: '/treatments/1/configurations', value: '{}' },
  ]);
  await change(live.production, [
    { op: 'add', path: '/treatments/2', value: { name: 'half', description: '' } },
  ]);

  const run = await world.command('drift', '--adopt');

  expect(run, run.stdout + run.stderr).toMatchObject({ exitCode: 0 });
  expect(run.stdout).not.toContain('description ""');
  expect(readFileSync(join(repository.directory, 'flags/pay.yaml'), 'utf8')).toBe(
    spec
      .replace('      "on": New', '      "on": Newer')
      .replace(
        '  production:\n',
        '  production:\n    treatments:\n      "on": New\n      "off": {}\n      half: {}\n',
      ),
  );
});
