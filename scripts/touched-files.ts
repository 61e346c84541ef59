import { execFile, execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { startService } from '../src/service/service.js';

/*
 * Counts the files of src/ that run a function only because one thing changed: a run over specs-example in sync is
 * compared with a run after one changed percentage, and with one after a kill. A person who follows such a change through
 * the program meets at least these files. `--check` exits with 1 where there are more than the bound.
 */

/** 59 and 60 as counted; a slow machine waits and repeats, which a few more files do. */
const BOUNDS = { percentage: 60, kill: 61 };
/** A line of progress, which each run prints that takes long. */
const BY_THE_CLOCK = 'report/progress.ts grouped@';
const PROJECT = fileURLToPath(new URL('..', import.meta.url));
/** Rooms that no client runs. */
const OTHERS = /^(service|console|generated)\//;
const FLAG = 'flags/checkout/new-checkout.yaml';

interface CoveredScript {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
  }[];
}

const folder = mkdtempSync(join(tmpdir(), 'flagkeel-touched-'));
const repository = join(folder, 'repository');
cpSync(join(PROJECT, 'specs-example'), repository, { recursive: true });
const service = await startService({
  store: { kind: 'memory' },
  seed: {
    workspaces: [
      {
        name: 'Default',
        environments: [
          { name: 'development' },
          { name: 'staging' },
          { name: 'production', production: true },
        ],
        trafficTypes: ['user', 'account'],
      },
    ],
  },
});
const key = service.lendKey('touched');
try {
  git('init', '--quiet', '--initial-branch=main');
  commit('Begin');
  await functionsOfRun();
  const inSync = await functionsOfRun();
  edit(FLAG, (text) => text.replace(/"on": (\d+)/, (_, on: string) => `"on": ${Number(on) + 1}`));
  commit('Change one percentage');
  const percentage = touched(inSync, await functionsOfRun());
  edit('kills/production.yaml', () => 'kills:\n  new-checkout: { reason: INC-1 }\n');
  commit('Kill a flag');
  const kill = touched(inSync, await functionsOfRun());
  show('percentage', percentage);
  show('kill', kill);
} finally {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}

function show(name: keyof typeof BOUNDS, files: ReadonlyMap<string, readonly string[]>): void {
  const isBroken = files.size > BOUNDS[name];
  const line = `${name}  ${files.size} files  <= ${BOUNDS[name]}${isBroken ? '  broken' : ''}`;
  process.stdout.write(`${line}\n`);
  if (process.argv.includes('--list')) {
    for (const [file, functions] of files) {
      process.stdout.write(`${file}: ${functions.join(', ')}\n`);
    }
  }
  if (isBroken && process.argv.includes('--check')) process.exitCode = 1;
}

/** Functions of the client that one run executes, as `FILE NAME@OFFSET`. */
async function functionsOfRun(): Promise<ReadonlySet<string>> {
  const coverage = join(folder, 'coverage');
  mkdirSync(coverage);
  const loader = pathToFileURL(join(PROJECT, 'node_modules/tsx/dist/loader.mjs')).href;
  const args = ['--import', loader, join(PROJECT, 'src/main.ts'), 'reconcile', '--adopt'];
  await promisify(execFile)(process.execPath, [...args, '--url', service.origin, repository], {
    env: { ...process.env, NODE_V8_COVERAGE: coverage, FLAGKEEL_API_KEY: key },
  });
  const found = new Set<string>();
  for (const file of readdirSync(coverage)) {
    const { result } = JSON.parse(readFileSync(join(coverage, file), 'utf8')) as {
      readonly result: readonly CoveredScript[];
    };
    for (const { url, functions } of result.filter(({ url: each }) => each.startsWith('file://'))) {
      const path = relative(join(PROJECT, 'src'), fileURLToPath(url.split('?')[0] ?? url));
      if (path.startsWith('..') || OTHERS.test(path)) continue;
      for (const { functionName, ranges } of functions) {
        const [whole] = ranges;
        if (functionName !== '' && whole && whole.count > 0) {
          found.add(`${path} ${functionName}@${whole.startOffset}`);
        }
      }
    }
  }
  rmSync(coverage, { recursive: true });
  return found;
}

/** File → the functions that ran in the second run alone. */
function touched(before: ReadonlySet<string>, after: ReadonlySet<string>): Map<string, string[]> {
  const files = new Map<string, string[]>();
  const only = [...after].filter((each) => !before.has(each) && !each.startsWith(BY_THE_CLOCK));
  for (const each of only.sort()) {
    const [file = '', name = ''] = each.split(/[ @]/);
    files.set(file, [...(files.get(file) ?? []), name]);
  }
  return files;
}

function edit(path: string, change: (text: string) => string): void {
  const file = join(repository, path);
  const text = readFileSync(file, 'utf8');
  const changed = change(text);
  if (changed === text) throw new Error(`nothing changed in ${path}`);
  writeFileSync(file, changed);
}

function commit(message: string): void {
  git('add', '--all');
  git(
    '-c',
    'user.name=Ana',
    '-c',
    'user.email=ana@example.com',
    'commit',
    '--quiet',
    '-m',
    message,
  );
}

function git(...args: readonly string[]): void {
  execFileSync('git', ['-C', repository, ...args], { stdio: 'ignore' });
}
