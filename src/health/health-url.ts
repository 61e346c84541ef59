const DEFAULT_SERVICE_PORT = 8080;

/**
 * Where a running flaghoist says that it is well. Null: it was started as something that cannot be asked, such as
 * `reconcile`, or `watch` without `--listen`.
 *
 * @param commandLine of the container's first process, all words: `tini -- node /app/dist/main.js watch …`.
 */
export function healthUrl(commandLine: readonly string[]): string | null {
  const program = commandLine.findLastIndex((word) => word.endsWith('/dist/main.js'));
  if (program === -1) return null;
  const [command, ...words] = commandLine.slice(program + 1);
  if (command === 'watch') return daemonUrl(words);
  if (command === 'service') return serviceUrl(words);
  return null;
}

function daemonUrl(words: readonly string[]): string | null {
  const [, host, port] = /^(?:(.+):)?(\d+)$/.exec(valueOf('--listen', words) ?? '') ?? [];
  return urlOf(host, Number(port ?? 0), '/healthz');
}

function serviceUrl(words: readonly string[]): string | null {
  // These two administer a store and end.
  if (words.includes('keys') || words.includes('log')) return null;
  const port = Number(valueOf('--port', words) ?? DEFAULT_SERVICE_PORT);
  return urlOf(valueOf('--host', words), port, '/health');
}

/** Port 0 is one that only the process itself knows. */
function urlOf(host = '127.0.0.1', port: number, path: string): string | null {
  if (port === 0) return null;
  return `http://${reachable(host)}:${String(port)}${path}`;
}

/** Who listens on all addresses is asked on loopback. */
function reachable(host: string): string {
  const bare = host.replace(/^\[|\]$/g, '');
  if (bare === '0.0.0.0') return '127.0.0.1';
  if (bare === '::') return '[::1]';
  return bare.includes(':') ? `[${bare}]` : bare;
}

/** Of an option that may be given as two words or as one; the last one counts. */
function valueOf(option: string, words: readonly string[]): string | undefined {
  const values = words.flatMap((word, i) => {
    if (word.startsWith(`${option}=`)) return [word.slice(option.length + 1)];
    return words[i - 1] === option ? [word] : [];
  });
  return values.at(-1);
}
