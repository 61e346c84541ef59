import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { commitTree, directoryTree } from '../../../src/git/trees.js';
import { GitCache } from '../../../src/git/cache.js';
import { localChanges, openSource } from '../../../src/git/spec-source.js';
import type { SpecTree } from '../../../src/model/spec-tree.js';
import { readConfig } from '../../../src/specs/read-config.js';
import { readSpecs } from '../../../src/specs/read-specs.js';
import {
  checkoutOf,
  makeDirectory,
  makeRepository,
  type TestRepository,
} from '../../support/git.js';

const FILES = {
  'flagkeel.yaml': 'workspace: Default\nenvironments: { staging: {} }\n',
  'flags/pay.yaml': `flag: pay
trafficType: user
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments: { staging: { defaultRule: "on" } }
`,
};

const FOLDERS = ['flags', 'identities', 'kills', 'segments', 'tests'];
const NO_FOLDERS = FOLDERS.map((folder) => `not-a-folder ${folder}`);

/** `code path` of each diagnostic, sorted; empty where the specs are right. */
async function wrongIn(tree: SpecTree): Promise<string[]> {
  const specs = await readSpecs(tree);
  if (specs.ok) return [];
  return specs.diagnostics.map(({ code, location }) => `${code} ${location.file}`).sort();
}

/** The specs of a directory, read as a run does that looks at the working tree. */
async function wrongOnDisk(directory: string, sameAsHead = false): Promise<string[]> {
  await using source = await openSource(directory, { workingTree: true, sameAsHead });
  return await wrongIn(source.tree);
}

async function wrongInHead({ directory }: TestRepository): Promise<string[]> {
  await using source = await openSource(directory, { workingTree: false });
  return await wrongIn(source.tree);
}

/** Committed submodules; on disk as `git clone` leaves them, empty folders. */
function commitSubmodules(repository: TestRepository, ...paths: readonly string[]): void {
  const { directory } = repository;
  const git = (...words: readonly string[]): string => repository.git(...words);
  const commit = git('rev-parse', 'HEAD');
  for (const path of paths) {
    rmSync(join(directory, path), { recursive: true, force: true });
    git('rm', '-r', '-q', '--cached', '--ignore-unmatch', path);
    git('update-index', '--add', '--cacheinfo', `160000,${commit},${path}`);
  }
  git('commit', '-q', '-m', 'Make submodules');
  for (const path of paths) mkdirSync(join(directory, path));
}

let repository: TestRepository;

beforeEach(() => {
  repository = makeRepository();
});

