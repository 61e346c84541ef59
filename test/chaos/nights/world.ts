import { renameSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import type { StoreLocation } from '../../../src/service/store/store.js';
import { FollowedBranch, partsOf } from '../../support/followed-branch.js';
import type { Files } from '../../support/git.js';
import { startTestService } from '../../support/service.js';
import { flagText, STAGING_CONFIG } from '../../support/spec-texts.js';
import type { Watching } from '../../support/watching.js';

export const FLAGS = Array.from({ length: 20 }, (_, index) => `flag-${index}`);

/** One built daemon that follows a branch, with a service, a key in a file and a state on the git server. */
export class NightWorld extends FollowedBranch {
  /** Answers a request itself, and says so; otherwise the service does. */
  refuses: RequestListener | undefined;

  static async open(store: StoreLocation = { kind: 'memory' }): Promise<NightWorld> {
    const holder: { world?: NightWorld } = {};
    const service = await startTestService({
      store,
      middleware: (next) => (request, response) => {
        const listener = holder.world?.refuses ?? next;
        listener(request, response);
        if (listener !== next && !response.writableEnded) next(request, response);
      },
    });
    const world = new NightWorld(await partsOf(service));
    holder.world = world;
    world.rotateKey(service.key);
    return world;
  }

  /** Resolves once the daemon listens. */
  async watch(): Promise<Watching> {
    const watching = this.follow(['--timeout', '1s', '--listen', '127.0.0.1:0'], {
      FLAGKEEL_API_KEY_FILE: join(this.root, 'key'),
      FLAGKEEL_STATE_DIR: join(this.root, 'state.git'),
    });
    await watching.line(({ msg }) => msg === 'watching', 'the start');
    return watching;
  }

  /** Gives the flags this share in staging; `more` are further files, `names` the flags. */
  push(percent: number, { names = ['pay'], more = {} }: Pushed = {}): string {
    const files = names.map((name) => {
      return [`flags/${name}.yaml`, flagText(name, percent, { staging: '' })] as const;
    });
    const all: Files = { 'flagkeel.yaml': STAGING_CONFIG, ...Object.fromEntries(files), ...more };
    return this.pushFiles(`Ramp to ${percent}`, all);
  }

  /** A daemon that has applied a first commit. */
  async begin(): Promise<Watching> {
    const first = this.push(10);
    const watching = await this.watch();
    await watching.ran(first, 'applied');
    return watching;
  }

  hasShare(percent: number, names: readonly string[] = ['pay']): () => Promise<boolean> {
    return async () => {
      for (const name of names)
        if ((await this.live.share(name, 'staging')) !== percent) return false;
      return true;
    };
  }

  rotateKey(key: string): void {
    writeFileSync(join(this.root, 'key'), key);
  }

  /** The git server goes away, and comes back with what was pushed meanwhile. */
  hideOrigin(): void {
    renameSync(this.origin, `${this.origin}.away`);
  }

  showOrigin(): void {
    renameSync(`${this.origin}.away`, this.origin);
  }
}

interface Pushed {
  readonly names?: readonly string[];
  readonly more?: Files;
}
