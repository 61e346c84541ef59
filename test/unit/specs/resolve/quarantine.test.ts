import { describe, expect, it } from 'vitest';
import { readSpecs, type Rest } from '../../../../src/specs/read-specs.js';
import { treeOf } from '../../../support/spec-tree.js';

const CONFIG = `
workspace: Default
environments: { staging: {}, production: {} }
defaults: { trafficType: user }
`;

const flag = (name: string, rule = '', rest = ''): string => `flag: ${name}
treatments: { "on": New, "off": Old }
defaultTreatment: "off"
${rest}environments:
  production:
    ${rule}
    defaultRule: "on"
`;

const segment = (name: string, more = 'keys: [a]'): string => `segment: ${name}
environments:
  production: { ${more} }
`;

const KILL_OF_A = 'kills: { a: { reason: Errors } }\n';

const rightFiles = {
  'flagkeel.yaml': CONFIG,
  'flags/a.yaml': flag('a'),
  'flags/b.yaml': flag('b', 'rules: [{ if: { segment: beta }, serve: "on" }]'),
  'flags/c.yaml': flag('c', 'rules: [{ if: { flag: b, treatments: ["on"] }, serve: "on" }]'),
  'segments/beta.yaml': segment('beta'),
  'segments/other.yaml': segment('other', 'keysFile: other.keys'),
  'segments/other.keys': 'k1\nk2\n',
  'kills/production.yaml': 'kills: {}\n',
};

async function restOf(
  changed: Record<string, string>,
  links: readonly string[] = [],
): Promise<Rest | undefined> {
  const result = await readSpecs(treeOf({ ...rightFiles, ...changed }, links));
  if (result.ok) throw new Error('the specs are right');
  return result.rest;
}

async function heldOf(
  changed: Record<string, string>,
  links: readonly string[] = [],
): Promise<string[] | undefined> {
  const rest = await restOf(changed, links);
  return rest && [...rest.quarantined].sort();
}

describe('what is held when specs are invalid', () => {
  it.each([
    ['a file that is no YAML', { 'flags/a.yaml': 'flag: [' }, ['flag/a']],
    ['a file that departs from the schema', { 'flags/a.yaml': 'flag: a\n' }, ['flag/a']],
    [
      'a file whose name is not the flag’s: both names',
      { 'flags/x.yaml': flag('y') },
      ['flag/x', 'flag/y'],
    ],
    ['a flag declared twice', { 'flags/more/a.yaml': flag('a') }, ['flag/a']],
    ['an overlay that cannot be read', { 'flags/a@staging.yaml': 'flag: {' }, ['flag/a']],
    [
      'a treatment that does not exist',
      { 'flags/a.yaml': flag('a').replace('"on"\n', '"of"\n') },
      ['flag/a'],
    ],
    [
      'names that end in .yml and .YAML',
      { 'flags/y.yml': flag('y'), 'flags/z.YAML': flag('z') },
      ['flag/y', 'flag/z'],
    ],
    [
      'a segment, and with it whoever names it, and whoever names them',
      { 'segments/beta.yaml': 'segment: beta\nenvironments: 5\n' },
      ['flag/b', 'flag/c', 'segment/beta'],
    ],
    [
      'a flag that another depends on',
      { 'flags/b.yaml': 'flag: b\ntreatments: {}\n' },
      ['flag/b', 'flag/c'],
    ],
    ['a key file', { 'segments/other.keys': 'k1\nk\u00012\n' }, ['segment/other']],
    [
      'all flags of a cycle',
      {
        'flags/b.yaml': flag('b', 'rules: [{ if: { flag: c, treatments: ["on"] }, serve: "on" }]'),
      },
      ['flag/b', 'flag/c'],
    ],
    ['a spec test holds nothing', { 'tests/a.test.yaml': 'tests: nope\ncases: []\n' }, []],
    ['all identities', { 'identities/user.yaml': 'identities: 1\n' }, ['identities/*']],
  ])('%s', async (_, changed, expected) => {
    expect(await heldOf(changed)).toEqual(expected);
  });

  it('leaves everything else as the specs have it', async () => {
    const rest = await restOf({ 'segments/beta.yaml': 'segment: beta\nenvironments: 5\n' });
    expect([...(rest?.desired.flags.keys() ?? [])]).toEqual(['a']);
    expect([...(rest?.desired.segments.keys() ?? [])]).toEqual(['other']);
  });

  it.each([
    ['the config is wrong', { 'flagkeel.yaml': 'workspace: [\n' }, []],
    ['a link hides a folder of flags', { 'flags/team': 'elsewhere' }, ['flags/team']],
    ['a link is named like a file and may hide a folder', {}, ['flags/team.yaml']],
    ['a link is named like a key file and may hide a folder', {}, ['segments/team.keys']],
    ['a link hides all flags', {}, ['flags']],
    ['a link hides all segments', {}, ['segments']],
    ['a link hides all break-glass lists', {}, ['kills']],
    ['a link hides one break-glass list', {}, ['kills/staging.yaml']],
  ])('nothing can be told apart where %s', async (_, changed, links) => {
    expect(await restOf(changed, links)).toBeUndefined();
  });
});

describe('kills beside invalid specs', () => {
  it('keeps the kill that a held flag orders itself', async () => {
    const file = flag('a', 'killed: true').replace('defaultRule: "on"', 'defaultRule: "of"');
    const rest = await restOf({ 'flags/a.yaml': file });
    expect(rest?.desired.kills.map(({ flag: name }) => name)).toEqual(['a']);
  });

  it('sends the kills of the lists though a link hides all flags', async () => {
    const files = { 'flagkeel.yaml': CONFIG, 'kills/production.yaml': KILL_OF_A };
    const result = await readSpecs(treeOf(files, ['flags']));
    expect(result).toMatchObject({ ok: false, kills: [{ flag: 'a', environment: 'production' }] });
  });

  it('takes back nothing by a list that cannot be read', async () => {
    const rest = await restOf({ 'kills/production.yaml': 'kills: 7\n' });
    expect(rest?.quarantined).toEqual(new Set());
    expect(rest?.desired.killLists).toEqual(new Set());
  });
});
