import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LocalUpstream } from '../../../../src/daemon/upstream/local.js';
import { makeDirectory, makeRepository } from '../../../support/git.js';
import { PIPELINE_CONFIG } from '../../../support/pipeline-world.js';

/** Follows a directory that was polled once. `hinted` resolves with the next hint. */
async function follow(directory: string) {
  const upstream = new LocalUpstream(directory);
  let hint: () => void = () => undefined;
  const hinted = async (): Promise<void> =>
    new Promise((resolve) => {
      hint = resolve;
    });
  const ready = hinted();
  onTestFinished(
    upstream.follow(() => {
      hint();
    }),
  );
  const seen = await upstream.poll();
  await ready;
  return { upstream, seen, hinted };
}

it('asks for a look once its watches stand: a commit that came before they did is no event', async () => {
  const repository = makeRepository();
  repository.commit('Begin', { 'flagkeel.yaml': PIPELINE_CONFIG });

  const { upstream, seen } = await follow(repository.directory);

  expect((await upstream.poll()).commit).toEqual(seen.commit);
});

describe('a link that is swapped is seen', () => {
  it('where it leads to a clone, as git-sync does it', async () => {
    const repository = makeRepository();
    repository.commit('Begin', { 'flagkeel.yaml': PIPELINE_CONFIG });
    const folder = makeDirectory();
    const link = join(folder, 'current');
    const clone = (name: string, as: string): void => {
      execFileSync('git', ['clone', '--quiet', repository.directory, join(folder, name)]);
      symlinkSync(join(folder, name), as);
    };
    clone('one', link);
    const { upstream, hinted } = await follow(link);
    const swapped = hinted();
    const commit = repository.commit('Go on', { 'flags/pay.yaml': 'flag: pay\n' });
    clone('two', join(folder, 'next'));

    renameSync(join(folder, 'next'), link);
    await swapped;

    expect((await upstream.poll()).commit?.commit).toBe(commit);
  });

  it('where it is the data of a ConfigMap, without git', async () => {
    const volume = makeDirectory();
    const fill = (version: string, text: string): void => {
      mkdirSync(join(volume, version));
      writeFileSync(join(volume, version, 'flagkeel.yaml'), text);
    };
    fill('..one', PIPELINE_CONFIG);
    symlinkSync('..one', join(volume, '..data'));
    symlinkSync('..data/flagkeel.yaml', join(volume, 'flagkeel.yaml'));
    const { upstream, seen, hinted } = await follow(volume);
    const swapped = hinted();
    fill('..two', `${PIPELINE_CONFIG}suspend: true\n`);
    symlinkSync('..two', join(volume, '..data_tmp'));

    renameSync(join(volume, '..data_tmp'), join(volume, '..data'));
    await swapped;
    rmSync(join(volume, '..one'), { recursive: true });

    expect((await upstream.poll()).localFiles).not.toBe(seen.localFiles);
    await using source = await upstream.open(null);
    expect(source.checkout.directory).toBe(join(volume, '..two'));
  });
});
