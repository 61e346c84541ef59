import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { INPUTS, toInvocation, withoutSecrets } from '../../../action/src/inputs.js';
import { BUNDLE, bundleAction } from '../../../scripts/bundle-action.js';
import { start } from '../../support/cli.js';
import { PROJECT, projectText } from '../docs/page.js';

interface Action {
  readonly inputs: Readonly<Record<string, object>>;
  readonly runs: { readonly using: string; readonly main: string };
}

describe('action.yml', () => {
  const action = parse(projectText('action.yml')) as Action;

  it('declares the inputs that are read', () => {
    expect(Object.keys(action.inputs)).toEqual([...INPUTS]);
  });

  it('runs the bundle, which needs nothing beside it', () => {
    expect(action.runs.using).toBe('node24');
    expect(join(PROJECT, action.runs.main)).toBe(BUNDLE);
    const imported = [...readFileSync(BUNDLE, 'utf8').matchAll(/ from "([^"]+)"/g)];
    expect(imported.filter(([, name]) => !name?.startsWith('node:'))).toEqual([]);
  });

  it('has a bundle of its sources as they are (npm run bundle)', async () => {
    expect(existsSync(BUNDLE)).toBe(true);
    expect(readFileSync(BUNDLE, 'utf8')).toBe(await bundleAction());
  });

  it('is told of with every input', () => {
    const page = projectText('docs/review.md');
    expect(INPUTS.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('inputs of the action', () => {
  it('become words of which none can turn into another', () => {
    const { args } = toInvocation({
      INPUT_COMMAND: 'reconcile',
      INPUT_DIRECTORY: '--force',
      INPUT_SINCE: '--prune',
      'INPUT_PLAN-HASH': 'a b; c',
      INPUT_EXTRA: '\n --environment=staging \r\n\n--dry-run\n',
    });

    expect(args).toEqual([
      ...['reconcile', '--since=--prune', '--plan-hash=a b; c'],
      ...['--environment=staging', '--dry-run', '--', '--force'],
    ]);
  });

  it('give a review of the workspace where nothing is said, without empty keys', () => {
    const { args, environment } = toInvocation({ PATH: '/bin', INPUT_KEY: '', INPUT_URL: '' });

    expect(args).toEqual(['review', '--', '.']);
    expect(environment).toEqual({ PATH: '/bin' });
  });

  it('keep secrets out of the words, the token of the forge for what tells a forge, and none of git where one is given', () => {
    const secrets = { INPUT_KEY: 'made-up-key', 'INPUT_FORGE-TOKEN': 'made-up-token' };
    const review = toInvocation({ ...secrets, FLAGKEEL_API_KEY: 'older' });

    expect(review.args.join(' ')).not.toContain('made-up');
    expect(review.environment).toEqual({
      FLAGKEEL_API_KEY: 'made-up-key',
      FLAGKEEL_FORGE_TOKEN: 'made-up-token',
      FLAGKEEL_GIT_TOKEN: 'made-up-token',
    });
    const apply = toInvocation({ ...secrets, INPUT_COMMAND: 'reconcile' });
    expect(apply.environment).toEqual(toInvocation(secrets).environment);
    const own = { FLAGKEEL_GIT_TOKEN_FILE: '/run/token' };
    const { environment } = toInvocation({ ...secrets, ...own, INPUT_COMMAND: 'drift' });
    expect(environment).toEqual({ FLAGKEEL_API_KEY: 'made-up-key', ...own });
  });

  it('refuse a command that is none of the three', () => {
    expect(() => toInvocation({ INPUT_COMMAND: 'kill' })).toThrow(
      expect.objectContaining({ code: 'USAGE' }),
    );
  });

  it('show no secret to the installation', () => {
    const environment = { INPUT_KEY: 'a', FLAGKEEL_API_KEY: 'b', GITHUB_TOKEN: 'c', PATH: '/bin' };

    expect(withoutSecrets(environment)).toEqual({ PATH: '/bin' });
  });
});

it('an action that cannot write its outputs ends with the exit code of the run, and says so', async () => {
  const env = { INPUT_COMMAND: 'kill', GITHUB_OUTPUT: join(PROJECT, 'package.json/output') };

  const run = await start([process.execPath, BUNDLE], '', { env }).ended;

  expect(run).toMatchObject({ code: 64, stdout: '' });
  expect(run.stderr.split('\n')).toEqual([
    'cannot run "kill": there is no such command here (review, reconcile, drift)',
    expect.stringContaining('warning: cannot write the output exit-code: ENOTDIR'),
    '',
  ]);
});
