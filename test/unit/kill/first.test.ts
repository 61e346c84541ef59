import { beforeEach, describe, expect, it } from 'vitest';
import { KillSender, SentKills } from '../../../src/kill/first.js';
import type { Killing } from '../../../src/kill/send.js';
import type { KillResult } from '../../../src/model/outcome.js';
import { killOrders } from '../../../src/plan/kills/orders.js';
import { RunCache } from '../../../src/reconcile/context.js';
import { readSpecs } from '../../../src/specs/read-specs.js';
import { findWorkspace } from '../../../src/admin-api/workspace.js';
import { anActual, liveFlag } from '../../support/builders.js';
import { aChange, aField } from '../../support/plan-builder.js';
import {
  appliedWorld,
  flagSpec,
  killList,
  PIPELINE_CONFIG,
  type PipelineWorld,
  type RunSettings,
} from '../../support/pipeline-world.js';

const KILL_TWO = killList('{ pay: { reason: INC-1 double charges }, cart: { reason: INC-2 } }');
const KILL_THEIRS = killList('{ theirs: { reason: INC-3 } }');
const [PAY, CART] = ['flag/pay@production', 'flag/cart@production'];

let world: PipelineWorld;
let told: string[];

beforeEach(async () => {
  told = [];
  world = await appliedWorld({
    'flags/cart.yaml': flagSpec('cart'),
    'flags/pay.yaml': flagSpec('pay'),
  });
  world.repository.commit('Kill both', KILL_TWO);
  world.writes();
});

/** Sends the kills that the repository orders; told of each is what became of it. */
async function sent(settings: RunSettings = {}, { isOutdated = false, isDryRun = false } = {}) {
  const { context, openWriter } = await world.opened(settings);
  const onKill: Killing['onKill'] = (id, { status }) => told.push(`${id} ${status}`);
  const killing = isDryRun ? null : { openWriter, onKill, note: {} };
  const sender = new KillSender(
    {
      ...context,
      killsSentOf: async () => Promise.resolve(null),
      takenBack: async () => Promise.resolve(isOutdated ? 'all' : []),
      record: async () => Promise.resolve(),
    },
    killing,
  );
  const specs = await readSpecs(context.source.tree);
  if (!specs.ok) return sender.sendAmongInvalid(specs);
  const reader = await context.openReader(specs.desired);
  const workspace = await findWorkspace(reader, specs.desired.config.workspace);
  return sender.sendMissing(killOrders(specs.desired), { reader, workspace });
}

it('kills all at once, each with the words of the commit that ordered it', async () => {
  const { results } = await sent();
  expect(told.toSorted()).toEqual([`${CART} killed`, `${PAY} killed`]);
  expect(results.get(PAY)).toMatchObject({ note: { title: 'Kill both' } });
  expect(world.writes()).toHaveLength(2);
});

it('keeps to the filters of the operator', async () => {
  await sent({ only: ['flag/pay'] });
  expect(told).toEqual([`${PAY} killed`]);
  await sent({ environment: ['staging'] });
  expect(told).toEqual([`${PAY} killed`]);
});

it('sends nothing for a HEAD that is outdated, and nothing in a dry run', async () => {
  expect([...(await sent({}, { isOutdated: true })).results]).toEqual([]);
  expect([...(await sent({}, { isDryRun: true })).results]).toEqual([]);
  expect(told).toEqual([]);
  expect(world.writes()).toEqual([]);
});

it('sends the kill of a flag that it cannot see, and says by the answer that it is absent', async () => {
  world.repository.commit('Kill a stranger', KILL_THEIRS);
  await sent();
  expect(told).toEqual(['flag/theirs@production absent']);
  expect(world.writes().map(({ status }) => status)).toEqual([404]);
});

it('sends nothing to a flag that is shown to have no definition there', async () => {
  await world.live.ok('POST', `/splits/ws/${world.live.id}/trafficTypes/user`, { name: 'theirs' });
  world.repository.commit('Kill a stranger', KILL_THEIRS);
  world.writes();
  await sent();
  expect(told).toEqual(['flag/theirs@production absent']);
  expect(world.writes()).toEqual([]);
});

