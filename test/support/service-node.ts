import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { StoreLocation } from '../../src/service/store/store.js';

const SCRIPT = join(import.meta.dirname, 'service-process.ts');

/** One service process; after a kill it may be started again, at another origin and with another key. */
export class ServiceNode {
  readonly #location: StoreLocation;
  #child: ChildProcess | undefined;
  #origin: string | undefined;
  #key = '';
  #kills = 0;

  constructor(location: StoreLocation) {
    this.#location = location;
  }

  /** Undefined: it is not running. */
  get origin(): string | undefined {
    return this.#origin;
  }

  /** Of an Admin API key that may do everything. */
  get key(): string {
    return this.#key;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('bug: the service was not started');
    return pid;
  }

  get kills(): number {
    return this.#kills;
  }

  async start(): Promise<void> {
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', SCRIPT, JSON.stringify(this.#location)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    this.#child = child;
    child.once('exit', () => {
      if (this.#child === child) this.#origin = undefined;
    });
    const [line] = (await Promise.race([
      once(createInterface(child.stdout), 'line'),
      once(child, 'exit').then(() => {
        throw new Error('the service ended before it listened');
      }),
    ])) as [string];
    [this.#origin, this.#key = ''] = line.split(' ');
  }

  /** As `kill -9` does it: nothing is finished, nothing is closed. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    this.#kills += 1;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }
}
