import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { parseDocument } from 'yaml';
import type { WithheldWhy } from '../../../src/model/plan.js';
import {
  guardRemedy,
  killRemedy,
  remedyOf,
  retryRemedy,
  type Remedy,
  type Way,
} from '../../../src/model/remedy.js';
import { ConfigRepository } from '../../support/git.js';
import { startScripted } from '../../support/http.js';
import { liveWorkspace, type LiveWorkspace } from '../../support/live-workspace.js';
import { aDefinition, callsOf } from '../../support/service-calls.js';
import { startTestService, type TestService } from '../../support/service.js';
import { flagText, PROTECTED_CONFIG, UNPROTECTED_CONFIG } from '../../support/spec-texts.js';
import { cliRun, type CliRun } from '../../support/terminal.js';
import { onOff } from '../../support/on-off.js';

const PAY = 'flag/pay@production';
const ONLY_PRODUCTION = { production: '' };
const CAME_TO_AN_END = [0, 8];

interface Document {
  readonly changes: readonly { id: string; outcome?: string }[];
  readonly withheld: readonly { id: string; why: string; wayOut: string }[];
  readonly liveKills: readonly { id: string }[];
  readonly verdict?: {
    readonly objects: readonly { id: string; is: string; why: string; remedy: string | null }[];
  };
}

let service: TestService;
let live: LiveWorkspace;
let repository: ConfigRepository;

beforeEach(async () => {
  checked = '';
  service = await startTestService();
  live = await liveWorkspace(service);
  repository = new ConfigRepository();
});
afterEach(async () => {
  await service.stop();
  repository[Symbol.dispose]();
});

/** Runs a command in the config directory, as a person would type it there. */
async function typed(...args: readonly string[]): Promise<CliRun> {
  const before = process.cwd();
  process.chdir(repository.directory);
  try {
    return await cliRun(args, {
      FLAGKEEL_API_KEY: service.key,
      FLAGKEEL_URL: service.origin,
      FLAGKEEL_ORIGINS: checked,
      GIT_AUTHOR_NAME: 'Ana',
      GIT_AUTHOR_EMAIL: 'ana@example.com',
    });
  } finally {
    process.chdir(before);
  }
}

function commit(files: Readonly<Record<string, string>>): void {
  repository.write(files);
  repository.commit('Change the specs');
}

async function applied(...args: readonly string[]): Promise<void> {
  const done = await typed('reconcile', ...args);
  expect(CAME_TO_AN_END, done.stdout + done.stderr).toContain(done.exitCode);
}

async function patchPay(path: string, value: unknown): Promise<void> {
  const at = `/splits/ws/${live.id}/pay/environments/${live.production}`;
  await live.ok('PATCH', at, [{ op: 'replace', path, value }]);
}

const pay = (on: number | string, members = ''): Readonly<Record<string, string>> => ({
  'flags/pay.yaml': flagText('pay', on, { production: members }),
});

/** A flag that a run put into production. */
async function begin(config = PROTECTED_CONFIG, spec = pay(10)): Promise<void> {
  commit({
    'flagkeel.yaml': config,
    'flags/other.yaml': flagText('other', 5, ONLY_PRODUCTION),
    ...spec,
  });
  await applied('--adopt');
}

async function makeByHand(name: string): Promise<void> {
  await live.ok('POST', `/splits/ws/${live.id}/trafficTypes/user`, { name });
  const at = `/splits/ws/${live.id}/${name}/environments/${live.production}`;
  await live.ok('POST', at, aDefinition({ defaultRule: onOff(40) }));
}

async function deleteDefinition(name: string): Promise<void> {
  await live.ok('DELETE', `/splits/ws/${live.id}/${name}/environments/${live.production}`);
}

async function deleteByHand(name: string): Promise<void> {
  await deleteDefinition(name);
  await live.ok('DELETE', `/splits/ws/${live.id}/${name}`);
}

type Act = () => void | Promise<void>;