it('lets one kill fail without keeping the others from going out', async () => {
  world.service.failNext({ method: 'PATCH', path: /\/cart\// }, 404);
  const { results } = await sent();
  expect(told.toSorted()).toEqual([`${CART} failed`, `${PAY} killed`]);
  expect(results.get(CART)).toMatchObject({ status: 'failed' });
});

it('tells every kill of invalid specs as failed where there is no way to the service', async () => {
  world.repository.commit('Break it, and name no service that exists', {
    'flags/cart.yaml': 'flag: cart\nnonsense: 1\n',
    'flagkeel.yaml': PIPELINE_CONFIG.replace('Default', 'Nowhere'),
  });
  const { results } = await sent();
  expect(told.toSorted()).toEqual([`${CART} failed`, `${PAY} failed`]);
  expect([...results.values()].map((each) => each.status)).toEqual(['failed', 'failed']);
  expect(world.writes()).toEqual([]);
});

describe('a kill that a commit adds', () => {
  it('goes out in one request, before the service is asked for anything', async () => {
    world.service.requests.length = 0;

    await world.reconciled();

    expect(world.service.requests.slice(0, 2).map(({ method }) => method)).toEqual([
      'PATCH',
      'PATCH',
    ]);
    expect(world.service.requests.filter(({ method }) => method === 'PATCH')).toHaveLength(2);
  });

  it('is sent once by the runs of a process, also where none of them ends, and no state records it', async () => {
    const settings = { memory: new RunCache() };
    const unrecorded = () => ({ openRecords: async () => Promise.resolve(null) });
    for (const name of ['cart', 'pay', 'pay']) {
      world.service.failNext({ method: 'GET', path: /\/workspaces$/ }, 404);
      world.repository.commit(`Kill ${name} in staging`, {
        'kills/staging.yaml': `kills:\n  ${name}: { reason: INC-3 }\n`,
        'README.md': String(world.service.requests.length),
      });
      await expect(world.reconciled(settings, {}, unrecorded)).rejects.toThrow();
    }

    const places = world.writes().map(({ path }) => path.split('/')[7]);
    expect(places.toSorted()).toEqual(['cart', 'cart', 'pay', 'pay']);
  });

  it('is sent once where the service refuses it, and the refusal is told once', async () => {
    world.service.failNext({ method: 'PATCH', path: /\/pay\// }, 403);
    world.service.failNext({ method: 'PATCH', path: /\/pay\// }, 403);
    const onKill: Killing['onKill'] = (id, { status }) => told.push(`${id} ${status}`);
    await world.reconciled({}, { onKill });
    expect(told.toSorted()).toEqual([`${CART} killed`, `${PAY} failed`]);
  });

  it('is looked for by its id where the service does not find it by its name', async () => {
    world.service.failNext({ method: 'PATCH', path: /\/pay\// }, 404);

    await world.reconciled();

    const statuses = world
      .writes()
      .map(({ status, path }) => `${path.split('/')[7] ?? ''} ${String(status)}`);
    expect(statuses.toSorted()).toEqual(['cart 200', 'pay 200', 'pay 404']);
  });

  it('is looked for too where its flag is in no file of the specs', async () => {
    const { live, service } = world;
    await live.ok('POST', `/splits/ws/${live.id}/trafficTypes/user`, { name: 'theirs' });
    await live.ok('POST', `/splits/ws/${live.id}/theirs/environments/${live.production}`, {
      treatments: [{ name: 'on' }, { name: 'off' }],
      defaultTreatment: 'off',
      rules: [],
      defaultRule: [{ treatment: 'on', size: 100 }],
    });
    world.repository.commit('Kill a stranger', KILL_THEIRS);
    service.failNext({ method: 'PATCH', path: /\/theirs\// }, 404);

    const onKill: Killing['onKill'] = (id, { status }) => told.push(`${id} ${status}`);
    await world.reconciled({}, { onKill });

    expect(told).toContain('flag/theirs@production killed');
  });
});

const NOTE = { title: 'Kill pay', comment: 'INC-1' };
const KILLED: KillResult = { status: 'killed', note: NOTE };
const FAILED: KillResult = { status: 'failed', error: new Error('away') };

describe('the kills that were sent', () => {
  it('shows what it killed as it was before, and leaves what it did not kill as it is', () => {
    const actual = anActual({
      flags: [
        liveFlag('pay', { production: { killed: true }, staging: { killed: true } }),
        liveFlag('cart', { production: { killed: true } }),
      ],
    });
    const sent = new SentKills(
      new Map<string, KillResult>([
        [PAY, KILLED],
        [CART, FAILED],
      ]),
    );
    const { flags } = sent.undoneIn({ actual }).actual;
    const isKilled = (flag: string, environment: string): boolean | undefined =>
      flags.get(flag)?.definitions.get(environment)?.killed;
    expect(isKilled('pay', 'production')).toBe(false);
    expect(isKilled('pay', 'staging')).toBe(true);
    expect(isKilled('cart', 'production')).toBe(true);
    expect(actual.flags.get('pay')?.definitions.get('production')?.killed).toBe(true);
  });

  it('puts its note over that of a change that is the kill alone, and over no other', () => {
    const kill = aField('/killed', false, true);
    const more = [kill, aField('/trafficAllocation', 100, 50)];
    const sent = new SentKills(
      new Map<string, KillResult>([
        [PAY, KILLED],
        [CART, KILLED],
        ['flag/lost@production', FAILED],
      ]),
    );
    const changes = [
      aChange(PAY, 'update', { fields: [kill] }),
      aChange(CART, 'update', { fields: more }),
      aChange('flag/lost@production', 'update', { fields: [kill] }),
    ];
    const history = { title: 'Ramp', comment: 'As planned' };
    const notes = sent.notesOver(new Map(changes.map(({ id }) => [id, history])), { changes });
    expect([...notes.values()]).toEqual([NOTE, history, history]);
  });
});
