import { describe, expect, it } from 'vitest';
import { forgePages } from '../../../../src/daemon/page/phrases.js';
import { COMMIT } from '../../../support/plan-builder.js';

const GITHUB = 'https://github.com/shop/flags.git';
const GITLAB = 'https://gitlab.example.com/shop/team/flags';

describe('the pages of a forge', () => {
  it.each([
    [GITHUB, `https://github.com/shop/flags/blob/${COMMIT}/flags/pay.yaml#L3`],
    [`${GITHUB} (config)`, `https://github.com/shop/flags/blob/${COMMIT}/config/flags/pay.yaml#L3`],
    [GITLAB, `${GITLAB}/-/blob/${COMMIT}/flags/pay.yaml#L3`],
  ])('has the line of a file of %s, and its commit', (location, page) => {
    expect(forgePages(location)?.file(COMMIT, 'flags/pay.yaml', 3)).toBe(page);
    const commit = page.replace('/blob/', '/commit/').replace(/(?<=\/commit\/[0-9a-f]+)\/.*/, '');
    expect(forgePages(location)?.commit(COMMIT)).toBe(commit);
  });

  it.each([
    [GITHUB, 'Ramp pay to 25 % (#41)', 'https://github.com/shop/flags/pull/41'],
    [GITHUB, 'Merge pull request #7 from shop/ramp', 'https://github.com/shop/flags/pull/7'],
    [GITLAB, 'Ramp pay (!12)', `${GITLAB}/-/merge_requests/12`],
    [GITHUB, 'Fixes #41 of the other tracker', null],
    [GITLAB, 'Ramp pay (#41)', null],
  ])('of %s has the request that "%s" is of', (location, subject, page) => {
    expect(forgePages(location)?.pullRequest(subject)).toBe(page);
  });

  it.each(['/srv/flags', 'git@github.com:shop/flags.git', 'https://git.example.com/shop/flags'])(
    'are none for %s',
    (location) => {
      expect(forgePages(location)).toBeNull();
    },
  );

  it('are none for what is no commit, and no file leaves its place', () => {
    const pages = forgePages(GITHUB);
    expect(pages?.commit('<img>')).toBeNull();
    expect(pages?.file(COMMIT, 'a"b/#c', null)).toBe(
      `https://github.com/shop/flags/blob/${COMMIT}/a%22b/%23c`,
    );
  });
});
