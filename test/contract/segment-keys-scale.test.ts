import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCatalog, type Catalog } from '../../src/admin-api/workspace.js';
import { AdminClient } from '../../src/admin-api/http/admin-client.js';
import { observe } from '../../src/admin-api/observe.js';
import { HttpAdminReader } from '../../src/admin-api/reader.js';
import { HttpAdminWriter } from '../../src/admin-api/writer.js';
import { applyPlan } from '../../src/apply/apply.js';
import type { ApplyContext } from '../../src/apply/executors.js';
import type { Plan } from '../../src/model/plan.js';
import type { State } from '../../src/model/state.js';
import { stateAfterVerify } from '../../src/plan/bases/next-state.js';
import { planChanges } from '../../src/plan/plan.js';
import { scopeOf } from '../../src/plan/scope.js';
import { aDesired, anEnvironment, aPolicy, desiredSegment, NO_STATE } from '../support/builders.js';
import { startTestService, type TestService } from '../support/service.js';

/** Large segments against the real service: requests are counted, because they are what a real one limits. */
describe('a segment of many keys', () => {
  let service: TestService;
  let client: AdminClient;
  let at: Catalog;
  let state: State;

  beforeEach(async () => {
    service = await startTestService();
    client = new AdminClient({ url: service.origin, key: () => service.key, version: '0' });
    at = await readCatalog(reader(), 'Default');
    state = NO_STATE;
  });

  afterEach(async () => {
    await client.close();
    await service.stop();
  });

  function reader(): HttpAdminReader {
    return new HttpAdminReader(client.reads());
  }

  /** One run over a segment with these keys in staging: plan, apply, look again, remember. */
  async function run(keys: readonly string[]): Promise<{ plan: Plan; lines: string[] }> {
    const staging = at.environments.find(({ name }) => name === 'staging');
    const policy = aPolicy({ environments: [anEnvironment('staging', { id: staging?.id ?? '' })] });
    const desired = aDesired({ segments: [desiredSegment('beta', { staging: keys })] });
    const look = async () => {
      const scope = scopeOf(desired, state, policy, {
        allEnvironments: ['staging'],
        counting: 'always',
        whole: true,
      });
      return { desired, state, policy, actual: await observe(reader(), at, scope) };
    };
    service.requests.length = 0;
    const input = await look();
    const plan = planChanges(input);
    const notes = new Map(plan.changes.map(({ id }) => [id, { title: 't', comment: 'c' }]));
    const context: ApplyContext = {
      reader: reader(),
      writer: new HttpAdminWriter(client, reader()),
      at,
      notes,
      killed: new Set(),
      now: Date.now,
      observedAtMs: Date.now(),
    };
    await applyPlan(plan, context, new AbortController().signal);
    const again = plan.changes.length === 0 ? input : await look();
    state = stateAfterVerify(again, new Set(planChanges(again).unchanged), 'a'.repeat(40));
    const lines = service.requests.map(
      ({ method, path }) => `${method} ${path.split('/').at(-1) ?? ''}`,
    );
    return { plan, lines };
  }

  const keysFrom = (from: number, to: number): string[] =>
    Array.from(
      { length: to - from },
      (_, index) => `user-${String(from + index).padStart(6, '0')}`,
    );

  it('is filled and changed in as few updates as the service allows, and then read by one page', async () => {
    await run(keysFrom(0, 12_000));

    const changed = await run(keysFrom(2_345, 24_345));
    const idle = await run(keysFrom(2_345, 24_345));

    const writes = changed.lines.filter((line) => !line.startsWith('GET'));
    expect(writes).toEqual(['PUT uploadKeys', 'PUT uploadKeys', 'PUT removeKeys']);
    const pages = Math.ceil(12_000 / 100) + Math.ceil(22_000 / 100);
    expect(changed.lines.filter((line) => line === 'GET keys').length).toBeLessThanOrEqual(
      pages + 4,
    );
    expect(idle.plan.changes).toEqual([]);
    expect(idle.lines.filter((line) => line === 'GET keys')).toHaveLength(1);
  });

  it('is listed again when its number moved on the service', async () => {
    await run(keysFrom(0, 250));
    const staging = at.environments.find(({ name }) => name === 'staging')?.id ?? '';
    await new HttpAdminWriter(client, reader()).uploadKeys(staging, 'beta', ['stranger'], {
      title: 't',
      comment: 'c',
    });

    const { plan } = await run(keysFrom(0, 250));

    expect(plan.changes).toMatchObject([
      { reason: 'drift', keys: { added: [], removed: ['stranger'] } },
    ]);
  });
});
