import { readdir, readFile } from 'node:fs/promises';
import { PassThrough, Writable } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult, Tool as ToolListed } from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchemaType } from '@modelcontextprotocol/sdk/validation/types.js';
import { messageOf, type ExitCode } from '../errors.js';
import { errorText } from '../report/text/error.js';
import { packageFile } from '../platform/package-files.js';
import { packageVersion } from '../platform/version.js';
import type { DeclareCommand, RunCommand } from './command.js';
import { examples, placeOptions, timeoutOption, type ConnectionOptions } from './options.js';
import { inputOf, lineOf, TOOLS, type Document, type Given, type Tool } from './mcp-tools.js';
import type { Terminal } from './terminal.js';

/** Declares `flagkeel mcp`. */
export const declareMcp: DeclareCommand = (command, { terminal, run }) => {
  examples(command, ['flagkeel mcp config', 'flagkeel mcp --url https://admin.example.com config']);
  command.argument('[directory]', 'config repository', '.');
  timeoutOption(placeOptions(command)).action(
    async (directory: string, options: ConnectionOptions) => {
      const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
      const { stdin, stdout } = terminal;
      const transport = new StdioServerTransport(stdin, stdout);
      const place = { directory, place: placeWords(options), terminal };
      const { closed } = await serveMcp(transport, { ...place, run: run ?? notHere });
      for (const event of ['end', 'close']) stdin.once(event, () => void transport.close());
      terminal.signal.addEventListener('abort', () => void transport.close());
      await closed;
    },
  );
};

async function notHere(): Promise<ExitCode> {
  return Promise.reject(new Error('bug: mcp was declared without a program'));
}

/** The options of the server, as the commands that it runs take them. */
function placeWords({
  url,
  authHeader,
  embedded,
  embeddedDir,
  timeout,
}: ConnectionOptions): string[] {
  return [
    ...(url === undefined ? [] : [`--url=${url}`]),
    ...(authHeader === undefined ? [] : [`--auth-header=${authHeader}`]),
    ...(embedded === true ? ['--embedded'] : []),
    ...(embeddedDir === undefined ? [] : [`--embedded-dir=${embeddedDir}`]),
    ...(timeout === undefined ? [] : [`--timeout=${String(timeout)}ms`]),
  ];
}

/** What tools run in. */
export interface McpSettings {
  readonly directory: string;
  /** Options that say where the service is. */
  readonly place: readonly string[];
  readonly terminal: Pick<Terminal, 'environment' | 'signal'>;
  /** Runs a command of this program. */
  readonly run: RunCommand;
}

