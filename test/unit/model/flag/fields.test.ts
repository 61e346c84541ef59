import { beforeAll, expect, it } from 'vitest';
import type { WireFlag, WireRolloutStatus } from '../../../../src/admin-api/wire.js';
import type { FlagSpec } from '../../../../src/generated/flag.schema.d.js';
import {
  FLAG_FIELDS,
  flagFieldsFromSpec,
  flagFieldsFromWire,
  flagFieldsPatch,
  type FlagField,
} from '../../../../src/model/flag/fields.js';
import { callsOf } from '../../../support/service-calls.js';
import { aService } from '../../../support/service.js';

/** For each field a value that is not the one of a new flag, and not in canonical order where order means nothing. */
const SAMPLES: { readonly [F in FlagField]: Required<FlagSpec>[F] } = {
  description: 'Pay with one click',
  tags: ['web', 'api', 'web'],
  rolloutStatus: 'Ramping',
};

const calls = callsOf(aService());
let workspace: string;
let rolloutStatuses: WireRolloutStatus[];

beforeAll(async () => {
  const workspaces = await calls.ok<{ objects: { id: string }[] }>('GET', '/workspaces');
  workspace = workspaces.objects[0]?.id ?? '';
  rolloutStatuses = await calls.ok('GET', `/rolloutStatuses?wsId=${workspace}`);
});

/** Creates a flag of which nothing is set but its name. */
async function newFlag(name: string): Promise<WireFlag> {
  return calls.ok('POST', `/splits/ws/${workspace}/trafficTypes/user`, { name });
}

function specWith(fields: Partial<FlagSpec>): FlagSpec {
  return { flag: 'pay', ...fields } as FlagSpec;
}

it.each(FLAG_FIELDS)(
  'of a patch the service takes the field %s alone, as the spec has it',
  async (field) => {
    const fields = flagFieldsFromSpec(specWith({ [field]: SAMPLES[field] }));
    const before = await newFlag(`pay-${field}`);
    const patch = flagFieldsPatch(fields, rolloutStatuses);
    const after = await calls.ok<WireFlag>('PATCH', `/splits/ws/${workspace}/pay-${field}`, patch);

    expect(Object.keys(fields)).toEqual([field]);
    expect(flagFieldsFromSpec(specWith({ ...fields } as Partial<FlagSpec>))).toEqual(fields);
    expect(flagFieldsFromWire(before)[field]).not.toEqual(fields[field]);
    expect(flagFieldsFromWire(after)).toEqual({ ...flagFieldsFromWire(before), ...fields });
  },
);

it('fields are emptied by what is empty in the spec, and not sent where it says nothing', async () => {
  await newFlag('pay-full');
  const path = `/splits/ws/${workspace}/pay-full`;
  const patched = async (spec: Partial<FlagSpec>): Promise<WireFlag> =>
    calls.ok('PATCH', path, flagFieldsPatch(flagFieldsFromSpec(specWith(spec)), rolloutStatuses));
  await patched({ description: 'a', tags: ['b'] });

  const after = await patched({ description: '', tags: [] });

  expect(flagFieldsFromWire(after)).toMatchObject({ description: '', tags: [] });
  const absent = { ...after, description: null, tags: null, rolloutStatus: null };
  expect(flagFieldsFromWire(absent)).toEqual({ description: '', tags: [], rolloutStatus: '' });
  expect(flagFieldsPatch(flagFieldsFromSpec(specWith({})), rolloutStatuses)).toEqual([]);
});
