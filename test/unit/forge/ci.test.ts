import { describe, expect, it } from 'vitest';
import { ciContext } from '../../../src/review/pull-request.js';

const [HEAD, BASE, MERGE] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [
  string,
  string,
  string,
];

describe('the environment of a CI job', () => {
  it('is nothing outside of one', () => {
    expect(ciContext({ CI: 'true', GITHUB_REPOSITORY: 'acme/flags' }, {})).toBeNull();
  });

  it('names the merge and both sides on GitHub', () => {
    const environment = {
      GITHUB_ACTIONS: 'true',
      GITHUB_REF: 'refs/pull/7/merge',
      GITHUB_SHA: MERGE,
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: 'acme/flags',
      GITHUB_RUN_ID: '12',
    };
    const event = {
      pull_request: {
        number: 7,
        head: { sha: HEAD, repo: { id: 2 } },
        base: { sha: BASE, repo: { id: 1 } },
      },
    };

    expect(ciContext(environment, event)).toMatchObject({
      pullRequest: 7,
      commit: HEAD,
      base: BASE,
      merge: MERGE,
      isFork: true,
      runUrl: 'https://github.com/acme/flags/actions/runs/12',
    });
  });

  it('names no merge for a push to a branch called like one', () => {
    const push = { GITHUB_ACTIONS: 'true', GITHUB_REF: 'refs/heads/fix/merge', GITHUB_SHA: MERGE };

    expect(ciContext(push, { ref: 'refs/heads/fix/merge' })?.merge).toBeUndefined();
  });

  it('gets no secrets where Dependabot opened the pull request, as if it came from a fork', () => {
    const pull = { head: { repo: { id: 1 } }, base: { repo: { id: 1 } } };
    const isFork = (actor: string) =>
      ciContext({ GITHUB_ACTIONS: 'true', GITHUB_ACTOR: actor }, { pull_request: pull })?.isFork;

    expect(isFork('dependabot[bot]')).toBe(true);
    expect(isFork('ana')).toBe(false);
  });

  it.each([
    undefined,
    null,
    'text',
    [],
    { pull_request: null },
    { pull_request: { number: '7; rm', head: { sha: '--upload-pack=x' }, base: 3 } },
  ])('takes nothing from an event of another shape: %j', (event) => {
    const found = ciContext({ GITHUB_ACTIONS: 'true' }, event);

    expect(found).toMatchObject({ pullRequest: undefined, commit: undefined, base: undefined });
    expect(found?.isFork).toBe(false);
  });

  it('names the branch’s own commit where GitLab runs on a merge', () => {
    const merged = {
      GITLAB_CI: 'true',
      CI_COMMIT_SHA: MERGE,
      CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: HEAD,
      CI_MERGE_REQUEST_TARGET_BRANCH_SHA: BASE,
      CI_MERGE_REQUEST_DIFF_BASE_SHA: HEAD,
    };

    expect(ciContext(merged, undefined)).toMatchObject({ commit: HEAD, base: BASE });
    expect(
      ciContext(
        { GITLAB_CI: 'true', CI_COMMIT_SHA: HEAD, CI_MERGE_REQUEST_TARGET_BRANCH_SHA: '' },
        {},
      ),
    ).toMatchObject({ commit: HEAD, base: undefined });
  });
});