/**
 * Answers the requests of a client over a transport. All that it can do is to run commands that read, and to give the pages and
 * schemas of this package.
 *
 * @returns once it listens; `closed` resolves once the transport is closed.
 */
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
  server.setRequestHandler(types.ListToolsRequestSchema, () => ({ tools: listed() }));
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, { signal }) => {
    const tool = Object.hasOwn(TOOLS, params.name) ? TOOLS[params.name] : undefined;
    if (!tool) return refused(`there is no tool "${params.name}"`);
    const given = params.arguments ?? {};
    const checked = validator.getValidator(inputOf(tool) as JsonSchemaType)(given);
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

function listed(): ToolListed[] {
  return Object.entries(TOOLS).map(([name, tool]) => ({
    name,
    description: tool.description,
    inputSchema: inputOf(tool),
    outputSchema: { type: 'object', properties: { formatVersion: { const: 1 } } },
    annotations: {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: tool.asks !== undefined,
    },
  }));
}

/** Asks the service too where that can be done; where it cannot, the answer says why and has the rest. */
async function answer(tool: Tool, given: Given, settings: McpSettings): Promise<CallToolResult> {
  if (tool.asks !== 'with-key')
    return toResult(tool, await runTool(tool, given, settings, tool.asks !== undefined));
  const { environment } = settings.terminal;
  const hasKey = ['FLAGKEEL_API_KEY', 'FLAGKEEL_API_KEY_FILE'].some((name) => environment[name]);
  const online = hasKey ? await runTool(tool, given, settings, true) : undefined;
  if (online?.document) return toResult(tool, withLive(online, { known: true }));
  const offline = await runTool(tool, given, settings, false);
  const why = online?.said ?? 'no Admin API key was given (set FLAGKEEL_API_KEY_FILE)';
  return toResult(tool, withLive(offline, { known: false, why }));
}

function withLive({ document, ...ran }: Ran, live: Document): Ran {
  return { ...ran, document: document && { ...document, liveState: live } };
}

/** What came of a command. */
interface Ran {
  /** Undefined: it printed none. */
  readonly document: Document | undefined;
  readonly exitCode: number;
  /** What it said on standard error. */
  readonly said: string;
}

async function runTool(
  tool: Tool,
  given: Given,
  settings: McpSettings,
  online: boolean,
): Promise<Ran> {
  const texts: Texts = { stdout: '', stderr: '' };
  const terminal: Terminal = {
    ...settings.terminal,
    stdin: new PassThrough().end() as unknown as NodeJS.ReadStream,
    stdout: captured(texts, 'stdout'),
    stderr: captured(texts, 'stderr'),
  };
  try {
    const exitCode = await settings.run(lineOf(tool, given, { ...settings, online }), terminal);
    return { exitCode, document: parsed(texts.stdout), said: texts.stderr.trim() };
  } catch (error) {
    const said = `${texts.stderr}${errorText(error)}`.trim();
    return { exitCode: 1, document: parsed(texts.stdout), said };
  }
}

/** What a command wrote so far. */
interface Texts {
  stdout: string;
  stderr: string;
}

function captured(texts: Texts, name: keyof Texts): NodeJS.WriteStream {
  const write = (chunk: unknown, _: unknown, done: () => void): void => {
    texts[name] += String(chunk);
    done();
  };
  return new Writable({ write }) as unknown as NodeJS.WriteStream;
}

/** A document is an object; a list of them has a name, since nothing else may be the structure of an answer. */
function parsed(text: string): Document | undefined {
  if (!/^[[{]/.test(text)) return undefined;
  const value = JSON.parse(text) as Document | unknown[];
  return Array.isArray(value) ? { formatVersion: 1, documents: value } : value;
}

/** Exit codes with which a document is the answer: there is something to do, the specs are invalid, a guard refused. */
const TELLING: ReadonlySet<number> = new Set([0, 2, 3, 4]);

function toResult(
  { shown = (each) => each }: Tool,
  { document, exitCode, said }: Ran,
): CallToolResult {
  if (!document) return refused(said);
  const structuredContent = shown(document);
  const text = JSON.stringify(structuredContent, null, 2);
  const isError = !TELLING.has(exitCode);
  return { content: [{ type: 'text', text }], structuredContent, ...(isError && { isError }) };
}

function refused(why: string): CallToolResult {
  return { content: [{ type: 'text', text: why }], isError: true };
}

const FOLDERS = { docs: 'text/markdown', schemas: 'application/schema+json' } as const;

interface Resources {
  readonly resources: { readonly uri: string; readonly name: string; readonly mimeType: string }[];
  readonly [other: string]: unknown;
}

/** Pages and schemas of this package. */
async function resources(): Promise<Resources> {
  const found = Object.entries(FOLDERS).map(async ([folder, mimeType]) => {
    const names = await readdir(packageFile(folder)).catch((error: unknown) => {
      throw new Error(`cannot read ${folder} of the package: ${messageOf(error)}`);
    });
    const files = names
      .filter((name) => /\.(?:md|json)$/.test(name))
      .map((name) => `${folder}/${name}`);
    return files.map((name) => ({ uri: `flagkeel://${name}`, name, mimeType }));
  });
  return { resources: (await Promise.all(found)).flat() };
}
