import { describe, expect, it } from 'vitest';
import { STAGING_CONFIG } from '../../support/spec-texts.js';
import { cliRun, useCommands } from '../../support/terminal.js';

const LOOSE = `flag: pay
trafficType: user
treatments: { on: "", off: "" } # two
defaultTreatment: off
environments: { staging: { defaultRule: on } }
`;
const TIGHT = LOOSE.replaceAll(/\b(on|off)\b/g, '"$1"');

const { run, write, at, text } = useCommands({
  'flagkeel.yaml': STAGING_CONFIG,
  'flags/pay.yaml': LOOSE,
});

describe('fmt', () => {
  it('names the files that it changes, nothing the second time, and with --check writes none', async () => {
    const named = { stdout: 'flags/pay.yaml\n', stderr: '' };
    const nothing = { exitCode: 0, stdout: '', stderr: '' };

    expect(await run('fmt', '--check')).toEqual({ exitCode: 2, ...named });
    expect(text('flags/pay.yaml')).toBe(LOOSE);
    expect(await run('fmt')).toEqual({ exitCode: 0, ...named });
    expect(text('flags/pay.yaml')).toBe(TIGHT);
    expect([await run('fmt'), await run('fmt', '--check')]).toEqual([nothing, nothing]);
  });

  it('keeps the byte order mark of a file, as it keeps its line ends', async () => {
    write({ 'flags/pay.yaml': `\uFEFF${LOOSE}`.replaceAll('\n', '\r\n') });

    await run('fmt');

    expect(text('flags/pay.yaml')).toBe(`\uFEFF${TIGHT}`.replaceAll('\n', '\r\n'));
  });

  it('leaves a file alone that is wrong, says why, and formats the others', async () => {
    write({ 'flags/cart.yaml': 'flag: cart\nowner: on\n' });

    const done = await run('fmt');

    expect(done).toMatchObject({ exitCode: 3, stdout: 'flags/pay.yaml\n' });
    expect(done.stderr).toContain('flags/cart.yaml:1:1: error[missing-field]');
    expect(text('flags/cart.yaml')).toContain('owner: on');
  });
});

describe('the owners of flags in CODEOWNERS', () => {
  const owned = (owner: string, name = 'pay'): string =>
    `${TIGHT}owner: "${owner}"\n`.replace('flag: pay', `flag: ${name}`);
  const block = (lines = ''): string =>
    `# flagkeel: the owners of flags, kept by \`flagkeel fmt\`\n${lines}# flagkeel: end\n`;
  const around = (lines: string): string =>
    `/kills/ @acme/on-call\n\n${block(lines)}\n* @acme/all\n`;

  it('follow the specs, with lines by hand around them, and are held by --check', async () => {
    write({
      'shop/flagkeel.yaml': STAGING_CONFIG,
      'shop/flags/check out/pay.yaml': owned('@acme/pay'),
      'shop/flags/pay@staging.yaml': 'flag: pay\nenvironment: staging\ndefaultRule: "on"\n',
      'shop/flags/cart.yaml': owned('carts@acme.example', 'cart'),
      'shop/flags/old.yaml': owned('team-old', 'old'),
      '.github/CODEOWNERS': around('/gone.yaml @acme/gone\n'),
    });
    const fresh = around(`/shop/flags/cart.yaml carts@acme.example
/shop/flags/check\\ out/pay.yaml @acme/pay
/shop/flags/pay@staging.yaml @acme/pay
`);

    await cliRun(['fmt', at('shop')]);
    expect(text('.github/CODEOWNERS')).toBe(fresh);
    const check = ['fmt', '--check', at('shop')];
    expect(await cliRun(check)).toMatchObject({ exitCode: 0, stdout: '' });
    write({ 'shop/flags/cart.yaml': owned('@acme/cart', 'cart') });
    const moved = await cliRun(check);

    expect(moved).toMatchObject({ exitCode: 2, stdout: '.github/CODEOWNERS\n' });
    expect(text('.github/CODEOWNERS')).toBe(fresh);
  });

  it('leave a file without the block alone, and come with init', async () => {
    write({ CODEOWNERS: '* @acme/all\n', 'flags/pay.yaml': owned('@acme/pay') });
    await run('fmt');
    await cliRun(['init', at('new')]);

    expect(text('CODEOWNERS')).toBe('* @acme/all\n');
    expect(text('new/CODEOWNERS')).toContain(block());
  });
});
