import { describe, expect, it } from 'vitest';
import { readSpecs } from '../../../src/specs/read-specs.js';
import { flagText, STAGING_CONFIG } from '../../support/spec-texts.js';
import { treeOf } from '../../support/spec-tree.js';

const TEXT = flagText('pay', 10, { staging: '' });

async function read(tag: string, members: string) {
  const config = `${STAGING_CONFIG}ownershipTag: ${tag}\n`;
  return readSpecs(treeOf({ 'flagkeel.yaml': config, 'flags/pay.yaml': `${TEXT}${members}` }));
}

async function flagWith(members: string): Promise<unknown> {
  const result = await read('git', members);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  const { fields, creation, ownershipTag } = result.desired.flags.get('pay') ?? {};
  return { fields, creation, ownershipTag };
}

describe('the tag that marks flags of git', () => {
  it('is the only tag of git where the file has no tags', async () => {
    expect(await flagWith('')).toMatchObject({ fields: {}, ownershipTag: 'git' });
  });

  it('stands among the tags of the file, once', async () => {
    const both = { fields: { tags: ['git', 'web'] }, ownershipTag: undefined };
    expect(await flagWith('tags: [web]\n')).toMatchObject(both);
    expect(await flagWith('tags: [web, git]\n')).toMatchObject(both);
  });

  it('goes with the creation alone where people own the tags', async () => {
    const left = { fields: {}, ownershipTag: undefined };
    expect(await flagWith('unmanaged: [tags]\n')).toEqual({ ...left, creation: { tags: ['git'] } });
    expect(await flagWith('tags: [web]\nunmanaged: [tags]\n')).toEqual({
      ...left,
      creation: { tags: ['git', 'web'] },
    });
  });

  it.each(['""', '" git"', '"two\\nlines"'])('is refused as %s, with its place', async (tag) => {
    const result = await read(tag, '');
    expect(result.ok ? [] : result.diagnostics).toMatchObject([
      {
        location: { file: 'flagkeel.yaml', line: 4 },
        message: expect.stringContaining('a tag such as managed-by-git') as unknown,
      },
    ]);
  });
});
