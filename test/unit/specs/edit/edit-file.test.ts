import { describe, expect, it } from 'vitest';
import { withKillEntry, withoutKillEntry } from '../../../../src/specs/edit/edit-file.js';

const ENTRY = { reason: 'INC-1: "double" charges', since: '2026-10-03T22:14:00Z' };
const LIST = `# owned by on-call
kills:
  # until the vendor answers
  search: { reason: "INC-0", by: ana } # see the channel
`;

describe('a break-glass list', () => {
  it('takes an entry and keeps its comments and the other entries', () => {
    expect(withKillEntry(LIST, 'pay', ENTRY)).toBe(`${LIST}  pay:
    reason: 'INC-1: "double" charges'
    since: "2026-10-03T22:14:00Z"
`);
  });

  it('begins where there is none, and where it is empty', () => {
    const first = `kills:
  pay:
    reason: 'INC-1: "double" charges'
    since: "2026-10-03T22:14:00Z"
`;

    expect(withKillEntry(undefined, 'pay', ENTRY)).toBe(first);
    expect(withKillEntry('kills: {}\n', 'pay', ENTRY)).toBe(first);
  });

  it('stays when its last entry goes, because only a list that stands takes a kill back', () => {
    expect(withoutKillEntry('kills:\n  pay: { reason: r }\n', 'pay')).toBe('kills: {}\n');
    expect(withoutKillEntry(LIST, 'pay')).toBe(LIST);
  });

  it('finds a flag whose name is a word of YAML', () => {
    expect(withoutKillEntry('kills:\n  null: { reason: r }\n', 'null')).toBe('kills: {}\n');
  });

  it('is not made of what is none', () => {
    expect(withKillEntry('kills: [pay]\n', 'search', ENTRY)).toBeUndefined();
    expect(withKillEntry('kills: {\n', 'search', ENTRY)).toBeUndefined();
  });
});
