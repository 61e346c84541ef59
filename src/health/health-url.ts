const DEFAULT_SERVICE_PORT = 8080;

/**
 * The address at which a running flagkeel says that it is well. Null where it was started as
 * something that cannot be asked, such as `reconcile`, or `watch` without `--listen`.
 *
 * @param commandLine of the container's first process, with all arguments: `tini -- node
 * /app/dist/main.js watch …`.
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
  // These two administer a store and end.
  if (args.includes('keys') || args.includes('log')) return null;
  const port = Number(valueOf('--port', args) ?? DEFAULT_SERVICE_PORT);
  return urlOf(valueOf('--host', args), port, '/health');
}

/** Null for port 0, which stands for a port that only the process itself knows. */
function urlOf(host = '127.0.0.1', port: number, path: string): string | null {
  if (port === 0) return null;
  return `http://${reachable(host)}:${String(port)}${path}`;
}

/** The address to ask. A process that listens on all addresses is asked on loopback. */
function reachable(host: string): string {
  const bare = host.replace(/^\[|\]$/g, '');
  if (bare === '0.0.0.0') return '127.0.0.1';
  if (bare === '::') return '[::1]';
  return bare.includes(':') ? `[${bare}]` : bare;
}

/**
 * The value of an option, given as two arguments or as one. The last one counts, as it does for the
 * program itself.
 */
function valueOf(option: string, args: readonly string[]): string | undefined {
  const values = args.flatMap((word, i) => {
    if (word.startsWith(`${option}=`)) return [word.slice(option.length + 1)];
    return args[i - 1] === option ? [word] : [];
  });
  return values.at(-1);
}
