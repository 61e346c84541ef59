import { afterAll, describe, expect, it } from 'vitest';
import { expectFreshAnswers } from '../support/fresh-answers.js';
import { aDefinition, callsOf } from '../support/service-calls.js';
import { startTestService, type TestService } from '../support/service.js';

/** What was read is remembered, until a change makes it untrue. Nothing remembered may be told apart from what is there. */
describe('an answer to a question that was asked before', () => {
  const running: TestService[] = [];

  afterAll(async () => {
    for (const service of running) await service.stop();
  });

  async function start(options: Parameters<typeof startTestService>[0]): Promise<TestService> {
    const service = await startTestService(options);
    running.push(service);
    return service;
  }

  it('is as if it had never been asked, after every kind of change', async () => {
    const service = await start({});

    await expectFreshAnswers(service, service);
  }, 60_000);

  it('by the id of a flag is new when the flag was changed by its name', async () => {
    const service = await start({});
    const calls = callsOf(service);
    const { id } = await calls.flag('f');
    const byId = `/splits/ws/Default/${id}/environments/staging`;
    await calls.ok('POST', '/splits/ws/Default/f/environments/staging', aDefinition());
    expect(await calls.ok('GET', byId)).toMatchObject({ name: 'f' });

    await calls.ok('PATCH', '/splits/ws/Default/f/environments/staging', [
      { op: 'replace', path: '/trafficAllocation', value: 1 },
    ]);

    expect(await calls.ok('GET', byId)).toMatchObject({ name: 'f', trafficAllocation: 1 });
  });
});
