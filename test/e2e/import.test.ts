import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { flagkeel } from '../support/cli.js';
import { liveWorkspace, makeByHand } from '../support/live-workspace.js';
import { aDefinition, ruleOn } from '../support/service-calls.js';
import { useScenario } from '../support/scenario.js';

const CONFIG = `# yaml-language-server: $schema=schemas/config.schema.json
workspace: Default
environments:
  staging: {}
  production: { protected: true }
`;

const CHECKOUT = `# yaml-language-server: $schema=../schemas/flag.schema.json
flag: checkout
description: |-
  Words: "checkout" # of
    the old days
trafficType: user
rolloutStatus: Pre-Production
treatments:
  "on":
    description: new
    configuration:
      steps: 3
      "on":
        - "1e5"
  "off": old
defaultTreatment: "off"
baselineTreatment: "off"
environments:
  staging:
    targets:
      "on": [q]
    defaultRule: "off"
  production:
    treatments:
      "on": new
      "off": old
    killed: true
    trafficAllocation: 40
    rules:
      - if: { segment: beta }
        serve: "on"
      - if: { flag: cart, treatments: ["off"], not: true }
        serve: "on"
      - if: { matcher: { type: EQUAL_TO_SEMVER, attribute: version, string: "1.10" } }
        serve: "on"
    defaultRule: [{ "off": 90 }, { "on": 10 }]
`;

const scenario = useScenario();
const { run, text } = scenario;

it('import says everything that is live, by the same bytes wherever it writes, and the next plan is empty', async () => {
  const { directory } = scenario.repository;
  scenario.repository.write({ 'flagkeel.yaml': CONFIG });
  const refused = await run('import');
  const uncommitted = await run('import', '--overwrite');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('it has flagkeel.yaml already (replace it with --overwrite)');
  expect(uncommitted.code).toBe(1);
  expect(uncommitted.stderr).toContain('would replace what git does not have: flagkeel.yaml');
  expect(text('flagkeel.yaml')).toBe(CONFIG);
  scenario.repository.remove('flagkeel.yaml');

  await makeByHand(await liveWorkspace(scenario.service));
  scenario.service.requests.length = 0;
  // Its directory is the one where it runs.
  const place = { cwd: scenario.repository.directory, env: scenario.env };
  const imported = await flagkeel(['import', '--url', scenario.service.origin], place);
  expect(imported.code, imported.stderr).toBe(0);
  // Nothing but the progress of a run that takes longer than half a second.
  expect(imported.stderr).toMatch(/^((reading the|looking|applying).*\n)*$/);
  expect(imported.stdout).toContain(
    'Imported workspace "Default" (production, staging): 2 flags, 2 segments, 6 files.\n' +
      'Not in the files, and left on the service: identities, which it cannot list, owners, and tags of segments.\n',
  );
  expect(text('flagkeel.yaml')).toBe(CONFIG);
  expect(text('flags/checkout.yaml')).toBe(CHECKOUT);
  expect(existsSync(join(directory, 'schemas/flag.schema.json'))).toBe(true);
  expect(text('segments/staff.yaml')).toContain('staging: { keys: ["0012", "null", u-7] }');
  expect(text('segments/beta.production.keys').split('\n')).toHaveLength(61);
  scenario.repository.commit('Take what is live under git');
  const [, next = ''] = /the next plan is empty: flagkeel (.*)/.exec(imported.stdout) ?? [];
  const plan = await flagkeel([...next.split(' '), '--detailed-exitcode'], {
    cwd: directory,
    env: scenario.env,
  });
  expect(plan, next + plan.stdout + plan.stderr).toMatchObject({ code: 0 });
  const applied = await run('reconcile');
  expect(applied, applied.stdout + applied.stderr).toMatchObject({ code: 0 });
  expect(scenario.writes()).toEqual([]);

  const first = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(yaml|keys)$/.test(path))
    .map((path) => [path, text(path)] as const);
  const files = { 'flags/folder/gone.yaml': 'flag: gone\n', 'kills/production.yaml': '' };
  scenario.commit(files, 'Add a flag that is not live');
  const again = await run('import', '--overwrite');
  const elsewhere = await scenario.runAt(join(directory, 'below/new'), 'import');
  expect(again, again.stderr).toMatchObject({ code: 0 });
  expect(elsewhere, elsewhere.stderr).toMatchObject({ code: 0 });
  for (const [path, content] of first) {
    expect(text(path)).toBe(content);
    expect(text(`below/new/${path}`)).toBe(content);
  }
  expect(existsSync(join(directory, 'flags/folder'))).toBe(false);
  expect(existsSync(join(directory, 'kills/production.yaml'))).toBe(true);
  expect(readdirSync(directory).filter((name) => name.includes('import-'))).toEqual([]);

  const one = ['--environment', 'production', '--only', 'flag/checkout'];
  const part = await scenario.runAt(join(directory, 'part'), 'import', ...one);
  expect(part, part.stderr).toMatchObject({ code: 0 });
  expect(text('part/flagkeel.yaml'))
    .toBe(`# yaml-language-server: $schema=schemas/config.schema.json
workspace: Default
environments:
  production: { protected: true }
references:
  segments:
    - beta
  flags:
    - cart
`);
  expect(text('part/flags/checkout.yaml')).not.toContain('staging');
});

