import { symlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { linesWithName, namesInCode } from '../../../src/git/search.js';
import { checkoutOf, makeRepository } from '../../support/git.js';
import { flagText } from '../../support/spec-texts.js';
import { useCommands } from '../../support/terminal.js';

const world = useCommands();
const { write } = world;

function commitFlags(codeReferences: string, names: readonly string[]): void {
  write({
    'flagkeel.yaml': `workspace: Shop\nenvironments: { production: {} }\nlint: { codeReferences: ${codeReferences} }\n`,
    ...Object.fromEntries(
      names.map((name) => [`flags/${name}.yaml`, flagText(name, 10, { production: '' })]),
    ),
  });
  world.repository.commit('Add flags');
}

async function findings(): Promise<readonly string[]> {
  const { stdout } = await world.run('validate');
  return stdout.split('\n').filter((line) => line.includes('[code-ref-missing]'));
}

it('validate warns of flags that no code names, and takes a list of names for code', async () => {
  commitFlags('[src, names.csv]', ['asked', 'listed', 'longer', 'specced', 'unsaid']);
  write({
    'src/shop.ts': "client.isOn('asked');\nclient.isOn('longer-yet') || all.longer;\n",
    'names.csv': 'flagKey,path,line\nlisted,app/pay.swift,7\n',
    'README.md': 'unsaid\n',
    'tests/specced.test.yaml':
      'tests: specced\ncases: [{ name: all, environment: production, key: ana, expect: "off" }]\n',
  });

  const nothing = (name: string) =>
    `flags/${name}.yaml:1:7: warning[code-ref-missing] no code in "src", "names.csv" names flag "${name}"`;
  expect(await findings()).toEqual(['longer', 'specced', 'unsaid'].map(nothing));
});

it('validate searches all of a repository but specs, links, binary files, and what git ignores', async () => {
  const flags = ['binary', 'ignored', 'linked', 'new', 'removed', 'specced'];
  commitFlags('[.]', flags);
  write({ 'src/removed.ts': 'removed', '.gitignore': 'build\n' });
  world.repository.commit('Add code');
  world.repository.remove('src/removed.ts');
  write({ 'src/new.ts': 'new', 'build/out.js': 'ignored', 'src/data': 'binary \0' });
  symlinkSync('/etc/linked', world.at('src/linked.ts'));

  const codes = (await findings()).map((line) => line.split(':')[0]);

  expect(codes).toEqual(
    ['binary', 'ignored', 'linked', 'removed', 'specced'].map((name) => `flags/${name}.yaml`),
  );
});

it('validate judges no flag where a path of code cannot be searched', async () => {
  commitFlags('[scr, ../shop, /etc]', ['pay']);

  expect(await findings()).toEqual([
    'flagkeel.yaml:3:26: warning[code-ref-missing] "scr" holds no file of the repository',
    'flagkeel.yaml:3:31: warning[code-ref-missing] "../shop" lies outside of the repository',
    'flagkeel.yaml:3:40: warning[code-ref-missing] "/etc" lies outside of the repository',
  ]);
});

it('finds the names that a search for each of them finds, whatever stands beside them', async () => {
  const beside = ['', '.', '..', '-', '.-', '-.', '_', ' ', '"', 'é', 'x', '.x', 'x.', '.x.', '/'];
  const names = beside.flatMap((_, a) => beside.map((__, b) => `n${a}_${b}`));
  const lines = beside.flatMap((before, a) =>
    beside.map((after, b) => `${before}n${a}_${b}${after}`),
  );
  const repository = makeRepository();
  repository.write({ 'code.txt': lines.join('\n') });
  const checkout = await checkoutOf(repository.directory);

  const atOnce = await namesInCode(checkout, ['code.txt'], new Set(names));

  // A search for what all lines hold gives each line, and the name that it was made for says whether it counts.
  const oneByOne = await Promise.all(
    names
      .filter((_, at) => at % 9 === 0)
      .map(async (name) => [name, await linesWithName(repository.directory, name)] as const),
  );
  expect(oneByOne.map(([name, found]) => [name, found.length > 0])).toEqual(
    oneByOne.map(([name]) => [name, atOnce?.found.has(name)]),
  );
});
