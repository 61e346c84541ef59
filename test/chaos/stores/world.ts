import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { request as send, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { administer } from '../../../src/service/service.js';
import { flagkeel, type CliResult } from '../../support/cli.js';
import { ConfigRepository } from '../../support/git.js';
import { Front } from '../matrix/front.js';
import { FIRST, GONE, makeTheirs, SECOND } from '../matrix/world.js';
import { ServiceNode } from '../nodes.js';
import type { Ground, Kept } from './grounds.js';

/** How far the repository is ahead of the workspace: by everything, by one commit, or not. */
export type Stage = 'first apply' | 'change' | 'in sync';

/** A repository and a store at a stage. */
export interface StoreWorld {
  readonly front: Front;
  /** A copy of both, with a service of its own behind the front. It belongs to the caller. */
  copy(): Promise<StorePlace>;
  dispose(): Promise<void>;
}

export interface StorePlace {
  readonly origin: string;
  readonly key: string;
  /** `METHOD path` of the writes that the service answered with 200. */
  readonly acknowledged: readonly string[];
  strike(fault: string): Promise<() => void | Promise<void>>;
  run(...args: readonly string[]): Promise<CliResult>;
  dispose(): Promise<void>;
}

/** Longer than the ten seconds within which the service answers, however its store fails. */
const TIMEOUT = '12s';

export async function makeStoreWorld(ground: Ground, stage: Stage): Promise<StoreWorld> {
  const front = await Front.open();
  const folder = mkdtempSync(join(tmpdir(), 'flagkeel-stores-'));
  const kept = await ground.empty();
  const key = await administer(kept.location, async (service) => service.createKey('matrix'));
  using repository = new ConfigRepository();
  const place = await placeOf(front, kept, repository.directory, key);
  await makeTheirs(place);
  const isFirst = stage === 'first apply';
  repository.write(FIRST);
  if (!isFirst) {
    repository.commit('Put everything under git');
    await ends(place);
  }
  repository.write(SECOND);
  for (const path of GONE) repository.remove(path);
  repository.commit(isFirst ? 'Put everything under git' : 'Change one of everything');
  if (stage === 'in sync') await ends(place);
  await place.dispose();
  cpSync(repository.directory, join(folder, 'repository'), { recursive: true });
  return {
    front,
    copy: async () => {
      const own = mkdtempSync(join(tmpdir(), 'flagkeel-cell-'));
      cpSync(folder, own, { recursive: true });
      const store = await kept.copy();
      const copy = await placeOf(front, store, join(own, 'repository'), key);
      return {
        ...copy,
        dispose: async () => {
          await copy.dispose();
          await store.remove();
          rmSync(own, { recursive: true, force: true });
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

async function ends(place: StorePlace): Promise<void> {
  const { code, stdout, stderr } = await place.run();
  if (code !== 0) throw new Error(`the world was not made: ${stdout}${stderr}`);
}

async function placeOf(
  front: Front,
  store: Kept,
  directory: string,
  key: string,
): Promise<StorePlace> {
  const node = new ServiceNode(store.location);
  await node.start();
  const acknowledged: string[] = [];
  front.serve(onwardTo(node, (write) => acknowledged.push(write)));
  const args = ['--url', front.origin, '--timeout', TIMEOUT, '--lock-timeout', '10s', directory];
  return {
    get origin() {
      return node.origin ?? '';
    },
    key,
    acknowledged,
    strike: async (fault) => store.strike(fault, node.pid),
    run: async (...words) =>
      flagkeel(['reconcile', ...words, ...args], { env: { FLAGKEEL_API_KEY: key } }),
    dispose: async () => node.kill(),
  };
}

function onwardTo(node: ServiceNode, acknowledge: (write: string) => void): RequestListener {
  return (request, response) => {
    const { method = '', headers } = request;
    const url = new URL(request.url ?? '/', node.origin);
    const onward = send(url, { method, headers }, (answer) => {
      const status = answer.statusCode ?? 0;
      if (method !== 'GET' && status === 200) acknowledge(`${method} ${url.pathname}`);
      response.writeHead(status, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  };
}
