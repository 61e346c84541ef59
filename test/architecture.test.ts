import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = join(dirname(fileURLToPath(import.meta.url)), '..', 'src');

/**
 * The rooms, lowest first, and for each the rooms below it that it may import from. A room is a folder, or a single
 * file where one is named; a file that is named belongs to its own room, not to its folder's.
 */
const ROOMS: Record<string, readonly string[]> = {
  'errors.ts': [],
  'admin-api/wire.ts': [],
  generated: [],
  model: ['errors.ts', 'admin-api/wire.ts', 'generated'],
  platform: ['errors.ts'],
  timing: ['model', 'platform'],
  forge: ['errors.ts', 'model', 'platform'],
  'admin-api': ['errors.ts', 'admin-api/wire.ts', 'model', 'platform'],
  git: ['errors.ts', 'model', 'platform'],
  plan: ['admin-api/wire.ts', 'model'],
  report: ['errors.ts', 'generated', 'model', 'platform'],
  specs: ['admin-api/wire.ts', 'generated', 'model', 'platform'],
  lint: ['generated', 'model', 'platform', 'timing', 'plan', 'specs'],
  service: ['errors.ts', 'admin-api/wire.ts', 'platform'],
  console: ['model', 'platform', 'report', 'service'],
  sdk: ['admin-api/wire.ts', 'model', 'timing', 'plan', 'service'],
  apply: ['errors.ts', 'admin-api/wire.ts', 'model', 'platform', 'admin-api', 'plan'],
  history: ['errors.ts', 'model', 'git', 'plan', 'specs'],
  state: ['errors.ts', 'model', 'platform', 'admin-api', 'git'],
  kill: [
    'errors.ts',
    'admin-api/wire.ts',
    'model',
    'platform',
    'admin-api',
    'git',
    'plan',
    'specs',
    'history',
  ],
  reconcile: [
    'errors.ts',
    'model',
    'platform',
    'timing',
    'admin-api',
    'git',
    'plan',
    'report',
    'specs',
    'apply',
    'history',
    'state',
    'kill',
  ],
  daemon: [
    'errors.ts',
    'generated',
    'model',
    'platform',
    'forge',
    'admin-api',
    'git',
    'report',
    'kill',
    'reconcile',
  ],
  import: [
    'errors.ts',
    'admin-api/wire.ts',
    'model',
    'platform',
    'admin-api',
    'git',
    'plan',
    'specs',
    'reconcile',
  ],
  compose: [
    'specs',
    'errors.ts',
    'model',
    'platform',
    'forge',
    'admin-api',
    'git',
    'service',
    'state',
    'reconcile',
    'daemon',
    'report',
  ],
  review: ['errors.ts', 'model', 'platform', 'forge', 'git', 'report', 'reconcile', 'compose'],
  cli: [
    'errors.ts',
    'generated',
    'model',
    'platform',
    'forge',
    'admin-api',
    'git',
    'plan',
    'report',
    'specs',
    'lint',
    'service',
    'console',
    'sdk',
    'state',
    'kill',
    'reconcile',
    'daemon',
    'import',
    'compose',
    'review',
  ],
  'main.ts': ['errors.ts', 'platform', 'report', 'cli'],
  health: [],
};