interface Situation {
  readonly id: string;
  readonly prepare: () => Promise<void>;
  /** The run that says so. Default: `reconcile`. */
  readonly run?: readonly string[];
  /** What to do for the ways that are no command, by the beginning of their text. */
  readonly byHand?: Readonly<Record<string, Act>>;
  /** What the text of the command on this object asks a person to do first. */
  readonly first?: Act;
  /** Whether a run without a state says so again, because it forgets what it wrote. */
  readonly forgets?: true;
}

type Covered = Situation | { readonly noCommand: string };

const DRIFTED: Situation = {
  id: PAY,
  prepare: async () => {
    await begin();
    await patchPay('/defaultRule', onOff(70));
  },
};

const PRUNING = `${PROTECTED_CONFIG}prune: true\n`;

const protectedPay = (isProtected: boolean): Readonly<Record<string, string>> => ({
  'flags/pay.yaml': `${flagText('pay', 10, ONLY_PRODUCTION)}protect: ${String(isProtected)}\n`,
});

/** Id of a change request on the service. */
let request: string;
/** Address of the check of a ramp, and whether it passes. */
let checked: string;
let healthy: boolean;
/** Hash of the plan that a review showed. */
let reviewed: string;

function removePay(): void {
  repository.remove('flags/pay.yaml');
  repository.commit('Remove pay');
}

const removed = async (config?: string): Promise<void> => {
  await begin(config);
  removePay();
};

/** Pay as a run put it into production, and then changed by a commit. */
const changed = (files: () => Readonly<Record<string, string>>) => async (): Promise<void> => {
  await begin();
  commit(files());
};

const RAMPED: Situation = {
  id: PAY,
  prepare: async () => {
    await begin(PROTECTED_CONFIG, pay(0));
    commit(pay(0, 'ramp: "10, 1d, 50, 1d, 100", '));
    await applied();
    await patchPay('/defaultRule', onOff(3));
  },
};

/** A check that nothing answers well took the ramp back. */
const TAKEN_BACK: Situation = {
  id: PAY,
  prepare: async () => {
    const health = await startScripted(() => ({ status: healthy ? 200 : 500 }));
    onTestFinished(health.close);
    checked = health.url;
    healthy = true;
    const checks = `checks: { alive: { url: "${health.url}/healthz" } }\n`;
    await begin(PROTECTED_CONFIG + checks, pay(0));
    commit(pay(0, rampedTo('{ percent: 10 }')));
    await applied();
    healthy = false;
    commit(pay(0, rampedTo('{ percent: 10 }, { percent: 50 }')));
  },
  byHand: {
    'write `hold: true` in the ramp': () => {
      commit(pay(0, rampedTo('{ percent: 10 }, { percent: 50 }', ', hold: true')));
    },
    'change the steps of the ramp': () => {
      healthy = true;
      commit(pay(0, rampedTo('{ percent: 5 }')));
    },
  },
};

const rampedTo = (steps: string, more = ''): string =>
  `ramp: { steps: [${steps}], check: alive, onFail: previous${more} }, `;

const KILLED: Situation = {
  id: PAY,
  prepare: async () => {
    await begin(PROTECTED_CONFIG, pay(10, 'killed: false, '));
    await patchPay('/killed', true);
  },
};

