import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { Socket } from 'node:net';
import { gitError, type Git } from './git.js';
import { spawnGit } from './git-stream.js';

interface Waiting {
  readonly name: string;
  readonly resolve: (content: Buffer | null) => void;
  readonly reject: (error: Error) => void;
}

const HANGS_MS = 60_000;

const ANSWERED: Waiting = { name: '', resolve: () => undefined, reject: () => undefined };

/**
 * Reads objects of one repository through one long-lived `git cat-file --batch`, started with the first object that
 * is asked for. Requests are answered in the order in which they were made and may overlap freely.
 *
 * The process holds nothing up: it does not keep ours alive while nothing is asked, and ends with it.
 */
export class ObjectReader {
  readonly #git: Git;
  #child: ChildProcessWithoutNullStreams | null = null;
  #waiting: Waiting[] = [];
  #answered = 0;
  #unsent = '';
  #chunks: Buffer[] = [];
  #held = 0;
  /** Bytes that must have come before it is worth looking again. */
  #needed = 1;
  #timer: NodeJS.Timeout | null = null;

  constructor(git: Git) {
    this.#git = git;
  }

  /**
   * Whole content of a blob, or of a commit as git stores it; null where there is no such object.
   *
   * @param id hexadecimal object name.
   * @throws FlaghoistError `GIT`
   */
  async read(id: string): Promise<Buffer | null> {
    if (!/^[0-9a-f]{40,64}$/.test(id)) throw new Error(`bug: "${id}" is no object name`);
    return new Promise((resolve, reject) => {
      const child = this.#start();
      this.#waiting.push({ name: id, resolve, reject });
      if (this.#waiting.length === 1) this.#watch();
      this.#unsent += `${id}\n`;
      // What is asked for in one go is sent in one write.
      if (this.#unsent.length === id.length + 1) {
        queueMicrotask(() => {
          this.#send(child);
        });
      }
    });
  }

  /** Ends the process. Further reads start another. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#fail(new Error('closed'));
    await new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) {
        resolve();
        return;
      }
      child.ref();
      child.once('exit', () => {
        resolve();
      });
      child.stdin.end();
      child.stdout.destroy();
    });
  }

  #start(): ChildProcessWithoutNullStreams {
    if (this.#child !== null) return this.#child;
    const child = spawnGit(this.#git, ['cat-file', '--batch']);
    this.#child = child;
    const failed = (error: Error): void => {
      if (this.#child === child) this.#fail(error);
    };
    child.stdout.on('data', (chunk: Buffer) => {
      if (this.#child === child) this.#take(chunk);
    });
    child.stderr.resume();
    child.stdin.on('error', failed);
    child.on('error', failed);
    child.on('exit', () => {
      failed(new Error('git cat-file ended'));
    });
    setReferenced(child, false);
    return child;
  }

  #send(child: ChildProcessWithoutNullStreams): void {
    if (this.#child !== child) return;
    child.stdin.write(this.#unsent);
    this.#unsent = '';
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#needed) return;
    let rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    for (;;) {
      const answer = parseAnswer(rest);
      if (typeof answer === 'number') {
        this.#needed = answer;
        break;
      }
      this.#answer(answer.content);
      rest = rest.subarray(answer.length);
    }
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#held = rest.length;
    this.#watch();
  }

  #answer(content: Buffer | null): void {
    const waiting = this.#waiting[this.#answered];
    // Its promise holds the content, and ten thousand may be asked for in one go.
    this.#waiting[this.#answered] = ANSWERED;
    this.#answered += 1;
    // Copied, so that one small file does not keep a whole chunk alive.
    waiting?.resolve(content === null ? null : Buffer.from(content));
    if (this.#answered === this.#waiting.length) {
      this.#waiting = [];
      this.#answered = 0;
    }
  }

  #fail(error: Error): void {
    const waiting = this.#waiting.slice(this.#answered);
    this.#child = null;
    this.#waiting = [];
    this.#answered = 0;
    this.#unsent = '';
    this.#chunks = [];
    this.#held = 0;
    this.#needed = 1;
    this.#watch();
    for (const each of waiting) each.reject(gitError(`read object ${each.name}`, error));
  }

  /** Holds our process, and a clock, while and only while something is asked. */
  #watch(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const child = this.#child;
    if (child === null) return;
    const busy = this.#waiting.length > 0;
    setReferenced(child, busy);
    if (busy) this.#timer = setTimeout(() => child.kill('SIGKILL'), HANGS_MS);
  }
}

/** One answer at the start of the buffer, or the number of bytes that are needed to see it. */
function parseAnswer(buffer: Buffer): { content: Buffer | null; length: number } | number {
  const end = buffer.indexOf(0x0a);
  if (end === -1) return buffer.length + 1;
  const words = buffer.toString('latin1', 0, end).split(' ');
  if (words.length !== 3) return { content: null, length: end + 1 };
  const size = Number(words[2]);
  const length = end + 1 + size + 1;
  if (buffer.length < length) return length;
  return { content: buffer.subarray(end + 1, end + 1 + size), length };
}

function setReferenced(child: ChildProcessWithoutNullStreams, referenced: boolean): void {
  const verb = referenced ? 'ref' : 'unref';
  child[verb]();
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    if (stream instanceof Socket) stream[verb]();
  }
}
