import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeDirectory, TestRepository } from '../support/git.js';
import { startScripted } from '../support/http.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { lacks } from '../support/requirements.js';
import { useScenario } from '../support/scenario.js';
import { gpgSigner, sshSigner, type Signer } from '../support/signing.js';
import { flagText, STAGING_CONFIG } from '../support/spec-texts.js';
import type { Watching } from '../support/watching.js';

const flag = (percent: number): string => flagText('pay', percent, { staging: '' });
const KILL = 'kills:\n  pay: { reason: "INC-1 double charges", by: eve }\n';

describe.skipIf(lacks('gpg'))('signed commits', () => {
  const scenario = useScenario();
  let live: LiveWorkspace;
  let ana: Signer;

  beforeEach(async () => {
    live = await liveWorkspace(scenario.service);
    ana = sshSigner('ana');
    scenario.repository.write({ 'flagkeel.yaml': STAGING_CONFIG, 'flags/pay.yaml': flag(10) });
  });

  function commit(files: Readonly<Record<string, string>>, signer: Signer | null): string {
    const repository = new TestRepository(scenario.repository.directory);
    repository.write(files);
    repository.git('add', '--all');
    const how = signer === null ? ['--no-gpg-sign'] : ['-S'];
    const message = ['--quiet', '--allow-empty', '-m', 'Change pay'];
    repository.git(...(signer?.signing ?? []), 'commit', ...how, ...message);
    return repository.git('rev-parse', 'HEAD');
  }

  const allowing = ({ file }: Signer): Record<string, string> => ({
    FLAGKEEL_API_KEY: scenario.service.key,
    FLAGKEEL_ALLOWED_SIGNERS: file,
  });

  const reconcile = async (env: Record<string, string>, ...args: string[]) =>
    scenario.runWith({ env }, 'reconcile', ...args);

  const percent = async (): Promise<number> => live.share('pay', 'staging');
  const isKilled = async (): Promise<boolean> => (await live.definition('pay', 'staging')).killed;

  it('are applied where an allowed signer signed the newest, and no other, kills included', async () => {
    commit({}, ana);
    expect(await reconcile(allowing(ana))).toMatchObject({ code: 0 });

    const unsigned = commit({ 'flags/pay.yaml': flag(90), 'kills/staging.yaml': KILL }, null);
    const { code, stderr } = await reconcile(allowing(ana));
    const kills = await reconcile(allowing(ana), '--kills');
    expect([code, kills.code]).toEqual([4, 4]);
    expect(stderr).toContain(unsigned.slice(0, 8));
    expect(stderr).toContain('Forge committed');
    expect(stderr).toContain('git commit --allow-empty -S');
    expect([await percent(), await isKilled()]).toEqual([10, false]);

    const planned = await reconcile(allowing(ana), '--dry-run');
    expect(planned).toMatchObject({ code: 0 });
    expect(planned.stderr).toContain('no allowed signer signed it');
    const byHand = ['kill', 'pay', '--environment', 'staging', '--reason', 'INC-2'];
    expect(await scenario.runWith({ env: allowing(ana) }, ...byHand)).toMatchObject({ code: 0 });
    expect(await isKilled()).toBe(true);

    // Who signs a commit vouches for those below it.
    commit({}, ana);
    expect(await reconcile(allowing(ana))).toMatchObject({ code: 0 });
    expect(await percent()).toBe(90);
  });

  it('are not applied by what a commit or the checkout says of who may sign', async () => {
    const eve = sshSigner('eve');
    commit({}, eve);
    const other = await reconcile(allowing(ana), '--format', 'json');
    expect(other.code).toBe(4);
    expect(JSON.parse(other.stdout)).toMatchObject({ error: { code: 'UNSIGNED' } });
    expect(other.stderr).toContain('No principal matched');

    const judge = join(makeDirectory(), 'judge');
    writeFileSync(judge, '#!/bin/sh\necho \'Good "git" signature for ana with ED25519 key x\'\n');
    chmodSync(judge, 0o755);
    const repository = new TestRepository(scenario.repository.directory);
    repository.git('config', 'gpg.ssh.allowedSignersFile', eve.file);
    repository.git('config', 'gpg.ssh.program', judge);
    expect(await reconcile(allowing(ana))).toMatchObject({ code: 4 });

    const inside = { ...ana, file: join(scenario.repository.directory, 'signers') };
    copyFileSync(ana.file, inside.file);
    const { code, stderr } = await reconcile(allowing(inside));
    expect(code).toBe(64);
    expect(stderr).toContain('lies in the checkout');
  });

  it('are taken by the keys of gpg that the operator names, as a forge signs with', async () => {
    const [forge, other] = [gpgSigner('forge'), gpgSigner('other')];
    const env = { ...allowing(ana), FLAGKEEL_SIGNER_KEYRING: forge.file };

    commit({}, other);
    expect(await reconcile(env)).toMatchObject({ code: 4 });
    commit({}, forge);
    expect(await reconcile(env)).toMatchObject({ code: 0 });
  });

  describe('of a daemon', () => {
    const watch = (...more: string[]): Watching =>
      scenario.watch(['--interval', '1s', '--listen', '127.0.0.1:0', ...more], allowing(ana));

    async function statusOf(daemon: Watching) {
      const { url: address } = await daemon.line(({ msg }) => msg === 'watching');
      const url = String(address);
      return {
        status: (await (await fetch(`${url}/status`)).json()) as Record<string, unknown>,
        page: await (await fetch(`${url}/`)).text(),
        metrics: await (await fetch(`${url}/metrics`)).text(),
      };
    }

    it('goes on with the last signed commit, its kills included, and says so', async () => {
      commit({}, ana);
      const signed = commit({ 'kills/staging.yaml': KILL }, ana);
      const unsigned = commit(
        { 'flags/pay.yaml': flag(90), 'kills/staging.yaml': 'kills: {}\n' },
        null,
      );
      const receiver = await startScripted(() => ({ status: 200 }));
      onTestFinished(async () => receiver.close());
      const daemon = watch('--notify', receiver.url);
      await daemon.ran(signed, 'applied');
      const warning = await daemon.line(({ msg }) => msg.startsWith('no allowed signer'));
      const { status, page, metrics } = await statusOf(daemon);

      expect(await isKilled()).toBe(true);
      expect(await percent()).toBe(10);
      expect(warning).toMatchObject({ revision: unsigned, committer: 'Forge' });
      expect(status).toMatchObject({
        verdict: { level: 'attention' },
        sources: [{ seen: { commit: signed }, unsigned: { commit: unsigned, committer: 'Forge' } }],
      });
      expect(page).toContain('no allowed signer signed');
      expect(metrics).toMatch(/^flagkeel_unsigned\{.*\} 1$/m);
      await vi.waitFor(() => {
        const sent = receiver.seen.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
        const summary = expect.stringContaining(
          `${unsigned.slice(0, 7)} is not signed: it is not applied. Forge committed it`,
        ) as string;
        expect(sent.filter(({ event }) => event === 'unsigned')).toMatchObject([{ summary }]);
      });

      const vouched = commit({}, ana);
      await daemon.ran(vouched, 'applied');
      expect(await percent()).toBe(90);
      expect((await statusOf(daemon)).metrics).toMatch(/^flagkeel_unsigned\{.*\} 0$/m);
    });

    it('refuses to run where no commit is signed', async () => {
      const unsigned = commit({}, null);
      const run = await watch().ran(unsigned, 'refused');

      expect(run.summary).toContain('no allowed signer signed it');
      const { status } = await live.call('GET', live.at('pay', 'staging'));
      expect(status).toBe(404);
    });
  });
});