describe('specs behind something that is not read', () => {
  it.each<[string, (path: string) => void]>([
    [
      'links',
      (path) => {
        symlinkSync('real', path);
      },
    ],
    [
      'files',
      (path) => {
        writeFileSync(path, '');
      },
    ],
  ])(
    'are an error where folders are %s: in a commit, on disk, and without git',
    async (_, make) => {
      repository.commit('one', { ...FILES, 'real/pay.yaml': FILES['flags/pay.yaml'] });
      for (const folder of FOLDERS) {
        rmSync(join(repository.directory, folder), { recursive: true, force: true });
        make(join(repository.directory, folder));
      }

      expect(await wrongOnDisk(repository.directory)).toEqual(NO_FOLDERS);
      repository.commit('two');
      expect(await wrongInHead(repository)).toEqual(NO_FOLDERS);
      rmSync(join(repository.directory, '.git'), { recursive: true });
      expect(await wrongOnDisk(repository.directory)).toEqual(NO_FOLDERS);
    },
  );

  it.each([
    [FOLDERS, NO_FOLDERS],
    [['flags/team'], ['not-a-file flags/team']],
  ])(
    'are an error where %j are submodules, fetched or not, whatever else was edited',
    async (paths, expected) => {
      repository.commit('one', FILES);
      commitSubmodules(repository, ...paths);
      const changes = async (): Promise<string[]> =>
        localChanges(await checkoutOf(repository.directory));

      for (const isFetched of [false, true]) {
        // In sequence: the submodule is fetched after it was not.
        for (const path of isFetched ? paths : []) {
          repository.git('clone', '-q', repository.directory, path);
        }
        expect(await changes()).toEqual([]);
        expect(await wrongInHead(repository)).toEqual(expected);
        repository.write({ 'flagkeel.yaml': `# edited\n${FILES['flagkeel.yaml']}` });
        expect(await changes()).toEqual(['flagkeel.yaml']);
        expect(await wrongOnDisk(repository.directory)).toEqual(expected);
        expect(await wrongOnDisk(repository.directory, true)).toEqual(expected);
        repository.git('checkout', '-q', 'flagkeel.yaml');
      }
    },
  );

  it('are said to lie in a submodule that was not fetched, where the config directory is one', async () => {
    const { directory } = repository;
    repository.commit('one', { 'README.md': '' });
    commitSubmodules(repository, 'our specs');

    const opened = openSource(join(directory, 'our specs'), { workingTree: true });

    const fetch = `git -C ${directory} submodule update --init 'our specs'`;
    await expect(opened).rejects.toThrow(
      `cannot read specs in "our specs": it is a submodule that was not fetched (${fetch})`,
    );
  });

  it('are read where files took the place of a submodule', async () => {
    repository.commit('one', FILES);
    commitSubmodules(repository, 'flags');
    repository.write(FILES);

    expect(await wrongOnDisk(repository.directory)).toEqual([]);
    await using source = await openSource(repository.directory, { workingTree: true });
    expect(source.tree.list().map(({ path }) => path)).toEqual(Object.keys(FILES));
    expect(await wrongInHead(repository)).toEqual(['not-a-folder flags']);
  });

  it('are an error in a repository inside the directory, and not read', async () => {
    const directory = makeDirectory();
    execFileSync('git', ['init', '-q', join(directory, 'flags/team')]);
    writeFileSync(join(directory, 'flagkeel.yaml'), FILES['flagkeel.yaml']);
    writeFileSync(join(directory, 'flags/team/pay.yaml'), FILES['flags/pay.yaml']);

    expect(await wrongOnDisk(directory)).toEqual(['not-a-file flags/team']);
  });

  it.each(['flags', 'flags/pay.yaml'])('are an error where %s is a pipe', async (path) => {
    const directory = makeDirectory();
    mkdirSync(join(directory, path, '..'), { recursive: true });
    writeFileSync(join(directory, 'flagkeel.yaml'), FILES['flagkeel.yaml']);
    execFileSync('mkfifo', [join(directory, path)]);

    const code = path === 'flags' ? 'not-a-folder' : 'not-a-file';
    expect(await wrongOnDisk(directory)).toEqual([`${code} ${path}`]);
  });

  it('are as the commit has them where a sparse checkout leaves them out', async () => {
    repository.commit('one', { ...FILES, 'segments/a.yaml': 'segment: a\n' });
    repository.git('sparse-checkout', 'set', '--no-cone', '/flagkeel.yaml', '/segments/');
    repository.write({ 'flagkeel.yaml': `# edited\n${FILES['flagkeel.yaml']}` });

    await using source = await openSource(repository.directory, { workingTree: true });

    const paths = source.tree.list().map(({ path }) => path);
    expect(paths).toEqual(['flagkeel.yaml', 'flags/pay.yaml', 'segments/a.yaml']);
    expect((await source.tree.read('flags/pay.yaml')).toString()).toBe(FILES['flags/pay.yaml']);
    expect((await source.tree.read('flagkeel.yaml')).toString()).toContain('# edited');
  });

  it('are an error where flagkeel.yaml is a link, which is said of it alone too', async () => {
    repository.write({ ...FILES, 'real.yaml': FILES['flagkeel.yaml'] });
    rmSync(join(repository.directory, 'flagkeel.yaml'));
    symlinkSync('real.yaml', join(repository.directory, 'flagkeel.yaml'));

    const config = await readConfig(await directoryTree(repository.directory));

    expect(await wrongOnDisk(repository.directory)).toEqual(['not-a-file flagkeel.yaml']);
    expect(config).toBeUndefined();
  });

  it('are read where the operator names a link, and missing where the commit has one', async () => {
    const files = Object.entries(FILES).map(([path, text]) => [`real/${path}`, text] as const);
    repository.write(Object.fromEntries(files));
    symlinkSync('real', join(repository.directory, 'config'));
    const head = repository.commit('one');
    const checkout = await checkoutOf(join(repository.directory, 'config'));
    if (checkout.repository === null) throw new Error('no repository');

    expect(checkout.repository.prefix).toBe('real/');
    expect(await wrongIn(await commitTree(checkout, head))).toEqual([]);
    // As a remote source is asked: by the path in the tree, without a disk that could resolve it.
    const asked = { ...checkout, repository: { ...checkout.repository, prefix: 'config/' } };
    expect(await wrongIn(await commitTree(asked, head))).toEqual(['config-missing flagkeel.yaml']);
  });

  it('are those of the folder that a link leads to now, not of the one it led to before', async () => {
    const first = repository.commit('one', { 'a/flags/a.yaml': 'a', 'b/flags/b.yaml': 'b' });
    const second = repository.commit('two', { 'a/flags/more.yaml': 'a', 'b/flags/c.yaml': 'c' });
    const memory = new GitCache();
    const listed = async (folder: string, commit: string): Promise<string[]> => {
      const link = join(repository.directory, 'config');
      rmSync(link, { force: true });
      symlinkSync(folder, link);
      return (await commitTree(await checkoutOf(link, memory), commit))
        .list()
        .map(({ path }) => path);
    };

    expect(await listed('a', first)).toEqual(['flags/a.yaml']);
    expect(await listed('b', second)).toEqual(['flags/b.yaml', 'flags/c.yaml']);
    expect(await listed('a', second)).toEqual(['flags/a.yaml', 'flags/more.yaml']);
  });
});
