import { beforeAll, describe, expect, it } from 'vitest';
import type {
  WireEnvironment,
  WireIdentity,
  WirePage,
  WireTrafficType,
  WireWorkspace,
} from '../../src/admin-api/wire.js';
import { callsOf, type ServiceCalls } from '../support/service-calls.js';
import { startTestService, type TestService } from '../support/service.js';

/** Requests that clients of others were seen to send, and what they take from the answer. */
let service: TestService;
let client: ServiceCalls;
let workspace: WireWorkspace;

beforeAll(async () => {
  service = await startTestService();
  client = callsOf(service);
  const { objects } = await client.ok<WirePage<WireWorkspace>>('GET', '/workspaces?limit=20');
  workspace = objects.find(({ name }) => name === 'Default') ?? expect.fail('no workspace');
  return async () => service.stop();
});

describe('a client that manages traffic types', () => {
  it('finds the list to read again by the workspace in the answer to its creation', async () => {
    const path = `/trafficTypes/ws/${workspace.id}`;
    const made = await client.ok<WireTrafficType>('POST', path, { name: 'device' });
    const again = await client.ok<WireTrafficType[]>(
      'GET',
      `/trafficTypes/ws/${made.workspace?.id ?? 'unknown'}`,
    );
    expect(again.find(({ id }) => id === made.id)).toEqual(made);
  });
});

describe('a client that updates an identity by the older form', () => {
  it('keeps the attributes that it does not send', async () => {
    const [environment] = await client.ok<WireEnvironment[]>(
      'GET',
      `/environments/ws/${workspace.id}`,
    );
    const types = await client.ok<WireTrafficType[]>('GET', `/trafficTypes/ws/${workspace.id}`);
    const trafficTypeId = types.find(({ name }) => name === 'user')?.id ?? '';
    const environmentId = environment?.id ?? '';
    const path = `/trafficTypes/${trafficTypeId}/environments/${environmentId}/identities/ana`;
    const whole = { key: 'ana', trafficTypeId, environmentId, organizationId: null };
    await client.ok('PUT', path, { ...whole, values: { plan: 'pro', seats: '3' } });
    const after = await client.ok<WireIdentity>('POST', `${path}/patch`, {
      ...whole,
      values: { seats: '4' },
    });
    expect(after.values).toEqual({ plan: 'pro', seats: '4' });
  });
});
