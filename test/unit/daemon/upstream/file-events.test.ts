import { expect, it, onTestFinished } from 'vitest';
import { LocalUpstream } from '../../../../src/daemon/upstream/local.js';
import { makeRepository } from '../../../support/git.js';
import { PIPELINE_CONFIG } from '../../../support/pipeline-world.js';

it('asks for a look once its watches stand: a commit that came before they did is no event', async () => {
  const repository = makeRepository();
  repository.commit('Begin', { 'flagkeel.yaml': PIPELINE_CONFIG });
  const upstream = new LocalUpstream(repository.directory);
  const asked = new Promise<void>((resolve) => {
    onTestFinished(upstream.follow(resolve));
  });

  const { commit } = await upstream.poll();
  await asked;

  expect((await upstream.poll()).commit).toEqual(commit);
});
