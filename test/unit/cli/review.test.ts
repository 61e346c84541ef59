import { expect, it } from 'vitest';
import { makeRepository } from '../../support/git.js';
import { flagText, UNPROTECTED_CONFIG } from '../../support/spec-texts.js';
import { cliRun } from '../../support/terminal.js';

it('reviews on, with a warning, where the summary of the job cannot be written', async () => {
  const repository = makeRepository();
  repository.commit('Begin', { 'flagkeel.yaml': UNPROTECTED_CONFIG });
  repository.commit('Add a flag', { 'flags/alpha.yaml': flagText('alpha', 10) });

  const review = await cliRun(['review', '--offline', '--since', 'HEAD~1', repository.directory], {
    GITHUB_ACTIONS: 'true',
    GITHUB_STEP_SUMMARY: `${repository.directory}/nowhere/summary.md`,
  });

  expect(review.stderr).toContain('warning: cannot write the summary of the job: ENOENT');
  expect(review).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('flag/alpha') as string,
  });
});
