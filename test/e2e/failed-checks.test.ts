import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { WireDefinition } from '../../src/admin-api/wire.js';
import type { PlanDocument } from '../../src/report/json/plan.js';
import { flagkeel } from '../support/cli.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { useScenario } from '../support/scenario.js';
import { flagText } from '../support/spec-texts.js';

const scenario = useScenario();
let live: LiveWorkspace;
let origin: string;
let errors: number;
let asked: number;

/** A monitoring system on loopback that says how many requests of the shop fail. */
beforeEach(async () => {
  [errors, asked] = [0.001, 0];
  const monitoring = createServer((_, response) => {
    asked += 1;
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ errors }));
  });
  await new Promise<void>((resolve) => monitoring.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void monitoring.close());
  origin = `http://127.0.0.1:${String((monitoring.address() as AddressInfo).port)}`;
  live = await liveWorkspace(scenario.service);
});

const run = async (...args: string[]): ReturnType<typeof scenario.run> =>
  scenario.runWith(
    { env: { FLAGKEEL_API_KEY: scenario.service.key, FLAGKEEL_ORIGINS: origin } },
    ...args,
  );

function commitRamp(percents: readonly number[], more: string, message: string): void {
  const steps = percents.map((percent) => `{ percent: ${String(percent)} }`).join(', ');
  const ramp = `ramp: { steps: [${steps}], check: errors, ${more} }, `;
  scenario.commit({ 'flags/shop.yaml': flagText('shop', 0, { production: ramp }) }, message);
}

/** `shop` serves `on` to 10 % in protected production, by the first step of its ramp. */
async function begin(onFail: string): Promise<void> {
  const config = `workspace: Default
environments:
  staging: {}
  production: { protected: true }
checks:
  errors: { url: "${origin}/shop", value: /errors, atMost: 0.01 }
`;
  scenario.commit(
    { 'flagkeel.yaml': config, 'flags/shop.yaml': flagText('shop', 0, { production: '' }) },
    'Add shop',
  );
  expect(await run('reconcile')).toMatchObject({ code: 0 });
  commitRamp([10], `onFail: ${onFail}`, 'Ramp shop');
  expect(await run('reconcile')).toMatchObject({ code: 0 });
  expect(await definition()).toMatchObject({ defaultRule: shares(10), killed: false });
  commitRamp([10, 50], `onFail: ${onFail}`, 'Go on to 50 %');
  errors = 0.2;
}

const shares = (on: number) => [
  ...(on > 0 ? [{ treatment: 'on', size: on }] : []),
  { treatment: 'off', size: 100 - on },
];

/** The definition as the service has it. */
async function definition(): Promise<WireDefinition> {
  const path = `/splits/ws/${live.id}/shop/environments/${live.production}`;
  return live.ok<WireDefinition>('GET', path);
}

const patches = (): number => scenario.writes().filter((write) => write.startsWith('PATCH')).length;
const flat = ({ stdout }: { readonly stdout: string }): string => stdout.replaceAll(/\s+/g, ' ');

describe('a check that fails before a step, with the built program', () => {
  it('takes the share back once, is held everywhere, and goes on when git says so', async () => {
    await begin('previous');
    const before = await definition();
    const planned = await run('plan');
    expect(flat(planned)).toContain('check "errors" (if it fails, on goes back to 0 %)');
    expect([await definition(), asked]).toEqual([before, 1]);
    const explained = await flagkeel(['explain', 'flag/shop', scenario.repository.directory]);
    expect(flat(explained)).toContain(
      'ramp: on at 10, 50 %; before each step check errors, a failure takes it one step back',
    );

    const done = await run('reconcile');

    expect(done).toMatchObject({ code: 8 });
    expect(await definition()).toEqual({
      ...before,
      defaultRule: shares(0),
      lastUpdateTime: expect.any(Number) as number,
    });
    const failure = 'check "errors" failed: 0.2 is more than 0.01';
    expect(flat(done)).toContain(`a failed check took the ramp back`);
    expect(flat(done)).toContain(failure);
    const history = await run('history', 'flag/shop');
    expect(flat(history)).toContain(`Ramp flag/shop@production: on back to 0 %: ${failure}`);

    const written = patches();
    errors = 0.001;
    expect(await run('reconcile')).toMatchObject({ code: 8 });
    const { stdout } = await run('reconcile', '--format', 'json');
    const { verdict, ramps } = JSON.parse(stdout) as PlanDocument;
    expect(verdict?.objects).toMatchObject([
      { id: 'flag/shop@production', is: 'held', why: 'check-failed' },
    ]);
    expect(ramps?.[0]?.held).toContain(failure);
    expect([patches(), asked]).toEqual([written, 2]);

    commitRamp([5, 50], 'onFail: previous', 'Smaller steps');
    expect(await run('reconcile')).toMatchObject({ code: 0 });
    expect(await definition()).toMatchObject({ defaultRule: shares(50) });
  });
});
