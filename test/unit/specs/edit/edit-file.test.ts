import { describe, expect, it } from 'vitest';
import {
  editedText,
  withKillEntry,
  withoutKillEntry,
  type Edit,
} from '../../../../src/specs/edit/edit-file.js';
import { Flow } from '../../../../src/specs/edit/yaml-text.js';

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

  it.each(['\uFEFF', '\uFEFF# ours\n'])(
    'keeps its byte order mark, line ends and indentation',
    (head) => {
      const list = `${head}kills:\n  pay: { reason: r }\n`.replaceAll('\n', '\r\n');
      const entry = '  search:\r\n    reason: r\r\n    since: "2026-10-03T22:14:00Z"\r\n';
      expect(withKillEntry(list, 'search', { ...ENTRY, reason: 'r' })).toBe(list + entry);
    },
  );

  it('is not made of what is none', () => {
    expect(withKillEntry('kills: [pay]\n', 'search', ENTRY)).toBeUndefined();
    expect(withKillEntry('kills: {\n', 'search', ENTRY)).toBeUndefined();
  });
});

const on = (member: string): string[] => ['environments', 'production', member];

const production = 'environments:\n  production:\n';
it.each<[string, string, readonly Edit[], string]>([
  [
    'indents as the file does, not as the text in it',
    `description: |2\n    far in:\n    - one\ntags:\n  - a   # two\n${production}    killed: false\n`,
    [
      { kind: 'set', path: on('trafficAllocation'), value: 5 },
      { kind: 'texts', path: ['tags'], add: ['b'], remove: new Set() },
    ],
    `description: |2\n    far in:\n    - one\ntags:\n  - a   # two\n  - b\n${production}    killed: false\n    trafficAllocation: 5\n`,
  ],
  [
    'indents the whole file anew where its parts are indented unlike each other',
    `tags: [ a ]\nlinks:\n  a: b\nenvironments:\n    production:\n        killed: false # no\n`,
    [{ kind: 'set', path: on('trafficAllocation'), value: 5 }],
    `tags: [ a ]\nlinks:\n  a: b\n${production}    killed: false # no\n    trafficAllocation: 5\n`,
  ],
  [
    'leaves every other line as it was written, whatever its style',
    `flag:   a\n\n\ntags: [x,y]  # two\n# end\nenvironments:\n    production: { defaultRule: 'off' }\n`,
    [{ kind: 'set', path: on('defaultRule'), value: 'on' }],
    `flag:   a\n\n\ntags: [x,y]  # two\n# end\nenvironments:\n    production: { defaultRule: "on" }\n`,
  ],
  [
    'keeps the line ends of the file',
    'flag: a\r\ndescription: b # c\r\n',
    [{ kind: 'set', path: ['description'], value: 'x' }],
    'flag: a\r\ndescription: x # c\r\n',
  ],
  [
    'keeps the line ends of a file that is written anew because its parts are indented unlike each other',
    'flag: a\r\nlinks:\r\n    - b\r\nenvironments:\r\n  p:\r\n     killed: true\r\n',
    [{ kind: 'set', path: ['environments', 'p', 'defaultRule'], value: 'x' }],
    'flag: a\r\nlinks:\r\n  - b\r\nenvironments:\r\n  p:\r\n    killed: true\r\n    defaultRule: x\r\n',
  ],
  [
    'puts a new member where such members usually stand',
    `flag: a\n${production}    rules: []\n    defaultRule: a # b\n`,
    [
      { kind: 'set', path: on('killed'), value: true },
      { kind: 'set', path: ['tags'], value: new Flow(['x']) },
    ],
    `flag: a\ntags: [x]\n${production}    killed: true\n    rules: []\n    defaultRule: a # b\n`,
  ],
  [
    'finds members by the text that stands in the file',
    'environments:\n  0012: { killed: false }\n',
    [{ kind: 'set', path: ['environments', '0012', 'killed'], value: true }],
    'environments:\n  0012: { killed: true }\n',
  ],
  [
    'takes texts out of a list and adds others, quoted where they would be something else',
    'keys:\n  - a # first\n  - 0012\n  - b\n',
    [{ kind: 'texts', path: ['keys'], add: ['1e5'], remove: new Set(['0012']) }],
    'keys:\n  - a # first\n  - b\n  - "1e5"\n',
  ],
  [
    'leaves a comment above the member that it stood above, and no blank line at the end',
    `${production}    # who\n    rules: []\n    # rest\n    defaultRule: a\n# end\n`,
    [{ kind: 'set', path: on('killed'), value: true }],
    `${production}    killed: true\n    # who\n    rules: []\n    # rest\n    defaultRule: a\n# end\n`,
  ],
  [
    'leaves no white space where the element above a blank line goes',
    'keys:\n  - a\n\n  # group\n  - b\n',
    [{ kind: 'texts', path: ['keys'], add: [], remove: new Set(['a']) }],
    'keys:\n  # group\n  - b\n',
  ],
])('an edit of a file %s', (_, text, edits, expected) => {
  expect(editedText(text, edits)).toBe(expected);
});
