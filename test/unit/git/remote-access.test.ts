import { describe, expect, it } from 'vitest';
import { remoteAccess } from '../../../src/git/remote-access.js';

describe('the way to a git server', () => {
  it('carries the token of the moment in a header for that server alone, and follows no redirect', () => {
    let token = 'one';
    const access = remoteAccess({
      url: 'https://git.example.com/shop/flags.git',
      token: () => token,
    });
    const header = 'http.https://git.example.com/.extraHeader';
    const basic = (secret: string): string =>
      `Authorization: Basic ${Buffer.from(`x-access-token:${secret}`).toString('base64')}`;

    expect(access.settings()).toMatchObject({
      [header]: basic('one'),
      'http.followRedirects': 'false',
    });
    token = 'two';
    expect(access.settings()[header]).toBe(basic('two'));
    expect(access.url).not.toContain('one');
  });

  it('sends no header over ssh, and no ssh command over https', () => {
    const options = { token: () => 'secret', sshKeyFile: '/keys/id' };
    const ssh = remoteAccess({ url: 'git@git.example.com:shop/flags.git', ...options });
    const https = remoteAccess({ url: 'https://git.example.com/a.git', ...options });

    expect(JSON.stringify(ssh.settings())).not.toContain('Authorization');
    expect(https.variables()).not.toHaveProperty('GIT_SSH_COMMAND');
  });

  it('accepts only the keys of servers that the file names, whatever the paths hold', () => {
    const access = remoteAccess({
      url: 'ssh://git@git.example.com/shop/flags.git',
      sshKeyFile: "/keys/ana's key; id",
      knownHostsFile: '/keys/known hosts',
    });

    const command = access.variables()['GIT_SSH_COMMAND'];
    expect(command).toContain(`-i '/keys/ana'\\''s key; id'`);
    expect(command).toContain(`'UserKnownHostsFile="/keys/known hosts"'`);
    expect(command).toContain('StrictHostKeyChecking=yes');
  });

  it.each([
    'https://ana:secret@git.example.com/a.git',
    'https://secret@git.example.com/a.git',
    'ssh://ana:secret@git.example.com/a.git',
    'http://git.example.com/a.git',
    'git://git.example.com/a.git',
    'ext::sh -c secret',
    '-u secret',
    '',
  ])('refuses %j, and repeats none of it', (url) => {
    const refused = (): unknown => remoteAccess({ url });
    expect(refused).toThrow(expect.objectContaining({ code: 'USAGE' }) as Error);
    expect(refused).not.toThrow(/secret/);
  });

  it('speaks http on loopback, and there alone', () => {
    const access = remoteAccess({ url: 'http://127.0.0.1:8080/a.git' });
    expect(access.variables()['GIT_ALLOW_PROTOCOL']).toBe('http:https:ssh:file');
    const safe = remoteAccess({ url: 'https://git.example.com/a.git' });
    expect(safe.variables()['GIT_ALLOW_PROTOCOL']).toBe('https:ssh:file');
  });
});
