import { readdir, readFile } from 'node:fs/promises';
import { PassThrough, Writable } from 'node:stream';
import type { Command } from 'commander';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type {
  CallToolResult,
  ListResourcesResult,
  Tool as ToolListed,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchemaType } from '@modelcontextprotocol/sdk/validation/types.js';
import { EXIT } from '../errors.js';
import { errorText } from '../report/text/error.js';
import { packageFile, packageVersion } from '../platform/package-files.js';
import type { ConnectionFlags } from '../compose/run.js';
import type { DeclareCommand, RunCommand } from './command.js';
import type { HelpDocument } from './help-document.js';
import { placeOptions, timeoutOption } from './options.js';
import { inputOf, lineOf, TOOLS, type Document, type Given, type Tool } from './mcp-tools.js';
import type { Terminal } from './terminal.js';

export const declareMcp: DeclareCommand = (command, { terminal, run }) => {
  command.argument('[directory]', 'config repository', '.');
  timeoutOption(placeOptions(command)).action(
    async (directory: string, options: ConnectionFlags) => {
      const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
      const { stdin, stdout } = terminal;
      const transport = new StdioServerTransport(stdin, stdout);
      if (!run) throw new Error('bug: mcp was declared without a program');
      const place = placeWords(command, options);
      const { closed } = await serveMcp(transport, { directory, place, terminal, run });
      closeOnceAnswered(transport, stdin);
      terminal.signal.addEventListener('abort', () => void transport.close());
      await closed;
    },
  );
};

/** Requests that came before the end of the input get their answers; those that the client cancels get none. */
function closeOnceAnswered(transport: Transport, stdin: Terminal['stdin']): void {
  const open = new Set<unknown>();
  let hasEnded = false;
  const closeIfDone = (): void => {
    if (hasEnded && open.size === 0) void transport.close();
  };
  const { onmessage } = transport;
  const send = transport.send.bind(transport);
  transport.onmessage = (message, extra) => {
    if ('method' in message && 'id' in message) open.add(message.id);
    else if ('method' in message) open.delete(message.params?.['requestId']);
    onmessage?.(message, extra);
  };
  transport.send = async (message, options) =>
    send(message, options).finally(() => {
      if (!('method' in message)) open.delete(message.id);
      closeIfDone();
    });
  const end = (): void => {
    hasEnded = true;
    closeIfDone();
  };
  stdin.once('end', end).once('close', end);
}

function placeWords(command: Command, options: ConnectionFlags): string[] {
  return command.options.flatMap((option) => {
    const value = options[option.attributeName() as keyof ConnectionFlags];
    if (value === undefined) return [];
    const word = typeof value === 'number' ? `${String(value)}ms` : value;
    return `${option.long ?? ''}${word === true ? '' : `=${String(word)}`}`;
  });
}

interface McpSettings {
  readonly directory: string;
  readonly place: readonly string[];
  readonly terminal: Pick<Terminal, 'environment' | 'signal'>;
  readonly run: RunCommand;
}

/** @returns once it listens; `closed` resolves once the transport is closed. */
export async function serveMcp(
  transport: Transport,
  settings: McpSettings,
): Promise<{ readonly closed: Promise<void> }> {
  const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
  const { server } = new McpServer(
    { name: 'flagkeel', version: packageVersion() },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  await addTools(server, settings);
  await addResources(server);
  await server.connect(transport);
  return { closed };
}

type Server = McpServer['server'];

async function addTools(server: Server, settings: McpSettings): Promise<void> {
  const types = await import('@modelcontextprotocol/sdk/types.js');
  const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/sdk/validation/ajv');
  const validator = new AjvJsonSchemaValidator();
  server.setRequestHandler(types.ListToolsRequestSchema, async () => ({
    tools: await Promise.all(Object.entries(TOOLS).map(async (each) => listed(each, settings))),
  }));
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, { signal }) => {
    const tool = Object.hasOwn(TOOLS, params.name) ? TOOLS[params.name] : undefined;
    if (!tool) return refused(`there is no tool "${params.name}"`);
    const given = params.arguments ?? {};
    const input = inputOf(tool, await helpOf(tool, settings));
    const checked = validator.getValidator(input as JsonSchemaType)(given);
    if (!checked.valid) return refused(checked.errorMessage);
    return answer(tool, given, { ...settings, terminal: { ...settings.terminal, signal } });
  });
}