it('import leaves on the service a number that is infinite once read, and sees no difference to it', async () => {
  const live = await liveWorkspace(scenario.service);
  const flags = `/splits/ws/${live.id}`;
  await live.ok('POST', `${flags}/trafficTypes/user`, { name: 'menu', description: '' });
  const treatments = [
    { name: 'on', description: '', configurations: 'null' },
    { name: 'off', description: '', configurations: '{"far":1E400}' },
  ];
  const definition = aDefinition({ treatments });
  await live.ok('POST', `${flags}/menu/environments/${live.staging}`, definition);
  scenario.service.requests.length = 0;

  const imported = await run('import');

  expect(imported, imported.stderr).toMatchObject({ code: 0 });
  expect(text('flags/menu.yaml')).toContain('treatments:\n  "on": {}\n  "off": {}\n');
  scenario.repository.commit('Take what is live under git');
  const applied = await run('reconcile');
  expect(applied, applied.stdout + applied.stderr).toMatchObject({ code: 0 });
  expect(applied.stdout).toContain('In sync');
  expect(scenario.writes()).toEqual([]);
});

it('import says that a service without a list of flags has to be told their names', async () => {
  await scenario.restart({ strict: true });
  await makeByHand(await liveWorkspace(scenario.service), { hasConfigurations: false });

  const all = await run('import');
  const named = await run('import', '--only', 'flag/cart', '--only', 'segment/beta');

  expect(all.code).toBe(6);
  expect(all.stderr).toContain('the service has no list of its flags (name them: --only');
  expect(named, named.stderr).toMatchObject({ code: 0 });
  expect(text('flags/cart.yaml')).toContain('flag: cart\ntrafficType: user\ntreatments:');
});

it('import asks which workspace where there are several, and imports none that is not there', async () => {
  const workspace = { environments: [{ name: 'production' }], trafficTypes: ['user'] };
  await scenario.restart({
    seed: {
      workspaces: [
        { ...workspace, name: 'One' },
        { ...workspace, name: 'Two' },
      ],
    },
  });

  const unclear = await run('import');
  const unknown = await run('import', '--workspace', 'Three');
  const two = await run('import', '--workspace', 'Two');

  expect(unclear.code).toBe(6);
  expect(unclear.stderr).toContain('the key sees "One", "Two" (name one with --workspace)');
  expect(unknown.code).toBe(6);
  expect(two, two.stderr).toMatchObject({ code: 0 });
  expect(text('flagkeel.yaml')).toContain('workspace: Two\n');
});

