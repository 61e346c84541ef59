import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flagkeel, type CliResult } from '../../support/cli.js';
import { ConfigRepository } from '../../support/git.js';
import { startTestService, type TestService } from '../../support/service.js';
import { aDefinition, callsOf } from '../../support/service-calls.js';
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
export const FIRST: Readonly<Record<string, string>> = {
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
export const SECOND: Readonly<Record<string, string>> = {
  'flags/changed.yaml': flag('changed', 25, { segment: 'crew' }),
  'flags/described.yaml': flag('described', 10, { about: 'Described anew' }),
  'flags/new.yaml': flag('new', 5),
  'kills/production.yaml': 'kills: { killed: { reason: INC-2 } }\n',
  'segments/staff.yaml': segment('staff', range(20, 270)),
  'segments/crew.yaml': segment('crew', range(0, 5)),
  'identities/staff.yaml':
    'identities: { environment: staging, keys: { qa-1: { plan: free }, qa-2: { plan: free } } }\n',
};

export const GONE: readonly string[] = ['flags/gone.yaml', 'segments/old.yaml'];

/** A flag that no repository has. */
export async function makeTheirs(service: Pick<TestService, 'origin' | 'key'>): Promise<void> {
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

/** A workspace and a repository in line with each other, and a commit that asks for a write of every kind. */
export interface World {
  readonly front: Front;
  /** A copy of both, which belongs to the caller. */
  copy(): Promise<Place>;
  dispose(): Promise<void>;
}

export interface Place {
  readonly service: TestService;
  readonly directory: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  run(...args: readonly string[]): Promise<CliResult>;
  dispose(): Promise<void>;
}

/** @param size `many`: of flags and segments there is more than a page, which makes every run slower. */
export async function makeWorld(size: 'few' | 'many'): Promise<World> {
  const front = await Front.open();
  const folder = mkdtempSync(join(tmpdir(), 'flagkeel-matrix-'));
  const store = join(folder, 'store');
  using repository = new ConfigRepository();
  const service = await serviceBehind(front, store);
  await makeTheirs(service);
  repository.write(size === 'many' ? { ...FIRST, ...MANY } : FIRST);
  repository.commit('Put everything under git');
  const first = await flagkeel(['reconcile', '--url', front.origin, repository.directory], {
    env: { FLAGKEEL_API_KEY: service.key },
  });
  if (first.code !== 0) throw new Error(`the world was not made: ${first.stdout}${first.stderr}`);
  await service.stop();
  repository.write(SECOND);
  for (const path of GONE) repository.remove(path);
  repository.commit('Change one of everything');
  cpSync(repository.directory, join(folder, 'repository'), { recursive: true });
  return {
    front,
    copy: async () => copyOf(folder, front),
    dispose: async () => {
      await front.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function copyOf(folder: string, front: Front): Promise<Place> {
  const copy = mkdtempSync(join(tmpdir(), 'flagkeel-cell-'));
  cpSync(folder, copy, { recursive: true });
  const service = await serviceBehind(front, join(copy, 'store'));
  const directory = join(copy, 'repository');
  const args = ['--url', front.origin, '--timeout', '1s', '--lock-timeout', '10s', directory];
  const env = { FLAGKEEL_API_KEY: service.key };
  return {
    service,
    directory,
    args,
    env,
    run: async (...words) => flagkeel(['reconcile', ...words, ...args], { env }),
    dispose: async () => {
      await service.stop();
      rmSync(copy, { recursive: true, force: true });
    },
  };
}

async function serviceBehind(front: Front, path: string): Promise<TestService> {
  let listener: RequestListener = () => undefined;
  const service = await startTestService({
    store: { kind: 'directory', path },
    middleware: (next) => (listener = next),
  });
  front.serve(listener);
  return service;
}
