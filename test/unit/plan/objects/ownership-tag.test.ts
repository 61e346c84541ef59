import { describe, expect, it } from 'vitest';
import type { DesiredFlag } from '../../../../src/model/desired.js';
import type { FieldChange } from '../../../../src/model/plan.js';
import {
  aDesired,
  anEnvironment,
  desiredFlag,
  liveFlag,
  noFlag,
} from '../../../support/builders.js';
import { planOf } from '../../../support/planning.js';
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
  const { changes } = planOf(
    aDesired({ flags: [flag] }),
    { flags: [tags ? liveFlag('pay', {}, { tags }) : noFlag('pay')] },
    before && { state: stateOf(aDesired({ flags: [before] })) },
  );
  return changes.flatMap(({ fields }) => fields).filter(({ path }) => path === '/tags');
}

const git = marked('git');
const ours = marked('ours');
const byCommit = (...tags: string[]) => {
  return { reason: 'commit', after: [...tags, 'theirs'] } as const;
};
const left = marked(undefined, { creation: { tags: ['git'] } });

describe('a flag of which git owns one tag', () => {
  it.each<[string, DesiredFlag, string[] | null, DesiredFlag | undefined, Partial<FieldChange>?]>([
    ['is created with it', git, null, undefined, { reason: 'commit', after: ['git'] }],
    ['gets it with the key', git, ['theirs'], marked(), byCommit('git')],
    ['is equal whatever tags people add', git, ['a', 'git', 'z'], git],
    [
      'gets it again as drift, even if people changed other tags too',
      git,
      ['new'],
      git,
      { reason: 'drift', base: ['git', 'new'], before: ['new'], after: ['git', 'new'] },
    ],
    ['loses it with the key, and keeps the others', marked(), ['git', 'theirs'], git, byCommit()],
    ['has lost it with the key', marked(), ['theirs'], git],
    ['gets the new tag for the old one', ours, ['git', 'theirs'], git, byCommit('ours')],
    ['keeps all tags once the file leaves tags to people', left, ['git', 'theirs'], git],
  ])('%s', (_, flag, live, before, expected) => {
    expect(planned(flag, live, before)).toMatchObject(expected ? [expected] : []);
  });

  it('says of a missing tag that is held back that only the config asks for it', () => {
    const heldOf = (description: string) => {
      const desired = aDesired({ flags: [{ ...git, fields: { description } }] });
      const tagged = { ...desired, config: { ...desired.config, ownershipTag: 'git' } };
      const policy = { environments: [anEnvironment('staging', { protected: true })] };
      const flags = [liveFlag('pay', {}, { tags: [{ name: 'theirs' }] })];
      return planOf(tagged, { flags }, { policy }).withheld.map(({ why, ofConfig }) => [
        why,
        ofConfig,
      ]);
    };

    expect(heldOf('')).toEqual([['adopt-needed', true]]);
    expect(heldOf('new')).toEqual([['adopt-needed', undefined]]);
  });
});
