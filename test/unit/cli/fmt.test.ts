import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigRepository } from '../../support/git.js';
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

const read = (repository: ConfigRepository, path = 'flags/pay.yaml'): string =>
  readFileSync(join(repository.directory, path), 'utf8');

describe('fmt', () => {
  it('names the files that it changes, nothing the second time, and with --check writes none', async () => {
    using repository = world();

    const check = await cliRun(['fmt', '--check', repository.directory]);
    const untouched = read(repository);
    const first = await cliRun(['fmt', repository.directory]);
    const text = read(repository);
    const second = await cliRun(['fmt', repository.directory]);
    const tight = await cliRun(['fmt', '--check', repository.directory]);

    expect(check).toEqual({ exitCode: 2, stdout: 'flags/pay.yaml\n', stderr: '' });
    expect(untouched).toBe(LOOSE);
    expect(first).toEqual({ exitCode: 0, stdout: 'flags/pay.yaml\n', stderr: '' });
    expect(text).toBe(TIGHT);
    for (const each of [second, tight]) {
      expect(each).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    }
  });

  it('leaves a file alone that is wrong, says why, and formats the others', async () => {
    using repository = world();
    repository.write({ 'flags/cart.yaml': 'flag: cart\nowner: on\n' });

    const run = await cliRun(['fmt', repository.directory]);

    expect(run.exitCode).toBe(3);
    expect(run.stdout).toBe('flags/pay.yaml\n');
    expect(run.stderr).toContain('flags/cart.yaml:1:1: error[missing-field]');
    expect(read(repository, 'flags/cart.yaml')).toContain('owner: on');
  });
});

describe('the owners of flags in CODEOWNERS', () => {
  const owned = (owner: string): string => `${TIGHT}owner: "${owner}"\n`;
  const block = (...lines: string[]): string =>
    [
      '# flagkeel: the owners of flags, kept by `flagkeel fmt`',
      ...lines,
      '# flagkeel: end',
      '',
    ].join('\n');
  const around = (text: string): string => `/kills/ @acme/on-call\n\n${text}\n* @acme/all\n`;

  it('follow the specs, with lines by hand around them, and are held by --check', async () => {
    using repository = world();
    repository.write({
      'shop/flagkeel.yaml': STAGING_CONFIG,
      'shop/flags/check out/pay.yaml': owned('@acme/pay'),
      'shop/flags/pay@staging.yaml': 'flag: pay\nenvironment: staging\ndefaultRule: "on"\n',
      'shop/flags/cart.yaml': owned('carts@acme.example').replace('flag: pay', 'flag: cart'),
      'shop/flags/old.yaml': owned('team-old').replace('flag: pay', 'flag: old'),
      '.github/CODEOWNERS': around(block('/gone.yaml @acme/gone')),
    });
    const shop = join(repository.directory, 'shop');
    await cliRun(['fmt', shop]);
    const fresh = read(repository, '.github/CODEOWNERS');
    const held = await cliRun(['fmt', '--check', shop]);
    repository.write({
      'shop/flags/cart.yaml': owned('@acme/cart').replace('flag: pay', 'flag: cart'),
    });
    const moved = await cliRun(['fmt', '--check', shop]);

    expect(fresh).toBe(
      around(
        block(
          '/shop/flags/cart.yaml carts@acme.example',
          String.raw`/shop/flags/check\ out/pay.yaml @acme/pay`,
          '/shop/flags/pay@staging.yaml @acme/pay',
        ),
      ),
    );
    expect(held).toMatchObject({ exitCode: 0, stdout: '' });
    expect(moved).toMatchObject({ exitCode: 2, stdout: '.github/CODEOWNERS\n' });
    expect(read(repository, '.github/CODEOWNERS')).toBe(fresh);
  });

  it('leave a file without the block alone, and come with init', async () => {
    using repository = world();
    repository.write({ CODEOWNERS: '* @acme/all\n', 'flags/pay.yaml': owned('@acme/pay') });
    await cliRun(['fmt', repository.directory]);
    const untouched = read(repository, 'CODEOWNERS');
    await cliRun(['init', join(repository.directory, 'new')]);

    expect(untouched).toBe('* @acme/all\n');
    expect(read(repository, 'new/CODEOWNERS')).toContain(block());
  });
});
