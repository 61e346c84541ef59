import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const HEADER = /^Content-Length: (\d+)\r\n(?:[^\r\n]+\r\n)*\r\n/;

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
}

/** Where in a file: lines and columns count from 0, as editors have it. */
interface Cursor {
  readonly line: number;
  readonly character: number;
}

/** The language server that editors run for YAML, as a process of its own, over its standard input and output. */
export class LanguageServer implements AsyncDisposable {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #answers = new Map<number | string, (result: unknown) => void>();
  readonly #problems = new Map<string, (found: readonly { message: string }[]) => void>();
  #received = Buffer.alloc(0);
  #requests = 0;

  constructor() {
    const main = createRequire(import.meta.url).resolve('yaml-language-server/package.json');
    const program = join(dirname(main), 'bin/yaml-language-server');
    this.#process = spawn(process.execPath, [program, '--stdio']);
    this.#process.stdout.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#read();
    });
  }

  async start(directory: string): Promise<void> {
    const uri = pathToFileURL(directory).href;
    const capabilities = {
      textDocument: { completion: { completionItem: { documentationFormat: ['plaintext'] } } },
      workspace: { configuration: true },
    };
    await this.#ask('initialize', {
      ...{ processId: process.pid, rootUri: uri, capabilities },
      workspaceFolders: [{ uri, name: 'specs' }],
    });
    this.#send({ method: 'initialized', params: {} });
  }

  /** Opens a file with a text that need not be on disk. @returns what the server finds wrong with it. */
  async open(path: string, text: string): Promise<readonly string[]> {
    const uri = pathToFileURL(path).href;
    const found = new Promise<readonly { message: string }[]>((resolve) => {
      this.#problems.set(uri, resolve);
    });
    const textDocument = { uri, languageId: 'yaml', version: 1, text };
    this.#send({ method: 'textDocument/didOpen', params: { textDocument } });
    return (await found).map(({ message }) => message);
  }

  /** Labels of what the server offers at a place. */
  async complete(path: string, position: Cursor): Promise<readonly string[]> {
    const textDocument = { uri: pathToFileURL(path).href };
    const answer = await this.#ask('textDocument/completion', { textDocument, position });
    return (answer as { items: { label: string }[] }).items.map(({ label }) => label);
  }

  /** What the server shows of a place; empty: nothing. */
  async hover(path: string, position: Cursor): Promise<string> {
    const textDocument = { uri: pathToFileURL(path).href };
    const answer = await this.#ask('textDocument/hover', { textDocument, position });
    return (answer as { contents: { value: string } } | null)?.contents.value ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill();
    await ended;
  }

  async #ask(method: string, params: unknown): Promise<unknown> {
    const id = (this.#requests += 1);
    const answer = new Promise((resolve) => {
      this.#answers.set(id, resolve);
    });
    this.#send({ id, method, params });
    return answer;
  }

  #send(message: Message): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  #read(): void {
    for (;;) {
      const [header, length] = HEADER.exec(this.#received.toString('latin1', 0, 200)) ?? [];
      const end = (header?.length ?? 0) + Number(length);
      if (header === undefined || this.#received.length < end) return;
      const body = this.#received.toString('utf8', header.length, end);
      this.#received = this.#received.subarray(end);
      this.#receive(JSON.parse(body) as Message);
    }
  }

  #receive({ id, method, params, result }: Message): void {
    if (method === 'textDocument/publishDiagnostics') {
      const { uri, diagnostics } = params as { uri: string; diagnostics: { message: string }[] };
      this.#problems.get(uri)?.(diagnostics);
    } else if (method === 'workspace/configuration' && id !== undefined) {
      // Settings of an editor in which nobody set anything, without the catalogue on the web.
      const { items } = params as { items: unknown[] };
      this.#send({ id, result: items.map((_, at) => (at === 0 ? SETTINGS : {})) });
    } else if (method !== undefined && id !== undefined) this.#send({ id, result: null });
    else if (id !== undefined) this.#answers.get(id)?.(result);
  }
}

const SETTINGS = {
  ...{ validate: true, hover: true, completion: true },
  schemaStore: { enable: false },
};
