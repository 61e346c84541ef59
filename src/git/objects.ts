import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { complaintOf, gitError, type Git, spawnGit } from './git.js';

interface Waiting {
  /** Completes `cannot …`. */
  readonly purpose: string;
  /** Only name and size are wanted; the content is skipped. */
  readonly isHeader: boolean;
  readonly resolve: (answer: Answer | null) => void;
  readonly reject: (error: Error) => void;
}

export interface ObjectHeader {
  readonly id: string;
  readonly sizeBytes: number;
}

interface Answer extends ObjectHeader {
  readonly content: Buffer;
}

const HANGS_MS = 60_000;
/** Most bytes of contents that are held for the next reader. */
const MOST_HELD = 64 * 1024 * 1024;
const MOST_COMPLAINT = 2_000;

const ignore = (): void => undefined;
const ANSWERED: Waiting = { purpose: '', isHeader: false, resolve: ignore, reject: ignore };

/**
 * Reads objects of one repository through one long-lived `git cat-file --batch`, which the first request starts.
 * Requests may overlap, and are answered in order. The idle process does not keep ours alive.
 */
export class ObjectReader {
  readonly #git: Git;
  readonly #held = new Map<string, Buffer>();
  #heldBytes = 0;
  #child: ChildProcessWithoutNullStreams | null = null;
  #waiting: Waiting[] = [];
  #answered = 0;
  #unsent = '';
  #chunks: Buffer[] = [];
  #buffered = 0;
  /** Bytes that must arrive before parsing is worth another try. */
  #needed = 1;
  /** Bytes still to come of a content that is skipped. */
  #passing = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(git: Git) {
    this.#git = git;
  }

  /** A blob, or a commit as git stores it; null if there is no such object. @throws FlagkeelError `GIT` */
  async read(id: string, purpose = `read object ${id}`): Promise<Buffer | null> {
    if (!/^[0-9a-f]{40,64}$/.test(id)) throw new Error(`bug: "${id}" is no object name`);
    const held = this.#held.get(id);
    if (held === undefined)
      return (await this.#ask(id, { purpose, isHeader: false }))?.content ?? null;
    this.#held.delete(id);
    this.#heldBytes -= held.length;
    return held;
  }

  /** Holds a content for its first reader, to save a request to git; not beyond a bound. @param id git's hash of it. */
  hold(id: string, content: Buffer): void {
    if (this.#held.has(id) || this.#heldBytes + content.length > MOST_HELD) return;
    this.#held.set(id, content);
    this.#heldBytes += content.length;
  }

  /** Of the object of a name, such as `refs/heads/main^{commit}`; null if there is none. @throws FlagkeelError `GIT` */
  async header(name: string): Promise<ObjectHeader | null> {
    if (!/^[!-~]+$/.test(name)) throw new Error(`bug: "${name}" is no name of an object`);
    return this.#ask(name, { purpose: `read object ${name}`, isHeader: true });
  }

  async #ask(name: string, about: Pick<Waiting, 'purpose' | 'isHeader'>): Promise<Answer | null> {
    return new Promise((resolve, reject) => {
      const child = this.#start();
      this.#waiting.push({ ...about, resolve, reject });
      if (this.#waiting.length === 1) this.#watch();
      this.#unsent += `${name}\n`;
      // Requests of one tick are sent in one write.
      if (this.#unsent.length === name.length + 1) {
        queueMicrotask(() => {
          this.#send(child);
        });
      }
    });
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#fail(new Error('closed'));
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    child.stdin.end();
    child.stdout.destroy();
    await once(child, 'exit');
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
    onEnd(child, failed);
    setReferenced(child, false);
    return child;
  }

  #send(child: ChildProcessWithoutNullStreams): void {
    if (this.#child !== child) return;
    child.stdin.write(this.#unsent);
    this.#unsent = '';
  }

  #take(chunk: Buffer): void {
    const news = this.#withoutPassed(chunk);
    if (news.length === 0) return;
    this.#chunks.push(news);
    this.#buffered += news.length;
    if (this.#buffered < this.#needed) return;
    let rest = this.#chunks.length === 1 ? news : Buffer.concat(this.#chunks);
    for (;;) {
      const isHeader = this.#waiting[this.#answered]?.isHeader === true;
      const found = parseAnswer(rest, isHeader);
      if (typeof found === 'number') {
        this.#needed = found;
        break;
      }
      this.#answer(found.answer);
      this.#passing = Math.max(0, found.length - rest.length);
      rest = rest.subarray(found.length);
    }
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#buffered = rest.length;
    this.#watch();
  }

  #withoutPassed(chunk: Buffer): Buffer {
    const passed = Math.min(this.#passing, chunk.length);
    this.#passing -= passed;
    return chunk.subarray(passed);
  }

  #answer(answer: Answer | null): void {
    const waiting = this.#waiting[this.#answered];
    // Frees the promise, which holds the content: ten thousand may be requested at once.
    this.#waiting[this.#answered] = ANSWERED;
    this.#answered += 1;
    // Copied, so that one small file does not keep a whole chunk alive.
    waiting?.resolve(answer && { ...answer, content: Buffer.from(answer.content) });
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
    this.#buffered = 0;
    this.#needed = 1;
    this.#passing = 0;
    this.#watch();
    for (const each of waiting) each.reject(gitError(each.purpose, error));
  }

  /** Keeps our process alive, and a timer running, only while requests are open. */
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

/** The answer at the start of the buffer, whose length may reach beyond it; or the bytes that are needed to parse it. */
function parseAnswer(
  buffer: Buffer,
  isHeader: boolean,
): { readonly answer: Answer | null; readonly length: number } | number {
  const end = buffer.indexOf(0x0a);
  if (end === -1) return buffer.length + 1;
  const words = buffer.toString('latin1', 0, end).split(' ');
  const [id = ''] = words;
  if (words.length !== 3) return { answer: null, length: end + 1 };
  const sizeBytes = Number(words[2]);
  const length = end + 1 + sizeBytes + 1;
  if (isHeader) return { answer: { id, sizeBytes, content: Buffer.alloc(0) }, length };
  if (buffer.length < length) return length;
  const content = buffer.subarray(end + 1, end + 1 + sizeBytes);
  return { answer: { id, sizeBytes, content }, length };
}

function onEnd(child: ChildProcessWithoutNullStreams, failed: (error: Error) => void): void {
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString('utf8')).slice(0, MOST_COMPLAINT);
  });
  child.stdin.on('error', () => undefined);
  child.on('error', failed);
  // After the last of its output.
  child.on('close', () => {
    failed(new Error(complaintOf(complaint) || 'git cat-file ended'));
  });
}

function setReferenced(child: ChildProcessWithoutNullStreams, referenced: boolean): void {
  const verb = referenced ? 'ref' : 'unref';
  child[verb]();
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    if (stream instanceof Socket) stream[verb]();
  }
}
