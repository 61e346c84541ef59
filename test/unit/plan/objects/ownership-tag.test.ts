import { describe, expect, it } from 'vitest';
import type { DesiredFlag } from '../../../../src/model/desired.js';
import type { FieldChange } from '../../../../src/model/plan.js';
import { planChanges } from '../../../../src/plan/plan.js';
import {
  aDesired,
  anActual,
  aPolicy,
  desiredFlag,
  liveFlag,
  noFlag,
  NO_STATE,
} from '../../../support/builders.js';
import { stateOf } from '../../../support/state-of.js';

const marked = (ownershipTag?: string, more: Partial<DesiredFlag> = {}): DesiredFlag => ({
  ...desiredFlag('pay', { fields: {} }),
  ...(ownershipTag !== undefined && { ownershipTag }),
  ...more,
});

/** The planned fields of a flag with these live tags; null is a flag that is not there. */
function planned(
  flag: DesiredFlag,
  live: readonly string[] | null,
  before?: DesiredFlag,
): FieldChange[] {
  const tags = live?.map((name) => ({ name }));
  const { changes } = planChanges({
    desired: aDesired({ flags: [flag] }),
    actual: anActual({ flags: [tags ? liveFlag('pay', {}, { tags }) : noFlag('pay')] }),
    state: before ? stateOf(aDesired({ flags: [before] })) : NO_STATE,
    policy: aPolicy({}),
  });
  return changes.flatMap(({ fields }) => fields).filter(({ path }) => path === '/tags');
}

const git = marked('git');

describe('a flag of which git owns one tag', () => {
  it('is created with it', () => {
    expect(planned(git, null)).toMatchObject([{ reason: 'commit', after: ['git'] }]);
  });

  it('gets it with its adoption, and keeps the tags of people', () => {
    expect(planned(git, ['theirs'])).toMatchObject([
      { reason: 'adopt', before: ['theirs'], after: ['git', 'theirs'] },
    ]);
  });

  it('gets it from the commit that brings the key', () => {
    expect(planned(git, ['theirs'], marked())).toMatchObject([
      { reason: 'commit', after: ['git', 'theirs'] },
    ]);
  });

  it('is equal whatever tags people add', () => {
    expect(planned(git, ['a', 'git', 'z'], git)).toEqual([]);
  });

  it('gets it again as drift, even if people changed other tags too', () => {
    expect(planned(git, ['new'], git)).toMatchObject([
      { reason: 'drift', base: ['git', 'new'], before: ['new'], after: ['git', 'new'] },
    ]);
  });

  it('loses it with the key, and keeps the tags of people', () => {
    expect(planned(marked(), ['git', 'theirs'], git)).toMatchObject([
      { reason: 'commit', after: ['theirs'] },
    ]);
    expect(planned(marked(), ['theirs'], git)).toEqual([]);
  });

  it('gets the new tag for the old one', () => {
    expect(planned(marked('ours'), ['git', 'theirs'], git)).toMatchObject([
      { reason: 'commit', after: ['ours', 'theirs'] },
    ]);
  });

  it('keeps all tags once the file leaves tags to people', () => {
    const left = marked(undefined, { creation: { tags: ['git'] } });
    expect(planned(left, ['theirs'], git)).toEqual([]);
    expect(planned(left, ['git', 'theirs'], git)).toEqual([]);
  });
});
