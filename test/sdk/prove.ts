import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { compare, comparisonText } from './comparison.js';
import { startProofWorld, type ProofWorld } from './proof-world.js';
import { Draw, SEGMENTS, userKey } from './random-definitions.js';
import { startSdk, type Case, type SdkProcess } from './sdk-process.js';

/**
 * Runs the SDKs of the vendor and of OpenFeature, unchanged, against the service, and compares what they serve with our
 * evaluator, key by key. `--only NAME` (repeatable) runs one SDK, `--seed N` draws other definitions.
 */
const { values: options } = parseArgs({
  options: {
    keys: { type: 'string', default: '100000' },
    'other-keys': { type: 'string', default: '5000' },
    definitions: { type: 'string', default: '500' },
    'definition-keys': { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', multiple: true },
  },
});

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const ROOT = here('../..');
const JAVA = here('clients/java');

const SDKS: Readonly<Record<string, () => readonly [string, ...string[]]>> = {
  javascript: () => ['node', here('clients/javascript.mjs')],
  python: () => [process.env['PYTHON'] ?? 'python3', here('clients/python.py')],
  java: () => {
    execFileSync('mvn', ['-q', 'compile', 'dependency:copy-dependencies'], {
      cwd: JAVA,
      stdio: 'inherit',
    });
    return ['java', '-cp', `${JAVA}/target/classes:${JAVA}/target/dependency/*`, 'Client'];
  },
  openfeature: () => ['node', here('clients/openfeature.mjs')],
};

const SETS: readonly Case['attributes'][] = [
  {},
  { country: 'ES' },
  { country: 'DE', appBuild: 4000 },
  { country: 'US', appBuild: 4120 },
  { appBuild: 4121 },
  { joined: Date.UTC(2026, 8, 1) },
  { joined: Date.UTC(2026, 7, 31, 23, 59) },
  { joined: Date.UTC(2027, 0, 1), country: 'FR', appBuild: 1 },
  { country: '' },
  { country: 'es', appBuild: '4120' },
];

let failures = 0;

function say(text: string, isRight = true): void {
  if (!isRight) failures += 1;
  process.stdout.write(`${isRight ? '' : 'WRONG: '}${text}\n`);
}

function* casesOf(
  listed: readonly string[],
  count: number,
  sets: readonly Case['attributes'][],
): Generator<Case> {
  const others = Array.from(
    { length: Math.max(0, count - listed.length) },
    (_, index) => `user-${index}`,
  );
  for (const key of [...listed, ...others])
    for (const attributes of sets) yield { key, attributes };
}

/** Applies `specs-example` by the program itself. */
async function exampleWorld(): Promise<ProofWorld> {
  const environments = ['development', 'staging', 'production'].map((name) => ({ name }));
  const trafficTypes = ['user', 'business', 'account'];
  const workspaces = [{ name: 'Default', environments, trafficTypes }];
  const world = await startProofWorld({ workspaces }, 'production');
  const directory = mkdtempSync(join(tmpdir(), 'sdk-proof-'));
  cpSync(join(ROOT, 'specs-example'), directory, { recursive: true });
  const arguments_ = ['src/main.ts', 'reconcile', directory, '--adopt', '--url', world.origin];
  // The service answers from this process, so that nothing here may wait for the program.
  await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsx'), arguments_, {
    cwd: ROOT,
    env: { ...process.env, FLAGKEEL_API_KEY: world.adminKey },
  });
  rmSync(directory, { recursive: true, force: true });
  return world;
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const begun = performance.now();
  while (performance.now() - begun < 70_000) {
    if (await isSo()) {
      say(`  ${what}: after ${Math.round(performance.now() - begun)} ms`);
      return;
    }
    await wait(100);
  }
  say(`  ${what}: never`, false);
}

