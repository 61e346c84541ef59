import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { PlanDocument } from '../../src/report/json/plan.js';
import { administer } from '../../src/service/service.js';
import { flagkeel } from '../support/cli.js';
import { makeRepository } from '../support/git.js';

const FILES = {
  'flagkeel.yaml': `workspace: Shop
environments:
  staging: {}
  production: { protected: true }
`,
  'flags/banner.yaml': `flag: banner
description: The banner on the front page
trafficType: user
rolloutStatus: Ramping
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  staging: { defaultRule: "on" }
  production:
    rules:
      - name: staff
        if: { segment: staff }
        serve: "on"
    defaultRule: "off"
`,
  'segments/staff.yaml': `segment: staff
trafficType: user
environments:
  production: { keys: [u-1, u-2] }
`,
};

const WARNING = /^warning: there is no git history here/m;

/** What the store of this directory remembers of changes and of keys. */
async function traces(directory: string) {
  const path = join(directory, '.flagkeel', 'service');
  return administer({ kind: 'directory', path }, async (administration) => ({
    changes: await administration.audit(),
    keys: await administration.listKeys(),
  }));
}

it.each(['a git repository', 'a directory without git'])(
  'the embedded service in %s plans the same before and after there is a store, applies what was reviewed, and is in sync then',
  async (place) => {
    const repository = makeRepository();
    const { directory } = repository;
    const hasGit = place === 'a git repository';
    repository.commit('Add the banner', FILES);
    if (!hasGit) rmSync(join(directory, '.git'), { recursive: true });
    const reconcile = async (...args: readonly string[]): Promise<string> => {
      const run = await flagkeel(['reconcile', '--embedded', ...args, directory]);
      expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
      expect(WARNING.test(run.stderr)).toBe(!hasGit);
      return run.stdout;
    };
    const planOf = async (...args: readonly string[]): Promise<PlanDocument> =>
      JSON.parse(await reconcile('--dry-run', '--format', 'json', ...args)) as PlanDocument;

    const first = await planOf();
    const second = await planOf();
    const hadStore = existsSync(join(directory, '.flagkeel'));
    const applied = await reconcile('--plan-hash', first.planHash);
    const before = await traces(directory);
    const plan = await planOf('--detailed-exitcode');

    expect([second, hadStore]).toEqual([first, false]);
    expect(first.changes.length).toBeGreaterThan(3);
    expect(applied).toMatch(/^Applied: .+ In sync: \d+ objects? equal\.$/m);
    expect(await reconcile()).toMatch(/^In sync: /m);
    expect(plan).toMatchObject({ origin: 'embedded', workspace: first.workspace, changes: [] });
    expect(await traces(directory)).toEqual(before);
    // The key of a run is never kept, and the places that the config names are there before the first run.
    const writers = new Set(before.changes.map(({ keyName }) => keyName));
    expect([before.keys, writers]).toEqual([[], new Set(['seed', 'flagkeel --embedded'])]);
  },
);

it('names the option that helps where the config directory cannot hold a store', async () => {
  const repository = makeRepository();
  repository.commit('Add the banner', FILES);
  writeFileSync(join(repository.directory, '.flagkeel'), 'in the way of the folder');

  const { code, stderr } = await flagkeel(['reconcile', '--embedded', repository.directory]);

  expect(code).toBe(1);
  expect(stderr).toMatch(/cannot make a store in ".*\.flagkeel": .* --embedded-dir\)/);
});
