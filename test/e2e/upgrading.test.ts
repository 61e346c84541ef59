import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/platform/sqlite.js';
import { openStore } from '../../src/service/store/store.js';
import { MAIN } from '../support/cli.js';
import { makeDirectory } from '../support/git.js';
import { stateRef } from '../support/pipeline-world.js';
import { useScenario } from '../support/scenario.js';
import { callsOf } from '../support/service-calls.js';
import { startTestService } from '../support/service.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';
import { bare, projectText, rowsOf, sectionOf } from '../unit/docs/page.js';

const PAGE = projectText('docs/upgrading.md');

/** The commands of a section, in their order. */
function commandsOf(section: string): string[] {
  const blocks = sectionOf(PAGE, section).matchAll(/```sh\n([\s\S]*?)```/g);
  return [...blocks].map(([, text = '']) => text.trim());
}

const COMMAND = '## The command and the daemon';
const [keepShared = '', keepLocal = '', backShared = '', backLocal = ''] = commandsOf(COMMAND);

let folder: string;

beforeEach(() => {
  folder = makeDirectory();
});

describe('the state', () => {
  const scenario = useScenario();

  function sh(command: string): void {
    execFileSync('sh', ['-ec', command], { cwd: scenario.repository.directory, stdio: 'pipe' });
  }

  const git = (...args: readonly string[]): string => scenario.repository.git(...args);

  function flag(on: number): Record<string, string> {
    return { 'flags/banner.yaml': flagText('banner', on, { staging: '' }) };
  }

  function formats(): Set<number> {
    const paths = git('ls-tree', '-r', '--name-only', stateRef(scenario)).split('\n');
    const texts = paths.map((path) => git('show', `${stateRef(scenario)}:${path}`));
    return new Set(
      texts.map((text) => (JSON.parse(text) as { formatVersion: number }).formatVersion),
    );
  }

  /** Writes the state as the version before this one did: in format 1. */
  function writeInFormat1(): string {
    const ref = stateRef(scenario);
    git('read-tree', `--index-output=${join(folder, 'index')}`, ref);
    const env = { ...process.env, GIT_INDEX_FILE: join(folder, 'index') };
    const run = (args: readonly string[], input = ''): string =>
      execFileSync('git', args, { cwd: scenario.repository.directory, env, input })
        .toString()
        .trim();
    for (const path of git('ls-tree', '-r', '--name-only', ref).split('\n')) {
      const text = git('show', `${ref}:${path}`).replace(
        '"formatVersion": 2',
        '"formatVersion": 1',
      );
      const blob = run(['hash-object', '-w', '--stdin'], `${text}\n`);
      run(['update-index', '--cacheinfo', `100644,${blob},${path}`]);
    }
    const tree = run(['write-tree']);
    const identity = ['-c', 'user.name=old', '-c', 'user.email=old@example.com'];
    const commit = run([...identity, 'commit-tree', '-p', ref, '-m', 'Apply', tree]);
    git('update-ref', ref, commit);
    return commit;
  }

  it('goes from format 1 to this one and back by the commands of the page, and on again', async () => {
    scenario.commit({ 'flagkeel.yaml': STAGING_CONFIG, ...flag(10) }, 'Add the banner');
    expect((await scenario.reconcile()).code).toBe(0);
    const before = writeInFormat1();
    expect(formats()).toEqual(new Set([1]));

    sh(keepLocal);
    expect(await scenario.reconcile('--dry-run', '--detailed-exitcode')).toMatchObject({ code: 0 });
    scenario.commit(flag(25), 'Ramp the banner');
    expect((await scenario.reconcile()).code).toBe(0);
    expect(formats()).toEqual(new Set([2]));

    sh(backLocal);
    expect(git('rev-parse', stateRef(scenario))).toBe(before);
    expect(formats()).toEqual(new Set([1]));

    // The older version reads what it wrote; this one shows that nothing is left to do, nor taken back.
    const written = scenario.writes().length;
    expect(await scenario.reconcile()).toMatchObject({ code: 0 });
    expect(scenario.writes()).toHaveLength(written);
  });

  it('that is shared goes back on the server as well', () => {
    const server = join(folder, 'server.git');
    execFileSync('git', ['init', '--quiet', '--bare', server]);
    scenario.commit({ 'flagkeel.yaml': 'workspace: Default\n' }, 'Begin');
    const ref = 'refs/flagkeel/ws/0123abcd';
    const push = (name: string): string => {
      const commit = git('commit-tree', '-m', name, 'HEAD^{tree}');
      git('push', '--quiet', '--force', server, `${commit}:${ref}`);
      return commit;
    };
    git('remote', 'add', 'origin', server);

    const old = push('of the old version');
    sh(keepShared);
    push('of the new version');
    sh(backShared);

    expect(git('ls-remote', server, ref).split('\t')).toEqual([old, ref]);
  });
});

