import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
  type BigIntStats,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';

/** Who commits, as git writes it: `Name <address> seconds +0000`. */
export interface Signed {
  readonly author: string;
  readonly committer: string;
}

interface Entry {
  readonly path: string;
  readonly mode: number;
  readonly id: Buffer;
  readonly stat: BigIntStats;
}

const lstatOf = (path: string): BigIntStats => lstatSync(path, { bigint: true });

const FILE = 0o100_644;
const PROGRAM = 0o100_755;
const LINK = 0o120_000;

/**
 * Does what `git add --all` and `git commit` do, without a process: tests make thousands of commits, and to start the
 * programs took longer than what is tested.
 *
 * @returns the commit's id; null, with nothing done, where only git knows what to do: in linked work trees, during a
 *   merge, and with attributes, ignored files, other repositories or settings that bear on a commit.
 */
export function commitFiles(directory: string, message: string, signed: Signed): string | null {
  const git = join(directory, '.git');
  if (!lstatSync(git).isDirectory() || needsGit(git)) return null;
  const branch = /^ref: (.*)\n$/.exec(readFileSync(join(git, 'HEAD'), 'utf8'))?.[1] ?? 'HEAD';
  const parent = headOf(git, branch);
  const entries: Entry[] = [];
  const tree = parent === undefined ? null : writeTree({ git, directory, path: '', entries });
  if (tree === null || parent === undefined) return null;
  const text = message.endsWith('\n') ? message : `${message}\n`;
  const id = writeObject(
    git,
    'commit',
    Buffer.from(
      [
        `tree ${tree.toString('hex')}`,
        ...(parent === null ? [] : [`parent ${parent}`]),
        `author ${signed.author}`,
        `committer ${signed.committer}`,
        `\n${text}`,
      ].join('\n'),
    ),
  ).toString('hex');
  writeIndex(git, entries);
  writeRef(git, branch, id);
  const line = `${parent ?? '0'.repeat(40)} ${id} ${signed.committer}\tcommit: ${message.split('\n')[0] ?? ''}\n`;
  for (const log of new Set(['HEAD', branch])) {
    mkdirSync(dirname(join(git, 'logs', log)), { recursive: true });
    appendFileSync(join(git, 'logs', log), line);
  }
  return id;
}

function needsGit(git: string): boolean {
  const config = readFileSync(join(git, 'config'), 'utf8');
  if (
    /objectformat|gpgsign|hookspath|worktree|sparse|ignorecase|autocrlf|filemode = false/i.test(
      config,
    )
  )
    return true;
  return ['MERGE_HEAD', 'info/exclude', 'info/attributes', 'info/sparse-checkout', 'reftable'].some(
    (name) => existsSync(join(git, name)),
  );
}

/** The commit that a branch is at, null before its first; undefined if it stands in no file of its own. */
function headOf(git: string, branch: string): string | null | undefined {
  const file = join(git, branch);
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const packed = join(git, 'packed-refs');
  return existsSync(packed) && readFileSync(packed, 'utf8').includes(branch) ? undefined : null;
}

function writeRef(git: string, branch: string, id: string): void {
  mkdirSync(dirname(join(git, branch)), { recursive: true });
  writeFileSync(join(git, branch), `${id}\n`);
}

/** @returns null if the folder holds something that only git can judge; empty if there is no file in it. */
function writeTree(place: {
  readonly git: string;
  readonly directory: string;
  readonly path: string;
  readonly entries: Entry[];
}): Buffer | null {
  const { git, directory, path, entries } = place;
  const rows: { readonly order: Buffer; readonly row: Buffer }[] = [];
  const found = readdirSync(join(directory, path), { withFileTypes: true });
  for (const each of found) {
    const { name } = each;
    if (name === '.git' && path === '') continue;
    if (['.git', '.gitignore', '.gitattributes', '.gitmodules'].includes(name)) return null;
    const below = path === '' ? name : `${path}/${name}`;
    if (each.isDirectory()) {
      const id = writeTree({ ...place, path: below });
      if (id === null) return null;
      if (id.length > 0) {
        rows.push({ order: Buffer.from(`${name}/`), row: rowOf('40000', name, id) });
      }
      continue;
    }
    const full = join(directory, below);
    const stat = lstatOf(full);
    const isProgram = (stat.mode & 0o100n) !== 0n;
    const mode = each.isSymbolicLink() ? LINK : isProgram ? PROGRAM : FILE;
    if (mode !== LINK && !each.isFile()) return null;
    const content = mode === LINK ? Buffer.from(readlinkSync(full)) : readFileSync(full);
    const id = writeObject(git, 'blob', content);
    entries.push({ path: below, mode, id, stat });
    rows.push({ order: Buffer.from(name), row: rowOf(mode.toString(8), name, id) });
  }
  if (rows.length === 0 && path !== '') return Buffer.alloc(0);
  const sorted = rows.toSorted((a, b) => Buffer.compare(a.order, b.order));
  return writeObject(git, 'tree', Buffer.concat(sorted.map(({ row }) => row)));
}

function rowOf(mode: string, name: string, id: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`), id]);
}

function writeObject(git: string, type: string, content: Buffer): Buffer {
  const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  const id = createHash('sha1').update(whole).digest();
  const name = id.toString('hex');
  const file = join(git, 'objects', name.slice(0, 2), name.slice(2));
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, deflateSync(whole, { level: 1 }), { mode: 0o444 });
  }
  return id;
}

/** Version 2, with what git needs to see without reading it that a file is as it was committed. */
function writeIndex(git: string, entries: readonly Entry[]): void {
  const sorted = entries
    .map((entry) => ({ ...entry, name: Buffer.from(entry.path) }))
    .toSorted((a, b) => Buffer.compare(a.name, b.name));
  const rows = sorted.map(({ name, mode, id, stat }) => {
    const times = [stat.ctimeNs, stat.mtimeNs].flatMap((ns) => [
      ns / 1_000_000_000n,
      ns % 1_000_000_000n,
    ]);
    const numbers = [...times, stat.dev, stat.ino, BigInt(mode), stat.uid, stat.gid, stat.size];
    const fixed = Buffer.alloc(40);
    numbers.forEach((number, index) =>
      fixed.writeUInt32BE(Number(number & 0xffff_ffffn), index * 4),
    );
    const flags = Buffer.alloc(2);
    flags.writeUInt16BE(Math.min(name.length, 0xfff));
    const row = Buffer.concat([fixed, id, flags, name]);
    return Buffer.concat([row, Buffer.alloc(8 - (row.length % 8))]);
  });
  const head = Buffer.alloc(12);
  head.write('DIRC');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(rows.length, 8);
  const content = Buffer.concat([head, ...rows]);
  writeFileSync(
    join(git, 'index'),
    Buffer.concat([content, createHash('sha1').update(content).digest()]),
  );
}