/** Which file or folder a library comes in by. */
const DOORS: Record<string, readonly string[]> = {
  '@gitbeaker/requester-utils': ['forge/gitlab.ts'],
  '@gitbeaker/rest': ['forge/gitlab.ts'],
  '@modelcontextprotocol/sdk': ['cli/mcp.ts', 'cli/mcp-tools.ts'],
  '@octokit/rest': ['forge/github.ts'],
  '@opentelemetry/api': ['platform/telemetry.ts'],
  ajv: ['specs/parse', 'specs/resolve/configurations.ts', 'service'],
  canonicalize: ['model/json.ts'],
  chokidar: ['daemon/upstream/local.ts'],
  commander: ['cli'],
  'fast-json-patch': ['model/flag', 'service/rules/json-patch.ts'],
  'fastest-levenshtein': ['specs/parse'],
  fastify: ['service', 'console', 'sdk', 'daemon/http'],
  kysely: ['service/store'],
  libsql: ['platform/sqlite.ts'],
  'node-cron': ['daemon/source/triggers.ts'],
  'p-map': ['admin-api'],
  pg: ['service/store', 'daemon/replicas/database.ts'],
  'pg-boss': ['daemon/replicas/queue.ts'],
  picocolors: ['report'],
  pino: ['platform/log.ts'],
  'prom-client': ['platform/prometheus.ts'],
  'simple-git': ['git/git.ts'],
  'string-width': ['report/text/layout.ts'],
  'temporal-polyfill': ['platform/zoned-time.ts'],
  re2js: ['model/matcher/expression.ts'],
  undici: ['platform/http-client.ts'],
  yaml: ['specs'],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

function sourceFiles(): string[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.replaceAll('\\', '/'))
    .sort();
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s(?:[^'";]*?\sfrom\s)?'([^']+)'|import\(\s*'([^']+)'\s*\)/g;
  return [...text.matchAll(pattern)].map((match) => ({
    from: file,
    to: match[1] ?? match[2] ?? '',
  }));
}

/** Local files that are loaded with a file: neither types alone nor what is imported when it is used. */
function loadedWith(file: string): string[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  const pattern = /(?:^|\n)(?:import|export)\s(?!type\s)(?:[^'";]*?\sfrom\s)?'(\.[^']+)'/g;
  return [...text.matchAll(pattern)].map(([, to = '']) => resolveLocal({ from: file, to }));
}

function resolveLocal({ from, to }: Import): string {
  return posix.normalize(posix.join(posix.dirname(from), to)).replace(/\.js$/, '.ts');
}

function roomOf(file: string): string {
  if (file in ROOMS) return file;
  return file.split('/')[0] ?? file;
}

const files = sourceFiles();
const imports = files.flatMap(importsOf);
const local = imports.filter((each) => each.to.startsWith('.'));
const libraries = imports.filter(
  (each) => !each.to.startsWith('.') && !each.to.startsWith('node:'),
);

describe('architecture', () => {
  it('knows the room of every file', () => {
    const strangers = files.filter((file) => !(roomOf(file) in ROOMS));
    expect(strangers).toEqual([]);
  });

  it('sends every request by way of the file that knows the proxies of the environment', () => {
    const senders = files.filter((file) =>
      /(?:await|return|=>|[=(])\s*fetch\(/.test(readFileSync(join(SRC, file), 'utf8')),
    );
    // The health check of the image asks its own container.
    expect(senders).toEqual(['health/check.ts', 'platform/http-client.ts']);
  });

  it('lets a room import only from the rooms that the table names', () => {
    const violations = local
      .map((each) => ({ ...each, target: resolveLocal(each) }))
      .filter(({ from, target }) => {
        const room = roomOf(from);
        const other = roomOf(target);
        return room !== other && !(ROOMS[room] ?? []).includes(other);
      })
      .map(({ from, target }) => `${from} → ${target}`);
    expect(violations).toEqual([]);
  });

  it('lets every library in by its own door', () => {
    const violations = libraries
      .filter(({ from, to }) => {
        const name = to.startsWith('@')
          ? to.split('/').slice(0, 2).join('/')
          : (to.split('/')[0] ?? to);
        const doors = DOORS[name];
        return !doors?.some((door) => from === door || from.startsWith(`${door}/`));
      })
      .map(({ from, to }) => `${from} → ${to}`);
    expect(violations).toEqual([]);
  });

  it('has no import cycle, type imports included', () => {
    const graph = new Map(files.map((file) => [file, [] as string[]]));
    for (const each of local) graph.get(each.from)?.push(resolveLocal(each));
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) {
        cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
        return;
      }
      if (done.has(file)) return;
      for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(cycles).toEqual([]);
  });

  const allLoadedWith = (file: string): string[] => {
    const loaded = new Set([file]);
    for (const each of loaded) for (const next of loadedWith(each)) loaded.add(next);
    return [...loaded];
  };

  it('loads the administration service only for the command that runs it', () => {
    const commands = files.filter((file) => file.startsWith('cli/commands/'));
    const withService = commands.filter((command) =>
      allLoadedWith(command).some((file) => roomOf(file) === 'service'),
    );
    expect(withService).toEqual([
      'cli/commands/service/service.ts',
      'cli/commands/service/specs.ts',
      'cli/commands/service/store.ts',
    ]);
  });

  it('loads what applications ask for no command but that of the service, and keeps it small', () => {
    const room = files.filter((file) => roomOf(file) === 'sdk');
    const loading = files.filter(
      (file) => roomOf(file) === 'cli' && allLoadedWith(file).some((each) => room.includes(each)),
    );
    const lines = room.map((file) => readFileSync(join(SRC, file), 'utf8').split('\n').length - 1);

    expect(loading).toEqual(['cli/commands/service/service.ts', 'cli/commands/service/specs.ts']);
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(1_200);
  });

  it('loads neither the HTTP client nor the database for commands that work offline', () => {
    const offline = ['validate', 'explain', 'fmt', 'test', 'report', 'stale', 'find-usage'];
    const heavy = ['platform/http-client.ts', 'platform/sqlite.ts'];
    const loaded = offline.flatMap((name) => allLoadedWith(`cli/commands/${name}.ts`));
    expect(heavy.filter((file) => loaded.includes(file))).toEqual([]);
    expect(allLoadedWith('cli/commands/reconcile.ts')).toContain('platform/http-client.ts');
  });

  it('lets the independent comparison of specs and service share nothing with what it checks', () => {
    const own = ['comparison', 'raw-state', 'written'].map((name) => `./${name}.js`);
    const others = own.flatMap((name) =>
      importsOf(`../test/support/stories/${name.slice(2, -3)}.ts`).map(({ to }) => to),
    );
    const allowed = new Set([...own, 'yaml', 'node:util']);
    expect(others.filter((to) => !allowed.has(to))).toEqual([]);
    expect(others).toContain('yaml');
  });

  it('names only files that exist', () => {
    const targets = local
      .map((each) => resolveLocal(each))
      .filter((target) => !files.includes(target));
    expect([...new Set(targets)].map((target) => relative('.', target))).toEqual([]);
  });
});
