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
  'log.ts': ['errors.ts'],
  'html.ts': [],
  'http-client.ts': [],
  'http-server.ts': ['errors.ts'],
  'sqlite.ts': ['errors.ts'],
  generated: [],
  'api/wire.ts': [],
  kinds: ['generated', 'api/wire.ts', 'errors.ts'],
  model: ['kinds', 'api/wire.ts', 'errors.ts'],
  specs: ['model', 'kinds', 'generated', 'api/wire.ts', 'errors.ts'],
  git: ['model', 'kinds', 'errors.ts', 'log.ts', 'sqlite.ts'],
  api: ['model', 'kinds', 'api/wire.ts', 'http-client.ts', 'errors.ts', 'log.ts'],
  plan: ['model', 'kinds', 'api/wire.ts'],
  apply: ['plan', 'api', 'model', 'kinds', 'api/wire.ts', 'errors.ts'],
  report: ['plan', 'model', 'kinds', 'errors.ts'],
  forge: ['errors.ts'],
  'config.ts': ['errors.ts', 'model', 'api/wire.ts'],
  stages: ['report', 'plan', 'specs', 'git', 'api', 'model', 'kinds', 'api/wire.ts', 'errors.ts'],
  'reconcile.ts': [
    'stages',
    'apply',
    'report',
    'plan',
    'specs',
    'git',
    'api',
    'model',
    'kinds',
    'api/wire.ts',
    'errors.ts',
    'log.ts',
  ],
  service: ['api/wire.ts', 'errors.ts', 'html.ts', 'http-server.ts', 'log.ts', 'sqlite.ts'],
  'version.ts': [],
  daemon: [
    'forge',
    'reconcile.ts',
    'stages',
    'report',
    'specs',
    'git',
    'api',
    'plan',
    'model',
    'kinds',
    'html.ts',
    'http-client.ts',
    'http-server.ts',
    'errors.ts',
    'log.ts',
  ],
  compose: [
    'daemon',
    'forge',
    'config.ts',
    'version.ts',
    'reconcile.ts',
    'stages',
    'service',
    'git',
    'api',
    'model',
    'errors.ts',
    'log.ts',
  ],
  'arguments.ts': [],
  commands: [
    'forge',
    'version.ts',
    'arguments.ts',
    'daemon',
    'compose',
    'config.ts',
    'stages',
    'reconcile.ts',
    'service',
    'report',
    'generated',
    'specs',
    'git',
    'api',
    'plan',
    'model',
    'kinds',
    'errors.ts',
    'log.ts',
  ],
  'service-cli.ts': ['arguments.ts', 'commands', 'log.ts'],
  'watch-cli.ts': ['arguments.ts', 'commands', 'errors.ts'],
  'cli.ts': [
    'arguments.ts',
    'version.ts',
    'service-cli.ts',
    'watch-cli.ts',
    'commands',
    'errors.ts',
  ],
  'main.ts': ['cli.ts', 'report', 'errors.ts'],
  health: [],
};

/** Which file or folder a library comes in by. */
const DOORS: Record<string, readonly string[]> = {
  '@gitbeaker/rest': ['forge/gitlab.ts'],
  '@octokit/rest': ['forge/github.ts'],
  ajv: ['specs', 'service'],
  'ajv-formats': ['specs', 'service'],
  canonicalize: ['kinds/json.ts'],
  chokidar: ['daemon/upstream/file-events.ts'],
  commander: ['arguments.ts', 'cli.ts', 'service-cli.ts', 'watch-cli.ts'],
  'fast-json-patch': ['kinds'],
  'fastest-levenshtein': ['specs'],
  fastify: ['service', 'daemon/http'],
  kysely: ['service/store'],
  libsql: ['sqlite.ts'],
  'node-cron': ['daemon/schedule.ts'],
  'p-map': ['api/observe.ts'],
  pg: ['service/store', 'daemon/replicas/database.ts'],
  'pg-boss': ['daemon/replicas/queue.ts'],
  picocolors: ['report'],
  pino: ['log.ts'],
  'simple-git': ['git/git.ts'],
  'prom-client': ['daemon/metrics/prometheus.ts'],
  undici: ['http-client.ts'],
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

  it('names only files that exist', () => {
    const targets = local
      .map((each) => resolveLocal(each))
      .filter((target) => !files.includes(target));
    expect([...new Set(targets)].map((target) => relative('.', target))).toEqual([]);
  });
});
