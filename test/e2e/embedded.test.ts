import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PlanDocument } from '../../src/report/json/plan.js';
import { administer } from '../../src/service/service.js';
import { flagkeel, type CliResult } from '../support/cli.js';
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

const APPLIED = /^Applied: .+ In sync: \d+ objects? equal\.$/m;

describe.each([{ place: 'a git repository' }, { place: 'a directory without git' }])(
  'the embedded service in $place',
  ({ place }) => {
    const hasGit = place === 'a git repository';
    const WARNING = /^warning: there is no git history here/m;
    let directory: string;

    beforeEach(() => {
      const repository = makeRepository();
      repository.write(FILES);
      if (hasGit) repository.commit('Add the banner');
      else rmSync(join(repository.directory, '.git'), { recursive: true });
      ({ directory } = repository);
    });

    async function reconcile(...args: readonly string[]): Promise<CliResult> {
      const run = await flagkeel(['reconcile', '--embedded', ...args, directory]);
      expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
      expect(WARNING.test(run.stderr)).toBe(!hasGit);
      return run;
    }

    async function planOf(...args: readonly string[]): Promise<PlanDocument> {
      const { stdout } = await reconcile('--format', 'json', ...args);
      return JSON.parse(stdout) as PlanDocument;
    }

    /** What the store remembers of changes and of keys. */
    async function traces() {
      const path = join(directory, '.flagkeel', 'service');
      return administer({ kind: 'directory', path }, async (administration) => ({
        changes: await administration.audit(),
        keys: await administration.listKeys(),
      }));
    }

    it('plans the same before and after there is a store, applies what was reviewed, and is in sync then', async () => {
      const first = await planOf('--dry-run');
      const second = await planOf('--dry-run');
      const hadStore = existsSync(join(directory, '.flagkeel'));
      const applied = await reconcile('--plan-hash', first.planHash);
      const before = await traces();
      const plan = await planOf('--dry-run', '--detailed-exitcode');
      const again = await reconcile();

      expect(second).toEqual(first);
      expect(hadStore).toBe(false);
      expect(first.changes.length).toBeGreaterThan(3);
      expect(applied.stdout).toMatch(APPLIED);
      expect(again.stdout).toMatch(/^In sync: /m);
      expect(plan).toMatchObject({
        origin: 'embedded',
        workspace: first.workspace,
        changes: [],
      });
      expect(await traces()).toEqual(before);
      // The key of a run is never kept, and the places that the config names are there before the first run.
      expect(before.keys).toEqual([]);
      expect(new Set(before.changes.map(({ keyName }) => keyName))).toEqual(
        new Set(['seed', 'flagkeel --embedded']),
      );
    });
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