interface BackupLine {
  readonly steps?: readonly string[];
  readonly table?: string;
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly (string | number | null)[])[];
}

function linesOf(file: string): BackupLine[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as BackupLine);
}

describe('the store of the service', () => {
  const FIRST = 'test/fixtures/service/first-schema.backup';
  const [keep = '', back = ''] = commandsOf('## The service');

  /** A store as the first version left it: its tables, its rows, and no later step. */
  async function makeOldStore(directory: string): Promise<readonly string[]> {
    const [head, ...parts] = linesOf(FIRST);
    const steps = head?.steps ?? [];
    const upTo = steps.at(-1) ?? '';
    await (await openStore({ kind: 'directory', path: directory }, { tables: { upTo } })).close();
    const database = openSqlite(join(directory, 'service.sqlite'));
    for (const { table = '', columns = [], rows } of parts) {
      // Of the last line, `rows` are counts.
      if (table === '' || rows === undefined) continue;
      const places = columns.map(() => '?').join(', ');
      const insert = database.prepare(
        `insert into ${table} (${columns.map((name) => `"${name}"`).join(', ')}) values (${places})`,
      );
      for (const row of rows) insert.run(row);
    }
    database.close();
    return steps;
  }

  /** The command of the page, over this directory instead of that of the page. */
  function run(command: string, directory: string): void {
    const program = `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`;
    writeFileSync(join(folder, 'flagkeel'), program, { mode: 0o755 });
    const env = { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` };
    const here = command.replace('/var/lib/flagkeel/service', directory);
    expect(here).not.toBe(command);
    execFileSync('sh', ['-ec', here], { cwd: folder, env, stdio: 'pipe' });
  }

  it('goes from the first schema to this one and back by the commands of the page', async () => {
    const directory = join(folder, 'service');
    const steps = await makeOldStore(directory);

    run(keep, directory);
    const path = join(folder, 'before.backup');
    // The version that made it knows these steps, and no other: so it can restore the copy.
    expect(linesOf(path)[0]).toMatchObject({ steps });

    const upgraded = await startTestService({ store: { kind: 'directory', path: directory } });
    const client = callsOf(upgraded);
    expect(await client.ok('GET', '/splits/ws/Default/checkout')).toMatchObject({
      name: 'checkout',
    });
    await client.ok('POST', '/splits/ws/Default/trafficTypes/user', { name: 'since' });
    await upgraded.stop();

    renameSync(directory, `${directory}.new`);
    run(back, directory);
    expect(existsSync(join(directory, 'service.sqlite'))).toBe(true);
    const again = await startTestService({ store: { kind: 'directory', path: directory } });
    const found = callsOf(again);
    expect(await found.ok('GET', '/splits/ws/Default/checkout')).toMatchObject({
      name: 'checkout',
    });
    expect((await found.call('GET', '/splits/ws/Default/since')).status).toBe(404);
    await again.stop();
  });
});

it('the table of formats has the versions that the sources have', () => {
  const rows = new Map(rowsOf(sectionOf(PAGE, '## Formats')).map(([what, , now]) => [what, now]));
  const versionIn = (path: string): string =>
    /FORMAT(?:_VERSION)? = (?:'flagkeel-backup\/)?(\d+)/.exec(projectText(path))?.[1] ?? '';

  expect(rows.get('state, ramps, approvals used')).toBe(versionIn('src/state/codec.ts'));
  expect(rows.get('log of the writes')).toBe(versionIn('src/state/run-log.ts'));
  expect(rows.get('backup of the store')).toBe(versionIn('src/service/store/backup.ts'));
  expect(rows.get(bare('plan, for `--plan`')) ?? rows.get('plan, for `--plan`')).toBe(
    versionIn('src/report/json/plan.ts'),
  );
});
