import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WireFlag, WireRolloutStatus } from '../../../../src/admin-api/wire.js';
import type { FlagSpec } from '../../../../src/generated/flag.schema.d.js';
import {
  FLAG_FIELDS_IN_FILE,
  flagFieldsFromSpec,
  flagFieldsFromWire,
  flagFieldsPatch,
} from '../../../../src/model/flag/fields.js';
import { FLAG_FIELDS, type FlagField } from '../../../../src/model/flag/flag.js';
import { callsOf, type ServiceCalls } from '../../../support/service-calls.js';
import { startTestService, type TestService } from '../../../support/service.js';

/** For each field a value that is not the one of a new flag, and not in canonical order where order means nothing. */
const SAMPLES: { readonly [F in FlagField]: Required<FlagSpec>[F] } = {
  description: 'Pay with one click',
  tags: ['web', 'api', 'web'],
  rolloutStatus: 'Ramping',
};

let service: TestService;
let calls: ServiceCalls;
let workspace: string;
let rolloutStatuses: WireRolloutStatus[];

beforeAll(async () => {
  service = await startTestService();
  calls = callsOf(service);
  const workspaces = await calls.ok<{ objects: { id: string }[] }>('GET', '/workspaces');
  workspace = workspaces.objects[0]?.id ?? '';
  rolloutStatuses = await calls.ok('GET', `/rolloutStatuses?wsId=${workspace}`);
});

afterAll(async () => service.stop());

/** Creates a flag of which nothing is set but its name. */
async function newFlag(name: string): Promise<WireFlag> {
  return calls.ok('POST', `/splits/ws/${workspace}/trafficTypes/user`, { name });
}

function specWith(fields: Partial<FlagSpec>): FlagSpec {
  return { flag: 'pay', ...fields } as FlagSpec;
}

describe.each(FLAG_FIELDS)('the field %s of a flag', (field) => {
  const spec = specWith({ [field]: SAMPLES[field] });
  const fields = flagFieldsFromSpec(spec);

  it('is the only one that its spec manages, in canonical form', () => {
    expect(Object.keys(fields)).toEqual([field]);
    expect(flagFieldsFromSpec(specWith({ ...fields } as Partial<FlagSpec>))).toEqual(fields);
  });

  it('is on the service, once it was patched, what the spec says, and nothing else changed', async () => {
    const before = await newFlag(`pay-${field}`);
    expect(flagFieldsFromWire(before)[field]).not.toEqual(fields[field]);

    const patch = flagFieldsPatch(fields, rolloutStatuses);
    const after = await calls.ok<WireFlag>('PATCH', `/splits/ws/${workspace}/pay-${field}`, patch);

    expect(flagFieldsFromWire(after)).toEqual({ ...flagFieldsFromWire(before), ...fields });
  });
});

describe('the fields of a flag', () => {
  it('are not managed where the spec says nothing, and nothing is sent', () => {
    expect(flagFieldsFromSpec(specWith({}))).toEqual({});
    expect(flagFieldsPatch({}, rolloutStatuses)).toEqual([]);
  });

  it('are emptied by what is empty in the spec', async () => {
    await newFlag('pay-full');
    const path = `/splits/ws/${workspace}/pay-full`;
    const full = flagFieldsFromSpec(specWith({ description: 'a', tags: ['b'] }));
    await calls.ok('PATCH', path, flagFieldsPatch(full, rolloutStatuses));
    const empty = flagFieldsFromSpec(specWith({ description: '', tags: [] }));

    const after = await calls.ok<WireFlag>('PATCH', path, flagFieldsPatch(empty, rolloutStatuses));

    expect(flagFieldsFromWire(after)).toMatchObject({ description: '', tags: [] });
    const absent = { ...after, description: null, tags: null, rolloutStatus: null };
    expect(flagFieldsFromWire(absent)).toEqual({ description: '', tags: [], rolloutStatus: '' });
  });

  it('stand in a file each once', () => {
    expect(FLAG_FIELDS_IN_FILE.toSorted()).toEqual(FLAG_FIELDS.toSorted());
  });
});
