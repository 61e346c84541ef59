import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreLocation } from '../../../src/service/store/store.js';
import { passOn } from '../../support/answers.js';
import { flagkeel, type CliResult } from '../../support/cli.js';
import { ConfigRepository } from '../../support/git.js';
import { startTestService, type TestService } from '../../support/service.js';
import { aDefinition, callsOf } from '../../support/service-calls.js';
import { ServiceNode } from '../../support/service-node.js';
import { directories, type Ground, type Kept } from '../stores/grounds.js';
import { Front } from './front.js';

const CONFIG = `workspace: Default
environments: { staging: {}, production: { protected: true } }
defaults: { trafficType: user }
prune: true
guards: { maxDeletes: 100, maxDeletePercent: 100, maxKeyRemovals: 1000, maxKeyRemovalPercent: 100 }
`;

/** More than a page of flags and of segments, which nothing happens to. */
const BESIDE = Array.from({ length: 52 }, (_, i) => `beside-${String(i).padStart(2, '0')}`);

function flag(name: string, on: number, more: { about?: string; segment?: string } = {}): string {
  const rules = more.segment
    ? `    rules: [{ if: { segment: ${more.segment} }, serve: "on" }]\n`
    : '';
  return `flag: ${name}
description: ${more.about ?? 'One of the matrix'}
treatments: { "on": New, "off": Old }
defaultTreatment: "off"
environments:
  staging:
${rules}    defaultRule: { "on": ${String(on)}, "off": rest }
  production:
    defaultRule: { "on": ${String(on)}, "off": rest }
`;
}

function segment(name: string, keys: readonly number[]): string {
  const list = keys.map((key) => `user-${String(key)}`).join(', ');
  return `segment: ${name}\nenvironments:\n  staging: { keys: [${list}] }\n`;
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, i) => from + i);

/** A second page of every list. */
const MANY: Readonly<Record<string, string>> = Object.fromEntries(
  BESIDE.flatMap((name) => [
    [
      `flags/beside/${name}.yaml`,
      `flag: ${name}\ntreatments: { "on": "", "off": "" }\ndefaultTreatment: "off"\nenvironments: { staging: { defaultRule: "off" } }\n`,
    ],
    [`segments/beside/${name}.yaml`, `segment: ${name}\n`],
  ]),
);

/** The files of the first commit. */
const FIRST: Readonly<Record<string, string>> = {
  'flagkeel.yaml': CONFIG,
  'flags/changed.yaml': flag('changed', 10, { segment: 'staff' }),
  'flags/described.yaml': flag('described', 10),
  'flags/gone.yaml': flag('gone', 10),
  'flags/killed.yaml': flag('killed', 50),
  'flags/restored.yaml': flag('restored', 50),
  'kills/production.yaml': 'kills: { restored: { reason: INC-1 } }\n',
  'segments/staff.yaml': segment('staff', range(0, 250)),
  'segments/old.yaml': segment('old', range(0, 3)),
  'identities/staff.yaml':
    'identities: { environment: staging, keys: { qa-1: { plan: business } } }\n',
};

/** What the second commit changes, beside what it takes away. */
const SECOND: Readonly<Record<string, string>> = {
  'flags/changed.yaml': flag('changed', 25, { segment: 'crew' }),
  'flags/described.yaml': flag('described', 10, { about: 'Described anew' }),
  'flags/new.yaml': flag('new', 5),
  'kills/production.yaml': 'kills: { killed: { reason: INC-2 } }\n',
  'segments/staff.yaml': segment('staff', range(20, 270)),
  'segments/crew.yaml': segment('crew', range(0, 5)),
  'identities/staff.yaml':
    'identities: { environment: staging, keys: { qa-1: { plan: free }, qa-2: { plan: free } } }\n',
};

const GONE: readonly string[] = ['flags/gone.yaml', 'segments/old.yaml'];

/** A flag that no repository has. */
async function makeTheirs(service: Pick<TestService, 'origin' | 'key'>): Promise<void> {
  const calls = callsOf(service);
  const { objects } = await calls.ok<{ objects: { id: string }[] }>('GET', '/workspaces');
  const id = objects[0]?.id ?? '';
  const environments = await calls.ok<{ id: string }[]>('GET', `/environments/ws/${id}`);
  await calls.ok('POST', `/splits/ws/${id}/trafficTypes/user`, { name: 'theirs' });
  for (const environment of environments) {
    const path = `/splits/ws/${id}/theirs/environments/${environment.id}`;
    await calls.ok('POST', path, aDefinition());
  }
}

/** How far the repository is ahead of the workspace: by everything, by a commit that asks for a write of every kind, or not. */
export type Stage = 'first apply' | 'change' | 'in sync';