/** Every reason for which a change is held back. A reason that is missing here does not compile. */
const WITHHELD: Readonly<Record<WithheldWhy, Covered>> = {
  'prune-off': { id: PAY, prepare: removed },
  'no-witness': {
    id: PAY,
    prepare: async () => {
      await begin();
      repository.git('checkout', '--quiet', '--orphan', 'fresh');
      repository.remove('flags/pay.yaml');
      repository.commit('Begin anew');
    },
    run: ['reconcile', '--prune', '--allow-older'],
    byHand: { 'delete it on the service by hand': async () => deleteByHand('pay') },
  },
  'not-ours': {
    id: PAY,
    prepare: async () => {
      await begin();
      await deleteByHand('pay');
      await makeByHand('pay');
      removePay();
    },
    run: ['reconcile', '--prune'],
    byHand: {
      'declare it again': () => {
        const text = flagText('pay', 40, ONLY_PRODUCTION);
        const live = text.replace('{ "on": "", "off": "" }', '{ "on": new, "off": old }');
        repository.write({ 'flags/pay.yaml': live });
      },
      'delete it on the service by hand': async () => deleteByHand('pay'),
    },
  },
  protected: {
    id: PAY,
    prepare: async () => {
      await begin(PRUNING, protectedPay(true));
      removePay();
    },
    byHand: {
      'bring it back': async () => {
        commit(protectedPay(true));
        await applied();
        commit(protectedPay(false));
        await applied();
        repository.remove('flags/pay.yaml');
      },
    },
  },
  'still-in-use': { noCommand: 'the ways out are those of the objects that it names' },
  'drift-reported': DRIFTED,
  contested: {
    id: PAY,
    prepare: async () => {
      await begin(UNPROTECTED_CONFIG);
      for (const on of [70, 71, 72]) {
        await patchPay('/defaultRule', onOff(on));
        await applied();
      }
      await patchPay('/defaultRule', onOff(73));
    },
  },
  'conflict-held': {
    id: PAY,
    prepare: async () => {
      await begin();
      await patchPay('/defaultRule', onOff(70));
      commit(pay(20));
    },
  },
  'adopt-needed': {
    id: PAY,
    prepare: async () => {
      await makeByHand('pay');
      commit({ 'flagkeel.yaml': PROTECTED_CONFIG, ...pay(10) });
    },
  },
  immutable: {
    id: 'segment/staff',
    prepare: async () => {
      const staff =
        'segment: staff\ntrafficType: user\ndescription: Staff\nenvironments: { production: { keys: [a] } }\n';
      await begin(PRUNING, { ...pay(10), 'segments/staff.yaml': staff });
      commit({ 'segments/staff.yaml': staff.replace('Staff', 'All of the staff') });
    },
    byHand: {
      'choose another name': () => {
        const path = join(repository.directory, 'segments/staff.yaml');
        const text = readFileSync(path, 'utf8').replace('segment: staff', 'segment: team');
        repository.remove('segments/staff.yaml');
        repository.write({ 'segments/team.yaml': text });
      },
    },
  },
  'live-kill': KILLED,
  'approval-needed': {
    id: PAY,
    prepare: async () => {
      await begin();
      const at = `/splits/ws/${live.id}/pay/environments/${live.production}`;
      const split = { ...(await live.ok<object>('GET', at)), defaultRule: onOff(20) };
      const wanted = { split, operationType: 'UPDATE', title: 'Raise', comment: 'By hand' };
      const requests = `/changeRequests/ws/${live.id}/environments/${live.production}`;
      ({ id: request } = await live.ok<{ id: string }>('POST', requests, wanted));
      commit(pay(20));
    },
    byHand: {
      'have it approved or closed there': async () => {
        const key = await service.createKey('approver');
        const approver = callsOf({ origin: service.origin, key });
        await approver.ok('PUT', `/changeRequests/${request}`, { status: 'APPROVED' });
      },
    },
  },
  suspended: {
    id: PAY,
    prepare: changed(() => ({
      'flagkeel.yaml': `${PROTECTED_CONFIG}suspend: true\n`,
      ...pay(20),
    })),
  },
  'ramp-held': RAMPED,
  'check-failed': TAKEN_BACK,
  'window-closed': {
    id: PAY,
    prepare: changed(() => {
      const day = (days: number): string =>
        new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
      const freeze = `freezes:\n  sale: { from: ${day(-2)}, to: ${day(2)}, zone: UTC, environments: [production], reason: Sale }\n`;
      return { 'flagkeel.yaml': PROTECTED_CONFIG + freeze, ...pay(20) };
    }),
  },
  'needs-withheld': { noCommand: 'the ways out are those of the object that it names' },
  'not-reviewed': {
    id: PAY,
    prepare: async () => {
      await begin();
      commit(pay(20));
      const review = await typed('plan', '--since', 'HEAD~1', '--format', 'json');
      reviewed = (JSON.parse(review.stdout) as { planHash: string }).planHash;
      commit({ 'flags/other.yaml': flagText('other', 6, ONLY_PRODUCTION) });
    },
    run: ['reconcile', '--since', 'HEAD~1'],
    byHand: {
      'run the apply of its own review again': async () => {
        repository.git('checkout', '--quiet', '--detach', 'HEAD~1');
        await applied('--since', 'HEAD~1', '--plan-hash', reviewed);
        repository.git('checkout', '--quiet', 'main');
      },
    },
  },
  'not-remembered': {
    id: 'identities/user@production',
    prepare: async () => {
      const identities =
        'identities:\n  trafficType: user\n  environment: production\n  keys:\n    u-1: { plan: pro }\n';
      const attribute = { id: 'plan', displayName: 'Plan', dataType: 'STRING' };
      await live.call('POST', `/schema/ws/${live.id}/trafficTypes/user`, attribute);
      repository.write({ 'flagkeel.yaml': PROTECTED_CONFIG, 'identities/user.yaml': identities });
      execFileSync('rm', ['-rf', '.git'], { cwd: repository.directory });
    },
    forgets: true,
  },
  'stays-on-service': { noCommand: 'flagkeel has no command that deletes identities, on purpose' },
};

