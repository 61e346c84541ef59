import { beforeEach, describe, expect, it } from 'vitest';
import type { PlanDocument } from '../../src/report/json/plan.js';
import type { CliOptions, CliResult } from '../support/cli.js';
import { useScenario } from '../support/scenario.js';
import { PROTECTED_CONFIG } from '../support/spec-texts.js';

const CONFIG = `${PROTECTED_CONFIG}defaults: { trafficType: user }
`;

function yaml(environment: string, keys: object): string {
  return JSON.stringify({ identities: { environment, keys } });
}

function csv(count: number, plan = 'pro'): string {
  const rows = Array.from({ length: count }, (_, index) => `user-${index},${plan}\n`);
  return `key,plan\n${rows.join('')}`;
}

/** What one request of the service takes. */
const BATCH = 10_000;

describe('identities', () => {
  const scenario = useScenario();

  beforeEach(() => {
    scenario.repository.write({ 'flagkeel.yaml': CONFIG });
  });

  const run = async (args: readonly string[], options: CliOptions = {}): Promise<CliResult> =>
    scenario.runWith(options, ...args);

  async function json(...args: readonly string[]): ReturnType<typeof scenario.dryRun> {
    const { stdout, code } = await run(['reconcile', '--format', 'json', ...args]);
    return { ...(JSON.parse(stdout) as PlanDocument), code };
  }

  /** Writes that were answered; there are no others than of identities. */
  function posts(): number {
    const wrote = scenario.service.requests.filter(({ method }) => method !== 'GET');
    expect(wrote.every(({ path }) => path.endsWith('/identities'))).toBe(true);
    return wrote.filter(({ status }) => status === 200).length;
  }

  it('are written in batches, with the words of their commits, and then never again', async () => {
    scenario.commit({ 'identities/user.production.csv': csv(BATCH + 1) }, 'Tell who pays');

    const applied = await json();

    expect(applied).toMatchObject({ code: 0, converged: true, summary: { requests: 2 } });
    expect(posts()).toBe(2);
    expect(scenario.service.requests.filter(({ method }) => method === 'GET').length).toBeLessThan(
      20,
    );
    expect(scenario.service.requests.find(({ method }) => method === 'POST')?.query['title']).toBe(
      'Tell who pays',
    );
    const again = await run(['reconcile', '--dry-run', '--detailed-exitcode']);
    expect(again).toMatchObject({ code: 0 });
    expect(again.stdout).toContain('In sync: 1 object equal');

    const moved = csv(BATCH + 1).replace('7,pro', '7,team');
    scenario.commit({ 'identities/user.production.csv': moved }, 'Move one to the team plan');
    const second = await json();
    expect(second).toMatchObject({ code: 0, converged: true, summary: { requests: 1 } });
    expect(second.changes.map(({ id, title, keys }) => [id, title, keys?.changed])).toEqual([
      ['identities/user@production', 'Move one to the team plan', 1],
    ]);
    expect(posts()).toBe(3);
  }, 240_000);

  it('that are refused fail by themselves, and by the next run are all that is left', async () => {
    const keys = { ana: { plan: 'pro' }, bob: { 'no name': 'x' }, cy: {} };
    scenario.commit({ 'identities/staging.yaml': yaml('staging', keys) }, 'Add three');

    const applied = await json();

    expect(applied).toMatchObject({ code: 5, converged: false });
    expect(applied.changes[0]).toMatchObject({
      outcome: 'failed',
      error: { code: 'IDENTITIES_REFUSED', refused: [{ status: 400, count: 1 }] },
    });
    expect((await json('--dry-run')).changes[0]?.keys).toMatchObject({ added: 1, changed: 0 });

    const named = yaml('staging', { ...keys, bob: { name: 'x' } });
    scenario.commit({ 'identities/staging.yaml': named }, 'Name the attribute as it wants it');
    const mended = await json();
    expect(mended).toMatchObject({ code: 0, converged: true });
    expect(mended.changes[0]?.comment).toContain('Name the attribute');
    expect(await run(['reconcile', '--dry-run', '--detailed-exitcode'])).toMatchObject({
      code: 0,
    });
  });

  it('stand in what a run remembers, by number unless their keys are asked for', async () => {
    const head = scenario.commit({ 'identities/user.staging.csv': csv(3) }, 'Add three');
    expect(await run(['reconcile', '--only', 'identities/user'])).toMatchObject({ code: 0 });

    const list = await run(['state', 'list']);
    const show = await run(['state', 'show', 'identities/user']);
    const keys = await run(['state', 'show', 'identities/user', '--show-keys']);

    expect(list.stdout).toBe(`identities/user@staging  ${head.slice(0, 8)}\n`);
    expect(show.stdout).toContain('"count": 3');
    expect(show.stdout).not.toContain('user-1');
    expect(keys.stdout).toContain('"user-1"');
  });
});