/** A repository and a store at a stage. */
export interface World {
  readonly front: Front;
  /** A copy of both, with a service of its own behind the front. It belongs to the caller. */
  copy(): Promise<Place>;
  dispose(): Promise<void>;
}

export interface Place extends Pick<Served, 'origin' | 'key' | 'acknowledged'> {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  strike(fault: string): Promise<() => void | Promise<void>>;
  run(...args: readonly string[]): Promise<CliResult>;
  dispose(): Promise<void>;
}

interface Served {
  readonly origin: string;
  readonly key: string;
  readonly pid: number;
  /** `METHOD path` of the writes that the service answered with 200, where it has a process of its own. */
  readonly acknowledged: readonly string[];
  stop(): Promise<unknown>;
}

interface Setting {
  readonly kept: Kept;
  readonly stage: Stage;
  readonly files: Readonly<Record<string, string>>;
  /** Of the requests of a run. */
  readonly timeout: string;
  readonly serve: (store: StoreLocation, front: Front) => Promise<Served>;
}

/** @param size `many`: of flags and segments there is more than a page, which makes every run slower. */
export async function makeWorld(size: 'few' | 'many'): Promise<World> {
  const files = size === 'many' ? { ...FIRST, ...MANY } : FIRST;
  const kept = await (await directories()).empty();
  return worldOf({ kept, stage: 'change', files, timeout: '1s', serve: serveHere });
}

/** A world whose service can lose its store. It answers within ten seconds, however its store fails. */
export async function makeStoreWorld(ground: Ground, stage: Stage): Promise<World> {
  const kept = await ground.empty();
  return worldOf({ kept, stage, files: FIRST, timeout: '12s', serve: serveApart });
}

async function worldOf({ kept, stage, files, timeout, serve }: Setting): Promise<World> {
  const front = await Front.open();
  const folder = mkdtempSync(join(tmpdir(), 'flagkeel-chaos-'));
  const placeOver = async (store: Kept, directory: string): Promise<Place> => {
    const service = await serve(store.location, front);
    const { pid, ...served } = service;
    const args = ['--url', front.origin, '--timeout', timeout, '--lock-timeout', '10s', directory];
    const env = { FLAGKEEL_API_KEY: served.key };
    return {
      ...{ ...served, args, env },
      strike: async (fault) => store.strike(fault, pid),
      run: async (...words) => flagkeel(['reconcile', ...words, ...args], { env }),
      dispose: async () => {
        await service.stop();
      },
    };
  };
  using repository = new ConfigRepository();
  const place = await placeOver(kept, repository.directory);
  const reconciled = async (): Promise<void> => {
    const { code, stdout, stderr } = await place.run();
    if (code !== 0) throw new Error(`the world was not made: ${stdout}${stderr}`);
  };
  await makeTheirs(place);
  repository.write(files);
  if (stage !== 'first apply') {
    repository.commit('Put everything under git');
    await reconciled();
  }
  repository.write(SECOND);
  for (const path of GONE) repository.remove(path);
  repository.commit('Change one of everything');
  if (stage === 'in sync') await reconciled();
  await place.dispose();
  cpSync(repository.directory, folder, { recursive: true });
  return {
    front,
    copy: async () => {
      const directory = mkdtempSync(join(tmpdir(), 'flagkeel-cell-'));
      cpSync(folder, directory, { recursive: true });
      const store = await kept.copy();
      const copy = await placeOver(store, directory);
      return {
        ...copy,
        dispose: async () => {
          await copy.dispose();
          await store.remove();
          rmSync(directory, { recursive: true, force: true });
        },
      };
    },
    dispose: async () => {
      await front.close();
      await kept.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** In this process, which is quicker. */
async function serveHere(store: StoreLocation, front: Front): Promise<Served> {
  let listener: RequestListener = () => undefined;
  const service = await startTestService({ store, middleware: (next) => (listener = next) });
  front.serve(listener);
  return { ...service, pid: process.pid, acknowledged: [] };
}

async function serveApart(store: StoreLocation, front: Front): Promise<Served> {
  const node = new ServiceNode(store);
  await node.start();
  const { origin = '', key, pid } = node;
  const acknowledged: string[] = [];
  front.serve((request, response) => {
    const { method = '', url = '' } = request;
    passOn(origin, request, response, (status) => {
      const isTaken = method !== 'GET' && status === 200;
      if (isTaken) acknowledged.push(`${method} ${url.split('?')[0] ?? ''}`);
    });
  });
  return { origin, key, pid, acknowledged, stop: async () => node.kill() };
}
