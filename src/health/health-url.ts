const DEFAULT_SERVICE_PORT = 8080;

/**
 * The health address of a running flagkeel. null if its command has none, such as `reconcile`, or `watch` without
 * `--listen`.
 *
 * @param commandLine of the container's first process, with all arguments: `tini -- node /app/dist/main.js watch …`.
 */
export function healthUrl(commandLine: readonly string[]): string | null {
  const program = commandLine.findLastIndex((word) => word.endsWith('/dist/main.js'));
  if (program === -1) return null;
  const [command, ...args] = commandLine.slice(program + 1);
  if (command === 'watch') return daemonUrl(args);
  if (command === 'service') return serviceUrl(args);
  return null;
}

function daemonUrl(args: readonly string[]): string | null {
  const [, host, port] = /^(?:(.+):)?(\d+)$/.exec(valueOf('--listen', args) ?? '') ?? [];
  return urlOf(host, Number(port ?? 0), '/healthz');
}

function serviceUrl(args: readonly string[]): string | null {
  // These subcommands administer a store and then end.
  if (args.includes('keys') || args.includes('log')) return null;
  const port = Number(valueOf('--port', args) ?? DEFAULT_SERVICE_PORT);
  return urlOf(valueOf('--host', args), port, '/health');
}

/** null for port 0, because only the process itself knows the chosen port. */
function urlOf(host = '127.0.0.1', port: number, path: string): string | null {
  if (port === 0) return null;
  return `http://${reachable(host)}:${String(port)}${path}`;
}

/** A host to connect to: loopback if the process listens on all addresses. */
function reachable(host: string): string {
  const bare = host.replace(/^\[|\]$/g, '');
  if (bare === '0.0.0.0') return '127.0.0.1';
  if (bare === '::') return '[::1]';
  return bare.includes(':') ? `[${bare}]` : bare;
}

/** The value of an option, given as one argument or as two. The last one wins, as in the program itself. */
function valueOf(option: string, args: readonly string[]): string | undefined {
  const values = args.flatMap((word, i) => {
    if (word.startsWith(`${option}=`)) return [word.slice(option.length + 1)];
    return args[i - 1] === option ? [word] : [];
  });
  return values.at(-1);
}