it('import names each object without a possible file name on a line, before it looks at any, and leaves out what --exclude names', async () => {
  const live = await liveWorkspace(scenario.service);
  const [a, b] = [`a${'x'.repeat(200)}`, `b${'x'.repeat(200)}`];
  for (const name of [a, b, 'pay']) {
    await live.ok('POST', `/splits/ws/${live.id}/trafficTypes/user`, { name, description: '' });
  }
  scenario.service.requests.length = 0;

  const imported = await run('import');

  expect(imported.code).toBe(3);
  const problems = [a, b].map((name) => `  flag "${name}": the name is too long for a file name`);
  expect(imported.stderr.split('\n')).toEqual(expect.arrayContaining(problems));
  const asked = scenario.service.requests.map(({ path }) => path);
  expect(
    asked.filter((path) => path.includes('/environments/') && !/\/ws\/[^/]*$/.test(path)),
  ).toEqual([]);
  expect(existsSync(join(scenario.repository.directory, 'flagkeel.yaml'))).toBe(false);

  expect(imported.stderr).toContain('or leave it out with --exclude');
  const without = ['--exclude', `flag/${a}`, '--exclude', `flag/${b}`];
  const strange = await run('import', ...without, '--exclude', 'flag/pya');
  const rest = await run('import', ...without);
  // The pages of a list may name an object twice, as options may.
  const named = [a, a, b, 'pay'].flatMap((name) => ['--only', `flag/${name}`]);
  scenario.repository.commit('Import', {});
  const again = await run('import', '--overwrite', ...named, ...without);
  expect(strange.code).toBe(64);
  expect(strange.stderr).toContain(
    'cannot leave out flag/pya: it is not among the objects to import',
  );
  expect(rest, rest.stderr).toMatchObject({ code: 0 });
  expect(again, again.stderr).toMatchObject({ code: 0 });
  expect(readdirSync(join(scenario.repository.directory, 'flags'))).toEqual(['pay.yaml']);
});

it('import names what is live and validate refuses, with a way out that makes it valid', async () => {
  const live = await liveWorkspace(scenario.service);
  await live.ok('POST', `/splits/ws/${live.id}/trafficTypes/user`, { name: 'pay' });
  const rules = [ruleOn({ type: 'MATCHES_STRING', attribute: 'plan', string: '*a' })];
  await live.ok(
    'POST',
    `/splits/ws/${live.id}/pay/environments/${live.staging}`,
    aDefinition({ rules }),
  );

  const imported = await run('import');
  scenario.repository.commit('Take what is live under git');
  const json = await run('import', '--overwrite', '--format', 'json');
  const [, place = '', found = ''] = /^(flags\S*) (error.*)$/m.exec(imported.stdout) ?? [];
  const [, allow = ''] = /\((allow: .*)\)/.exec(imported.stdout) ?? [];
  const validated = await flagkeel(['validate'], { cwd: scenario.repository.directory });
  scenario.repository.write({ 'flags/pay.yaml': `${text('flags/pay.yaml')}${allow}\n` });
  const allowed = await flagkeel(['validate'], { cwd: scenario.repository.directory });

  expect(imported.code).toBe(0);
  expect(place).toBe('flags/pay.yaml:13:13:');
  expect(found).toBe('error[invalid-regex] "*a" is no regular expression: Nothing to repeat');
  expect(JSON.parse(json.stdout)).toMatchObject({ refused: [{ code: 'invalid-regex' }] });
  expect(validated).toMatchObject({ code: 3 });
  expect(validated.stdout).toContain(`${place} ${found}`);
  expect(allowed, allowed.stdout).toMatchObject({ code: 0 });
});

it('import says which option to change where the service lacks what it names, and refuses identities', async () => {
  const environment = await run('import', '--environment', 'Staging');
  const workspace = await run('import', '--workspace', 'default');
  const identities = await run('import', '--only', 'identities/user');

  expect(environment).toMatchObject({ code: 6 });
  expect(environment.stderr).toContain('(change --environment, or use a key that sees it)');
  expect(workspace).toMatchObject({ code: 6 });
  expect(workspace.stderr).toContain('(change --workspace)');
  expect(identities).toMatchObject({ code: 64 });
  expect(identities.stderr).toContain('cannot import identities/user: the service shows none');
});
