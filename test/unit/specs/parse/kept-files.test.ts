import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SpecTree } from '../../../../src/model/spec-tree.js';
import { SpecCache } from '../../../../src/specs/cache.js';
import { keepParsed } from '../../../../src/specs/parse/kept-files.js';
import { readSpecs, type SpecsResult } from '../../../../src/specs/read-specs.js';
import { makeDirectory, makeRepository } from '../../../support/git.js';
import { treeOf } from '../../../support/spec-tree.js';
import { cliRun } from '../../../support/terminal.js';

function flag(name: string, more = ''): string {
  return `flag: ${name}
treatments: { "on": Größer 🚀, "off": "" }
defaultTreatment: "off"
${more}environments:
  staging:
    targets: { "on": [${name}-qa, "__proto__", 0012] }
    defaultRule: { "on": 10, "off": rest }
`;
}

const FILES: Readonly<Record<string, string>> = {
  'flagkeel.yaml':
    'workspace: Default\nenvironments: { staging: {} }\ndefaults: { trafficType: user }\n',
  'flags/cart.yaml': flag('cart'),
  'flags/pay.yaml': flag('pay', `# ${'x'.repeat(70_000)}\n`),
  'segments/staff.yaml': 'segment: staff\nenvironments: { staging: { keys: [a] } }\n',
};

/** A reading in a process of its own, as far as memory goes. */
async function read(gitDir: string, tree: SpecTree, prefix = ''): Promise<SpecsResult> {
  const memory = new SpecCache();
  keepParsed(memory, { gitDir, prefix });
  return readSpecs(tree, memory);
}

/** A tree that lists files and has none of them, so that only what is kept can be read. */
function unreadable(files: Readonly<Record<string, string>>): SpecTree {
  const read = async (path: string): Promise<Buffer> => Promise.reject(new Error(`read ${path}`));
  return { ...treeOf(files), read };
}

function keptIn(gitDir: string): string[] {
  const folder = join(gitDir, 'flagkeel', 'parsed');
  return readdirSync(folder).map((name) => join(folder, name));
}