/** A change, a kill, a restore and a segment's key have to arrive by polling. */
async function watchChanges(sdk: SdkProcess, world: ProofWorld): Promise<void> {
  const path = '/splits/ws/Default/new-checkout/environments/production';
  const served = async (key: string): Promise<string | undefined> =>
    (await sdk.evaluate(['new-checkout'], [{ key, attributes: {} }]))[0]?.[0]?.[0];
  const all = (treatment: string): object[] => [{ treatment, size: 100 }];
  const user = `fresh-${performance.now()}`;
  await world.admin('PATCH', path, [{ op: 'replace', path: '/defaultRule', value: all('on') }]);
  await until('a change arrives', async () => (await served(user)) === 'on');
  await world.admin('PUT', `${path}/kill`);
  await until('a kill arrives', async () => (await served(user)) === 'off');
  await world.admin('PUT', `${path}/restore`);
  await until('its end arrives', async () => (await served(user)) === 'on');
  await world.admin('PUT', '/segments/production/contractors/uploadKeys', { keys: [user] });
  await until('a key of a segment arrives', async () => (await served(user)) === 'off');
  await world.admin('PUT', '/segments/production/contractors/removeKeys', { keys: [user] });
  await until('its removal arrives', async () => (await served(user)) === 'on');
}

async function proveExample(name: string, command: readonly [string, ...string[]]): Promise<void> {
  const world = await exampleWorld();
  const sdk = await startSdk(command, world);
  const evaluator = await world.evaluator();
  const isFirst = name === 'javascript';
  // One request for each evaluation: a key has one of the ten sets.
  const count = Number(isFirst ? options.keys : options['other-keys']);
  const listed = ['qa-bot-1', 'qa-bot-2', 'ana', 'ben'];
  for (const segment of ['contractors', 'staff', 'beta-testers', 'business-customers']) {
    listed.push(...(await world.keysOf(segment)).slice(0, 20));
  }
  // The SDK for Java takes no number as text, which those for JavaScript and Python do.
  const sets = name === 'java' ? SETS.filter(({ appBuild }) => typeof appBuild !== 'string') : SETS;
  const cases = [...casesOf(listed, count, sets)];
  const asked =
    name === 'openfeature' ? cases.filter((_, at) => at % 10 === Math.floor(at / 10) % 10) : cases;
  const found = await compare(sdk, evaluator, asked);
  say(comparisonText(`${name}, specs-example`, sdk.readyMs, found), found.differences.length === 0);
  await watchChanges(sdk, world);
  await sdk.stop();
  await world.stop();
}

async function proveRandom(command: readonly [string, ...string[]]): Promise<void> {
  const seed = Number(options.seed);
  const draw = new Draw(seed);
  const workspaces = [
    { name: 'Default', environments: [{ name: 'staging' }], trafficTypes: ['user'] },
  ];
  const world = await startProofWorld({ workspaces }, 'staging');
  const keys = Number(options['definition-keys']);
  await createAll(world, draw, keys);
  const sdk = await startSdk(command, world);
  const evaluator = await world.evaluator();
  const cases = Array.from({ length: keys }, (_, index) => draw.case(index));
  const found = await compare(sdk, evaluator, cases);
  const title = `javascript, ${options.definitions} random definitions, --seed ${seed}`;
  say(comparisonText(title, sdk.readyMs, found), found.differences.length === 0);
  await sdk.stop();
  await world.stop();
}

/** Segments with keys and flags with definitions, all random. */
async function createAll(world: ProofWorld, draw: Draw, keys: number): Promise<void> {
  for (const name of SEGMENTS) {
    await world.admin('POST', '/segments/ws/Default/trafficTypes/user', { name });
    await world.admin('POST', `/segments/staging/${name}`);
    const held = Array.from({ length: 100 }, () => userKey(draw.below(keys)));
    await world.admin('PUT', `/segments/staging/${name}/uploadKeys`, { keys: held });
  }
  const names: string[] = [];
  for (let index = 0; index < Number(options.definitions); index += 1) {
    const name = `f${index}`;
    const path = `/splits/ws/Default/${name}/environments/staging`;
    await world.admin('POST', '/splits/ws/Default/trafficTypes/user', { name });
    await world.admin('POST', path, draw.definition(names.slice(-20), keys));
    names.push(name);
  }
}

const wanted = options.only ?? [...Object.keys(SDKS), 'random'];
for (const [name, command] of Object.entries(SDKS)) {
  if (wanted.includes(name)) await proveExample(name, command());
}
const JAVASCRIPT = ['node', here('clients/javascript.mjs')] as const;
if (wanted.includes('random')) await proveRandom(JAVASCRIPT);
process.exitCode = failures === 0 ? 0 : 1;