/** The reasons that a run gives for an object. */
async function heldBy({ id, run = ['reconcile'] }: Pick<Situation, 'id' | 'run'>) {
  const { stdout, stderr } = await typed(...run, '--format', 'json');
  const document = JSON.parse(stdout === '' ? '{}' : stdout) as Document;
  expect(document, stderr).toHaveProperty('withheld');
  const standing = document.verdict?.objects.find((each) => each.id === id);
  const withheld = document.withheld.filter((each) => each.id === id);
  return { document, standing, withheld };
}

/** The ways out as they are printed: commands, and lines to write. */
interface Printed {
  readonly commands: readonly string[];
  readonly lines: readonly { text: string; under: string; file: string }[];
}

function printedIn(said: string): Printed {
  const commands = [...said.matchAll(/`flagkeel ([^`]+)`/g)].map(([, command = '']) => command);
  const written = said.matchAll(/write `([^`]+)`(?: under (\S+))? into (\S+) to/g);
  const lines = [...written].map(([, text = '', under = '', file = '']) => ({ text, under, file }));
  return { commands, lines };
}

/** The words of a command line, as a shell reads them. */
function words(command: string): string[] {
  const script = `for word in ${command}; do printf '%s\\0' "$word"; done`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

/** Puts the line where the text says. */
function write({ text, under, file }: Printed['lines'][number]): void {
  const path = join(repository.directory, file);
  const document = parseDocument(readFileSync(path, 'utf8'));
  const [[member, value] = []] = Object.entries(parseDocument(text).toJS() as object);
  document.setIn([...under.split('.').filter((part) => part !== ''), member], value);
  writeFileSync(path, String(document));
}

/** Takes a way, with the commit that it asks for. */
async function follow(act: Act): Promise<void> {
  await act();
  if (repository.git('status', '--porcelain') !== '') repository.commit('Take the way out');
}

/** Reasons of which no change is withheld, and further ways into the same ones. */
const MORE: readonly (Situation & { readonly why: string; readonly title: string })[] = [
  {
    why: 'live-kill',
    title: 'a kill that git ordered, and that HEAD dropped without a restore',
    id: PAY,
    prepare: async () => {
      await begin(PROTECTED_CONFIG, pay(10, 'killed: true, '));
      commit(pay(10));
    },
  },
  {
    why: 'live-kill',
    title: 'a kill that git takes back, of a flag that was changed on the service since',
    id: PAY,
    prepare: async () => {
      await begin(PROTECTED_CONFIG, pay(10, 'killed: true, '));
      await live.set('pay', { baselineTreatment: 'on' });
      commit(pay(10, 'killed: false, '));
    },
  },
  {
    why: 'drift-reported',
    title: 'a definition that is gone from the service',
    id: PAY,
    prepare: async () => {
      await begin();
      await deleteDefinition('pay');
    },
    byHand: {
      'take it out of git': () => {
        repository.remove('flags/pay.yaml');
      },
    },
  },
  {
    why: 'guard',
    title: 'a guard',
    id: PAY,
    prepare: async () => removed(`${PROTECTED_CONFIG}guards: { maxDeletes: 0 }\n`),
    run: ['reconcile', '--prune'],
  },
  {
    why: 'guard',
    title: 'a repository that lost everything',
    id: PAY,
    prepare: async () => {
      await begin(PRUNING);
      repository.remove('flags/pay.yaml');
      repository.remove('flags/other.yaml');
      repository.commit('Remove everything');
    },
  },
  {
    why: 'refused',
    title: 'a write that the service refused',
    id: PAY,
    prepare: async () => {
      await begin();
      commit(pay(20));
      service.failNext({ method: 'PATCH', path: /\/pay\// }, 404);
    },
  },
  {
    why: 'refused',
    title: 'a write whose key the service refused',
    id: PAY,
    prepare: async () => {
      await begin();
      commit(pay(20));
      service.failNext({ method: 'PATCH', path: /\/pay\// }, 401);
    },
  },
  {
    why: 'refused',
    title: 'a new flag whose name the service keeps archived',
    id: 'flag/pay',
    prepare: async () => {
      await makeByHand('pay');
      await live.ok('POST', `/splits/ws/${live.id}/pay/archive`);
      commit({ 'flagkeel.yaml': PROTECTED_CONFIG, ...pay(10) });
    },
    first: async () => {
      await live.ok('POST', `/splits/ws/${live.id}/pay/unarchive`);
    },
    byHand: {
      'give the new flag another name': () => {
        repository.write({ 'flags/pay-2.yaml': flagText('pay-2', 10, ONLY_PRODUCTION) });
        repository.remove('flags/pay.yaml');
      },
    },
  },
  {
    why: 'ramp-held',
    title: 'a share beyond the step of its ramp',
    id: PAY,
    prepare: async () => {
      await RAMPED.prepare();
      await patchPay('/defaultRule', onOff(60));
    },
  },
  {
    why: 'ramp-held',
    title: 'a ramp that ends below the live share',
    id: PAY,
    prepare: async () => {
      await begin(PROTECTED_CONFIG, pay(100));
      commit(pay(0, 'ramp: "10, 1d, 95", '));
    },
    byHand: {
      'write the live value into the files': () => {
        commit(pay(100));
      },
    },
  },
  {
    why: 'ramp-held',
    title: 'a ramp that ends below the share of a flag that no run remembers',
    id: PAY,
    prepare: async () => {
      await makeByHand('pay');
      await patchPay('/defaultRule', onOff(100));
      commit({ 'flagkeel.yaml': PROTECTED_CONFIG, ...pay(0, 'ramp: "10, 1d, 95", ') });
    },
  },
];

const situations = [
  ...Object.entries(WITHHELD).flatMap(([why, covered]) =>
    'id' in covered ? [{ why, title: why, ...covered }] : [],
  ),
  ...MORE,
];

/** The ways that were run, and led where they say, as `REASON: WAY`. */
const ran = new Set<string>();

/** A command without the object and the values that vary. */
function shapeOf(args: readonly string[]): string {
  const names = ['drift', 'kill', 'reconcile', 'restore', 'rm', 'state'];
  const filters = ['--environment', '--only', '--since', '--allow-older'];
  const options = args.filter((each) => each.startsWith('--') && !filters.includes(each));
  // An approval repeats the options of the run that it approves.
  const own = options.includes('--approve')
    ? options.filter((each) => each !== '--prune')
    : options;
  return `\`${[...args.filter((each) => names.includes(each)), ...own].join(' ')}\``;
}

function memberOf(line: string): string {
  return `\`${line.split(':')[0] ?? ''}:\``;
}

describe.each(situations)('a way out of $title', (situation) => {
  const { id, why, run = ['reconcile'] } = situation;

  async function said(): Promise<string> {
    const { withheld, standing } = await heldBy({ id, run });
    const mine = withheld.find((each) => each.why === why);
    const text = mine?.wayOut ?? standing?.remedy ?? '';
    expect([mine?.why, standing?.why], text).toContain(why);
    return text;
  }

  /** A later run no longer gives this reason for the object, nor another one. */
  async function isOut(): Promise<void> {
    const { withheld, standing, document } = await heldBy({ id });
    expect(withheld.map((each) => each.why)).not.toContain(why);
    expect(standing?.why, JSON.stringify(document.verdict)).not.toBe(why);
    expect(['live', undefined], JSON.stringify(document)).toContain(standing?.is);
  }

  /** A new service and repository, brought to where the ways are printed. */
  async function again(): Promise<void> {
    await service.stop();
    repository[Symbol.dispose]();
    service = await startTestService();
    live = await liveWorkspace(service);
    repository = new ConfigRepository();
    await situation.prepare();
    // The hash of a plan and the ids of the service are those of this world.
    await said();
  }

  const taken = (command: string) => async (): Promise<void> => {
    await situation.first?.();
    const done = await typed(...words(command));
    expect(CAME_TO_AN_END, command + done.stdout + done.stderr).toContain(done.exitCode);
  };

  it('is printed with the object and leads out, each of them', async () => {
    await situation.prepare();
    const text = await said();
    const { commands, lines } = printedIn(text);
    const byHand = Object.entries(situation.byHand ?? {});
    expect(byHand.filter(([clause]) => !text.includes(clause))).toEqual([]);
    const ways: (readonly [string, Act])[] = [
      ...commands.map((command): [string, Act] => [shapeOf(words(command)), taken(command)]),
      ...lines.map((line): [string, Act] => [
        memberOf(line.text),
        () => {
          write(line);
        },
      ]),
      ...byHand,
    ];
    expect(ways.length, text).toBeGreaterThan(0);
    for (const [at, [name, way]] of ways.entries()) {
      if (at > 0) await again();
      if (situation.forgets) await way();
      else {
        await follow(way);
        await isOut();
      }
      ran.add(`${why}: ${name}`);
    }
  });
});

/** The ways that no test of this file can take. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'suspended: resume': 'an operator suspended a daemon, whose own tests resume it',
  'stays-on-service: where that matters': 'nothing is held back: no later run can see a difference',
};

/** Reasons that objects can have which the service lacks, where other ways are printed. */
const OF_WHAT_IS_GONE: ReadonlySet<string> = new Set<WithheldWhy>([
  'drift-reported',
  'adopt-needed',
]);

/** Every way that the program can print, as `REASON: WAY`. */
function printable(): ReadonlySet<string> {
  const fields = [{ path: '/description', reason: 'commit', before: 'a', after: 'b' }] as const;
  const withheld = (Object.keys(WITHHELD) as WithheldWhy[]).flatMap((why) => {
    const of = { id: PAY, why, fields } as const;
    const remedies = [
      remedyOf({ ...of, action: 'update' }),
      remedyOf({ ...of, action: 'update', until: '2027-01-01' }),
      ...(OF_WHAT_IS_GONE.has(why) ? [remedyOf({ ...of, action: 'create' })] : []),
    ];
    return remedies.map((remedy) => [why, remedy] as const);
  });
  const refusal = { planHash: 'sha256:0', options: [] };
  const all: (readonly [string, Remedy])[] = [
    ...withheld,
    ['live-kill', killRemedy({ id: PAY })],
    ['guard', guardRemedy({ ...refusal, findings: [{ guard: 'maxDeletes' }] })],
    ['guard', guardRemedy({ ...refusal, findings: [{ guard: 'emptyRepository' }] })],
    ['refused', retryRemedy(PAY, 'no')],
    ['refused', retryRemedy(PAY, 'no', { code: 'NAME_ARCHIVED' })],
    ['refused', retryRemedy(PAY, 'no', { code: 'UNAUTHORISED' })],
  ];
  return new Set(all.flatMap(([why, { ways }]) => ways.map((way) => `${why}: ${nameOf(way)}`)));
}

function nameOf(way: Way): string {
  if ('run' in way) return shapeOf(way.run);
  if ('write' in way) return memberOf(way.write);
  return 'edit' in way ? way.edit : way.elsewhere;
}

it('was run, whichever the program can print, and led where it says', () => {
  const all = [...printable()];
  const isOneOf = (names: Iterable<string>) => (way: string) =>
    [...names].some((name) => way.startsWith(name));

  expect(all.filter((way) => !isOneOf([...ran, ...Object.keys(NOT_RUN)])(way))).toEqual([]);
  expect({ printable: all.length, run: all.filter(isOneOf(ran)).length }).toEqual({
    printable: 38,
    run: 36,
  });
});
