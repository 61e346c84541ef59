import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeRepository } from '../../support/git.js';
import { cliRun } from '../../support/terminal.js';

const CONFIG = 'workspace: Default\nenvironments: { dev: {} }\ndefaults: { trafficType: user }\n';

function flag(name: string, more = ''): string {
  return `flag: ${name}\ntreatments: { "on": "", "off": "" }\ndefaultTreatment: "off"\n${more}environments: { dev: { defaultRule: "on" } }\n`;
}

/** As many as are worth to be remembered; lint has something to say of one. */
function filesWith(files: Readonly<Record<string, string>> = {}): Record<string, string> {
  const names = Array.from({ length: 300 }, (_, at) => `f${at}`);
  return {
    'flagkeel.yaml': CONFIG,
    ...Object.fromEntries(names.map((name) => [`flags/${name}.yaml`, flag(name)])),
    'flags/f1.yaml': flag('f1').replace(
      'defaultRule: "on"',
      'rules: [{ if: { attribute: a, in: [x] }, serve: "on" }], defaultRule: "on"',
    ),
    ...files,
  };
}

function repositoryOf(files: Readonly<Record<string, string>>) {
  const repository = makeRepository();
  repository.commit('Add flags', files);
  const kept = join(repository.directory, '.git', 'flagkeel');
  const run = async (...more: string[]) => cliRun(['validate', repository.directory, ...more]);
  return { repository, directory: repository.directory, kept, run };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('validate of files that were checked before', () => {
  it('says the same in every format, and parses nothing', async () => {
    const { directory, kept, run } = repositoryOf(filesWith());
    const formats = ['text', 'json', 'sarif'];
    const first: unknown[] = [];
    for (const format of formats) {
      rmSync(kept, { recursive: true, force: true });
      first.push(await run('--format', format));
    }
    rmSync(join(kept, 'parsed'), { recursive: true });

    const again: unknown[] = [];
    for (const format of formats) again.push(await run('--format', format));

    expect(again).toEqual(first);
    expect(first[0]).toMatchObject({ exitCode: 0 });
    expect((first[0] as { stdout: string }).stdout).toContain('warning[rule-like-default]');
    expect(existsSync(join(kept, 'parsed'))).toBe(false);
    const named = await cliRun(['validate', join(directory, 'flags', 'f2.yaml')]);
    expect(named).toMatchObject({
      exitCode: 0,
      stdout: expect.not.stringContaining('f1') as string,
    });
  });

  it('looks at them again where one of them, or what lies beside them, is another', async () => {
    const { directory, repository, run } = repositoryOf(filesWith());
    const right = await run();
    repository.write({ 'flags/f2.yaml': flag('f2', 'nonsense: 1\n') });
    expect(await run()).toMatchObject({ exitCode: 3 });
    repository.commit('Break a flag', { 'flags/f2.yaml': flag('f2', 'nonsense: 1\n') });
    expect(await run()).toMatchObject({ exitCode: 3 });
    repository.commit('Mend it', { 'flags/f2.yaml': flag('f2') });
    expect(await run()).toEqual(right);

    mkdirSync(join(directory, 'flag'));
    writeFileSync(join(directory, 'flag', 'astray.yaml'), flag('astray'));
    expect((await run()).stdout).toContain('flag/astray.yaml');
  });

  it('looks at them again on another day', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-02T12:00:00Z') });
    const { run } = repositoryOf(
      filesWith({ 'flags/f3.yaml': flag('f3', 'expires: 2026-01-02\n') }),
    );
    const before = await run();
    vi.setSystemTime(new Date('2026-01-03T12:00:00Z'));

    const after = await run();

    expect(before.stdout).not.toContain('flags/f3.yaml');
    expect(after.stdout).toContain('flags/f3.yaml');
  });

  it('looks at them again where what was kept is not as it was written', async () => {
    const { kept, run } = repositoryOf(filesWith());
    const first = await run();
    const folder = join(kept, 'checked');
    const [name = ''] = readdirSync(folder);
    const text = readFileSync(join(folder, name), 'utf8');
    for (const changed of [text.replace('"flags":300', '"flags":301'), '', '{}', text.slice(1)]) {
      expect(changed).not.toBe(text);
      writeFileSync(join(folder, name), changed);
      expect(await run()).toEqual(first);
      expect(readFileSync(join(folder, name), 'utf8')).toBe(text);
    }
  });

  it('keeps nothing where lint asks for history, and of few files', async () => {
    const asking = repositoryOf(
      filesWith({ 'flagkeel.yaml': `${CONFIG}lint: { reserveNames: true }\n` }),
    );
    await asking.run();
    expect(readdirSync(asking.kept)).toEqual(['parsed']);

    const few = repositoryOf({ 'flagkeel.yaml': CONFIG, 'flags/a.yaml': flag('a') });
    await few.run();
    expect(readdirSync(few.kept)).toEqual(['parsed']);
  });
});