async function addResources(server: Server): Promise<void> {
  const types = await import('@modelcontextprotocol/sdk/types.js');
  server.setRequestHandler(types.ListResourcesRequestSchema, async () => resources());
  server.setRequestHandler(types.ReadResourceRequestSchema, async ({ params: { uri } }) => {
    const found = (await resources()).resources.find((each) => each.uri === uri);
    if (!found) throw new types.McpError(types.ErrorCode.InvalidParams, 'no such resource');
    const text = await readFile(packageFile(found.name), 'utf8');
    return { contents: [{ uri, mimeType: found.mimeType, text }] };
  });
}

const INSTRUCTIONS =
  'Feature flags in git, compared with the flag administration service. All tools only read. A change is made by a commit to the specs and a run of flagkeel reconcile, never here. Codes are explained by explain_code.';

async function listed([name, tool]: [string, Tool], settings: McpSettings): Promise<ToolListed> {
  return {
    name,
    description: tool.description,
    inputSchema: inputOf(tool, await helpOf(tool, settings)),
    outputSchema: { type: 'object', properties: { formatVersion: { const: 1 } } },
    annotations: {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: tool.asks !== undefined,
    },
  };
}

async function helpOf({ command }: Tool, settings: McpSettings): Promise<HelpDocument> {
  const { document, said } = await runLine([command, '--help', '--format=json'], settings);
  if (!document) throw new Error(`bug: no help of ${command}: ${said}`);
  return document as unknown as HelpDocument;
}

/** Asks the service too if it can; otherwise the answer says why, and has the rest. */
async function answer(tool: Tool, given: Given, settings: McpSettings): Promise<CallToolResult> {
  const ran = async (online: boolean): Promise<Ran> =>
    runLine(lineOf(tool, given, { ...settings, online }), settings);
  if (tool.asks !== 'with-key') return toResult(tool, await ran(tool.asks === 'always'));
  const { environment } = settings.terminal;
  const hasKey = ['FLAGKEEL_API_KEY', 'FLAGKEEL_API_KEY_FILE'].some((name) => environment[name]);
  const online = hasKey ? await ran(true) : undefined;
  if (online?.document) return toResult(tool, online, { known: true });
  const why = online?.said ?? 'no Admin API key was given (set FLAGKEEL_API_KEY_FILE)';
  return toResult(tool, await ran(false), { known: false, why });
}

interface Ran {
  readonly document: Document | undefined;
  readonly exitCode: number;
  readonly said: string;
}

async function runLine(line: readonly string[], { terminal, run }: McpSettings): Promise<Ran> {
  const texts = { stdout: '', stderr: '' };
  const captured = (name: keyof typeof texts): NodeJS.WriteStream => {
    const write = (chunk: unknown, _: unknown, done: () => void): void => {
      texts[name] += String(chunk);
      done();
    };
    return new Writable({ write }) as unknown as NodeJS.WriteStream;
  };
  const exitCode = await run(line, {
    ...terminal,
    stdin: new PassThrough().end() as unknown as NodeJS.ReadStream,
    stdout: captured('stdout'),
    stderr: captured('stderr'),
  }).catch((error: unknown) => {
    texts.stderr += errorText(error);
    return EXIT.failed;
  });
  return { exitCode, document: parsed(texts.stdout), said: texts.stderr.trim() };
}

/** A list of documents gets a name, since only an object may be the structure of an answer. */
function parsed(text: string): Document | undefined {
  if (!/^[[{]/.test(text)) return undefined;
  const value = JSON.parse(text) as Document | unknown[];
  return Array.isArray(value) ? { formatVersion: 1, documents: value } : value;
}

/** Exit codes with which a document is the answer: there is something to do, the specs are invalid, a guard refused. */
const TELLING: readonly number[] = [0, 2, 3, 4];

function toResult(
  { shown = (each) => each }: Tool,
  { document, exitCode, said }: Ran,
  liveState?: Document,
): CallToolResult {
  if (!document) return refused(said);
  const structuredContent = { ...shown(document), ...(liveState && { liveState }) };
  const text = JSON.stringify(structuredContent, null, 2);
  const isError = !TELLING.includes(exitCode);
  return { content: [{ type: 'text', text }], structuredContent, ...(isError && { isError }) };
}

function refused(why: string): CallToolResult {
  return { content: [{ type: 'text', text: why }], isError: true };
}

const FOLDERS = { docs: 'text/markdown', schemas: 'application/schema+json' } as const;

async function resources(): Promise<ListResourcesResult> {
  const found = Object.entries(FOLDERS).map(async ([folder, mimeType]) => {
    const files = (await readdir(packageFile(folder))).filter((file) =>
      /\.(?:md|json)$/.test(file),
    );
    return files.map((file) => {
      const name = `${folder}/${file}`;
      return { uri: `flagkeel://${name}`, name, mimeType };
    });
  });
  return { resources: (await Promise.all(found)).flat() };
}