describe('parsed specs in the git directory', () => {
  it('are what the next process goes by, which reads and parses nothing', async () => {
    const gitDir = makeDirectory();
    const first = await read(gitDir, treeOf(FILES));

    const second = await read(gitDir, unreadable(FILES));

    expect(first.ok).toBe(true);
    expect(second).toEqual(first);
    expect(second).toEqual(await readSpecs(treeOf(FILES)));
  });

  it('have every value at the place where it stands in its file', async () => {
    const gitDir = makeDirectory();
    const wrong = { ...FILES, 'flags/pay.yaml': flag('pay').replace('"on": 10', '"no": 10') };
    const first = await read(gitDir, treeOf(wrong));

    const second = await read(gitDir, unreadable(wrong));

    expect(first).toMatchObject({ ok: false, diagnostics: [{ location: { line: 7 } }] });
    expect(second).toEqual(first);
  });

  it('are not there for files that are wrong by themselves: those are parsed each time', async () => {
    const gitDir = makeDirectory();
    const wrong = { ...FILES, 'flags/cart.yaml': flag('cart', 'nonsense: 1\n') };
    const first = await read(gitDir, treeOf(wrong));

    await expect(read(gitDir, unreadable(wrong))).rejects.toThrow('read flags/cart.yaml');
    expect(await read(gitDir, treeOf(wrong))).toEqual(first);
  });

  it('count as not there, wherever a single byte of them was changed', async () => {
    const gitDir = makeDirectory();
    const first = await read(gitDir, treeOf(FILES));
    const [file = ''] = keptIn(gitDir);
    const bytes = readFileSync(file);
    for (const at of [0, 100, Math.floor(bytes.length / 2), bytes.length - 40, bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(file, changed);

      await expect(read(gitDir, unreadable(FILES))).rejects.toThrow('read ');
    }
    for (const length of [0, 1, 31, 36, bytes.length - 1]) {
      writeFileSync(file, bytes.subarray(0, length));
      expect(await read(gitDir, treeOf(FILES))).toEqual(first);
    }
    expect(readFileSync(file)).toEqual(bytes);
  });

  it('are kept apart for each directory of a repository', async () => {
    const gitDir = makeDirectory();
    const others = { ...FILES, 'flags/cart.yaml': flag('cart', 'expires: 2030-01-01\n') };
    await read(gitDir, treeOf(FILES), 'shop/');
    await read(gitDir, treeOf(others), 'blog/');

    expect((await read(gitDir, unreadable(FILES), 'shop/')).ok).toBe(true);
    expect((await read(gitDir, unreadable(others), 'blog/')).ok).toBe(true);
  });

  it('are whole after many processes wrote them at once', async () => {
    const gitDir = makeDirectory();
    await Promise.all(Array.from({ length: 8 }, async () => read(gitDir, treeOf(FILES))));

    expect((await read(gitDir, unreadable(FILES))).ok).toBe(true);
    expect(keptIn(gitDir)).toHaveLength(1);
  });

  it('cost a reading nothing where they cannot be written', async () => {
    const gitDir = makeDirectory();
    writeFileSync(join(gitDir, 'flagkeel'), 'no folder');

    expect((await read(gitDir, treeOf(FILES))).ok).toBe(true);
  });

  it('do not pile up: of versions and of interrupted processes', async () => {
    const gitDir = makeDirectory();
    const folder = join(gitDir, 'flagkeel', 'parsed');
    mkdirSync(folder, { recursive: true });
    const old = (name: string, minutes: number): void => {
      writeFileSync(join(folder, name), '');
      const at = new Date(Date.now() - minutes * 60_000);
      utimesSync(join(folder, name), at, at);
    };
    for (let version = 0; version < 9; version += 1) old(`v${version}`, 10 + version);
    old('v0.abandoned', 61);
    old('v0.under-way', 1);

    await read(gitDir, treeOf(FILES));

    const left = readdirSync(folder).filter((name) => name.startsWith('v'));
    expect(left.toSorted().join(' ')).toBe('v0 v0.under-way v1 v2 v3 v4 v5 v6');
  });

  it('are written anew once more than one file in a hundred is not among them', async () => {
    const gitDir = makeDirectory();
    const flags = (count: number, changed: number): Record<string, string> => {
      const names = Array.from({ length: count }, (_, at) => `f${at}`);
      const files = names.map((name, at): [string, string] => [
        `flags/${name}.yaml`,
        flag(name, at < changed ? 'expires: 2030-01-01\n' : ''),
      ]);
      return { ...FILES, ...Object.fromEntries(files) };
    };
    await read(gitDir, treeOf(flags(200, 0)));
    const [file = ''] = keptIn(gitDir);
    const written = readFileSync(file);

    await read(gitDir, treeOf(flags(200, 2)));
    expect(readFileSync(file)).toEqual(written);

    await read(gitDir, treeOf(flags(200, 3)));
    expect(readFileSync(file)).not.toEqual(written);
    expect((await read(gitDir, unreadable(flags(200, 3)))).ok).toBe(true);
  });
});

describe('validate in a repository', () => {
  it('keeps what it parsed, and says the same of files that were changed since', async () => {
    const repository = makeRepository();
    repository.commit('Add flags', FILES);
    const { directory } = repository;
    const clean = await cliRun(['validate', directory]);
    repository.write({ 'flags/cart.yaml': flag('cart').replace('"on": 10', '"no": 10') });

    const kept = await cliRun(['validate', directory]);

    expect(clean.exitCode).toBe(0);
    expect(keptIn(join(directory, '.git'))).toHaveLength(1);
    expect(kept.exitCode).toBe(3);
    expect(kept.stdout).toContain('flags/cart.yaml:7:20');
    const other = makeRepository();
    other.write({ ...FILES, 'flags/cart.yaml': flag('cart').replace('"on": 10', '"no": 10') });
    const fresh = await cliRun(['validate', other.directory]);
    expect(kept.stdout).toBe(fresh.stdout);
  });

  it('keeps nothing of a directory without git', async () => {
    const directory = makeDirectory();
    for (const folder of ['flags', 'segments']) mkdirSync(join(directory, folder));
    for (const [path, text] of Object.entries(FILES)) writeFileSync(join(directory, path), text);

    expect((await cliRun(['validate', directory])).exitCode).toBe(0);
    expect(existsSync(join(directory, '.git'))).toBe(false);
  });
});
