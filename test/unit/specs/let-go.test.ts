import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SpecTree } from '../../../src/model/spec-tree.js';
import { SpecCache } from '../../../src/specs/cache.js';
import { keepParsed } from '../../../src/specs/parse/kept-files.js';
import type { SpecFile } from '../../../src/specs/parse/parse-file.js';
import { readSpecs, readWithParts } from '../../../src/specs/read-specs.js';
import { makeDirectory } from '../../support/git.js';
import { directoryTree, treeOf } from '../../support/spec-tree.js';

const EXAMPLE = directoryTree(join(import.meta.dirname, '../../../specs-example'));

type Path = readonly (string | number)[];

/** Every place inside of a value. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const members = Object.entries(value).map(([name, member]): [string | number, unknown] => [
    Array.isArray(value) ? Number(name) : name,
    member,
  ]);
  return [path, ...members.flatMap(([name, member]) => pathsIn(member, [...path, name]))];
}

/** All that a file says, and where. */
function saidBy(file: SpecFile): unknown {
  const paths = pathsIn(file.parsed.value);
  return paths.map((path) => [path, file.location(path), file.keys(...path)]);
}

/** The files of a tree as a reading left them in memory. */
function filesOf(tree: SpecTree, memory: SpecCache): SpecFile[] {
  return tree.list().flatMap((entry) => memory.fileOf(entry) ?? []);
}

describe('what files say, once flags were made of it', () => {
  it.each(['from the text', 'from the file of other processes'])('comes again %s', async (from) => {
    const memory = new SpecCache();
    if (from !== 'from the text') keepParsed(memory, { gitDir: makeDirectory(), prefix: '' });
    await readWithParts(EXAMPLE, memory);
    const files = filesOf(EXAMPLE, memory);
    const before = files.map(saidBy);
    const held = files.filter(({ parsed }) => parsed.places !== null);
    const values = held.map(({ parsed }) => parsed.value);

    await readSpecs(EXAMPLE, memory);

    expect(held.length).toBeGreaterThan(5);
    // Another object: the first is not held any more.
    expect(held.filter(({ parsed }, at) => parsed.value === values[at])).toEqual([]);
    expect(held.map(({ parsed }) => parsed.value)).toEqual(values);
    expect(files.map(saidBy)).toEqual(before);
  });

  it('is resolved anew where the config changed, as one who reads it for the first time does', async () => {
    const config = (type: string): string =>
      `workspace: Default\nenvironments: { dev: {} }\ndefaults: { trafficType: ${type} }\n`;
    const files = Object.fromEntries(
      ['a', 'b', 'c'].map((name) => [
        `flags/${name}.yaml`,
        `flag: ${name}\ntreatments: { "on": "", "off": "" }\ndefaultTreatment: "off"\nenvironments: { dev: { rules: [{ if: { segment: staff }, serve: "on" }], defaultRule: "off" } }\n`,
      ]),
    );
    const of = (type: string): SpecTree => treeOf({ 'flagkeel.yaml': config(type), ...files });
    const memory = new SpecCache();
    keepParsed(memory, { gitDir: makeDirectory(), prefix: '' });
    await readSpecs(of('user'), memory);

    const again = await readSpecs(of('account'), memory);

    // The rules are looked at too: what is wrong with them stands at its line and column.
    expect(again).toMatchObject({ ok: false, diagnostics: { length: 3 } });
    expect(again).toEqual(await readSpecs(of('account')));
  });

  it('is copied into a new file for other processes', async () => {
    const gitDir = makeDirectory();
    const of = (changed: number): SpecTree =>
      treeOf({
        // Where it changes all files are read, and not only those of flags that changed.
        'flagkeel.yaml': `workspace: Default\nenvironments: { dev: {} }\ndefaults: { trafficType: user }\n# ${changed}\n`,
        ...Object.fromEntries(
          Array.from({ length: 20 }, (_, at) => [
            `flags/f${at}.yaml`,
            `flag: f${at}\ndescription: ${at < changed ? 'changed' : 'as it was'}\ntreatments: { "on": "", "off": "" }\ndefaultTreatment: "off"\n`,
          ]),
        ),
      });
    const memory = new SpecCache();
    keepParsed(memory, { gitDir, prefix: '' });
    await readSpecs(of(0), memory);
    const last = await readSpecs(of(7), memory);

    const other = new SpecCache();
    keepParsed(other, { gitDir, prefix: '' });
    const read = async (path: string): Promise<Buffer> => Promise.reject(new Error(`read ${path}`));
    expect(last.ok).toBe(true);
    expect(await readSpecs({ ...of(7), read }, other)).toEqual(last);
  });
});
