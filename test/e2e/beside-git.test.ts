import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { useScenario } from '../support/scenario.js';
import { flagText } from '../support/spec-texts.js';

const CONFIG = 'workspace: Default\nenvironments:\n  production: { protected: true }\n';

/** What git itself has in its directory, and the lock of a run. */
const KNOWN =
  /^(?:HEAD|ORIG_HEAD|COMMIT_EDITMSG|branches|config|description|hooks|index|info|logs|objects|packed-refs|refs|flagkeel-[\w.]+\.lock)$/;

describe("what lies beside git's own files", () => {
  const scenario = useScenario();

  function gitDir(): string {
    return join(scenario.repository.directory, '.git');
  }

  async function start(): Promise<void> {
    const alpha = flagText('alpha', 10, { production: '' });
    scenario.commit({ 'flagkeel.yaml': CONFIG, 'flags/alpha.yaml': alpha }, 'Add alpha');
    expect(await scenario.reconcile()).toMatchObject({ code: 0 });
  }

  /** Has every file of ours say 99 where it says 10, with a hash over it that fits. */
  function plant(): void {
    const folder = join(gitDir(), 'flagkeel', 'parsed');
    const files = existsSync(folder) ? readdirSync(folder) : [];
    for (const file of files.map((name) => join(folder, name))) {
      const bytes = readFileSync(file);
      const body = bytes.subarray(0, -32).toString('latin1').replaceAll('"on":10', '"on":99');
      const changed = Buffer.from(body, 'latin1');
      const seal = createHash('sha256').update(changed).digest();
      writeFileSync(file, Buffer.concat([changed, seal]));
    }
  }

  it('a planted cache file changes no plan', async () => {
    await start();
    plant();

    const run = await scenario.reconcile('--dry-run', '--detailed-exitcode');

    expect(run, run.stdout).toMatchObject({ code: 0 });
    expect(readdirSync(gitDir()).filter((name) => !KNOWN.test(name))).toEqual([]);
  });

  it('a link in .git deletes nothing elsewhere', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'flagkeel-e2e-'));
    onTestFinished(() => {
      rmSync(elsewhere, { recursive: true });
    });
    for (let at = 0; at < 30; at += 1) {
      const file = join(elsewhere, `file-${String(at)}`);
      writeFileSync(file, 'mine');
      utimesSync(file, at, at);
    }
    mkdirSync(join(elsewhere, 'empty'));
    const alpha = flagText('alpha', 10, { production: '' });
    scenario.commit({ 'flagkeel.yaml': CONFIG, 'flags/alpha.yaml': alpha }, 'Add alpha');
    mkdirSync(join(gitDir(), 'flagkeel'));
    for (const name of ['parsed', 'checked']) {
      symlinkSync(elsewhere, join(gitDir(), 'flagkeel', name));
    }

    expect(await scenario.reconcile()).toMatchObject({ code: 0 });
    expect(await scenario.run('plan')).toMatchObject({ code: 0 });

    expect(readdirSync(elsewhere)).toHaveLength(31);
    expect(statSync(join(elsewhere, 'file-0')).size).toBe(4);
  });
});
