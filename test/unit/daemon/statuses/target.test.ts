import { describe, expect, it } from 'vitest';
import { parseForge, statusTarget } from '../../../../src/forge/open.js';

const GITHUB = { kind: 'github', apiUrl: 'https://api.github.com', repository: 'shop/flags' };
const GITLAB = { kind: 'gitlab', apiUrl: 'https://gitlab.com/api/v4', repository: 'a/b/flags' };

describe('the repository of statuses', () => {
  const MIRROR = 'https://git.example.com/mirror/flags.git';
  it.each([
    ['github', 'https://github.com/shop/flags.git', GITHUB],
    ['github', 'git@github.com:shop/flags', GITHUB],
    ['github', 'ssh://git@github.com:22/shop/flags.git/', GITHUB],
    ['gitlab', 'https://gitlab.com/a/b/flags.git', GITLAB],
    // What the operator names, whatever is cloned.
    ['github:shop/flags', MIRROR, GITHUB],
    ['gitlab:a/b/flags', MIRROR, GITLAB],
    ['gitlab:42', MIRROR, { ...GITLAB, repository: '42' }],
  ])('is, with %s, what %s names', (text, repo, target) => {
    expect(statusTarget(parseForge(text), { repo })).toEqual(target);
  });

  it('on a server of another name is known only where its API is named', () => {
    const repo = 'https://git.example.com/shop/flags.git';
    const apiUrl = 'https://git.example.com/api/v3';

    expect(() => statusTarget(parseForge('github'), { repo })).toThrow('--forge-url');
    expect(statusTarget(parseForge('github'), { repo, apiUrl })).toEqual({
      ...GITHUB,
      apiUrl,
    });
  });

  it.each([undefined, '/srv/git/flags.git', 'file:///srv/git/flags', 'https://github.com/flags'])(
    'is asked for where the source does not say it: %s',
    (repo) => {
      expect(() => statusTarget(parseForge('github'), { repo })).toThrow('github:owner/name');
    },
  );

  it.each([
    '',
    'gitea:a/b',
    'github:',
    'github:flags',
    'github:a/b/c',
    'github:../b',
    'gitlab:a/..',
  ])('cannot be %j', (text) => {
    expect(() => parseForge(text)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });
});
