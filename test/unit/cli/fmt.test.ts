import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigRepository } from '../../support/config-repository.js';
import { STAGING_CONFIG } from '../../support/spec-texts.js';
import { cliRun } from '../../support/terminal.js';

const LOOSE = `flag: pay
trafficType: user
treatments: { on: "", off: "" } # two
defaultTreatment: off
environments: { staging: { defaultRule: on } }
`;
const TIGHT = LOOSE.replaceAll(/\b(on|off)\b/g, '"$1"');

function world(): ConfigRepository {
  const repository = new ConfigRepository();
  repository.write({ 'flagkeel.yaml': STAGING_CONFIG, 'flags/pay.yaml': LOOSE });
  return repository;
}

const read = (repository: ConfigRepository): string =>
  readFileSync(join(repository.directory, 'flags/pay.yaml'), 'utf8');

describe('fmt', () => {
  it('names the files that it changed, and changes nothing the second time', async () => {
    using repository = world();

    const first = await cliRun(['fmt', repository.directory]);
    const text = read(repository);
    const second = await cliRun(['fmt', repository.directory]);

    expect(first).toEqual({ exitCode: 0, stdout: 'flags/pay.yaml\n', stderr: '' });
    expect(text).toBe(TIGHT);
    expect(second).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  it('writes nothing with --check, and exits with 2 where something would change', async () => {
    using repository = world();

    const loose = await cliRun(['fmt', '--check', repository.directory]);
    const untouched = read(repository);
    repository.write({ 'flags/pay.yaml': TIGHT });
    const tight = await cliRun(['fmt', '--check', repository.directory]);

    expect(loose).toEqual({ exitCode: 2, stdout: 'flags/pay.yaml\n', stderr: '' });
    expect(untouched).toBe(LOOSE);
    expect(tight).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  it('leaves a file alone that is wrong, says why, and formats the others', async () => {
    using repository = world();
    repository.write({ 'flags/cart.yaml': 'flag: cart\nowner: on\n' });

    const run = await cliRun(['fmt', repository.directory]);

    expect(run.exitCode).toBe(3);
    expect(run.stdout).toBe('flags/pay.yaml\n');
    expect(run.stderr).toContain('flags/cart.yaml:1:1: error[missing-field]');
    expect(readFileSync(join(repository.directory, 'flags/cart.yaml'), 'utf8')).toContain(
      'owner: on',
    );
  });

  it('has nothing to do in the example', async () => {
    expect(await cliRun(['fmt', '--check', 'specs-example'])).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
  });
});
