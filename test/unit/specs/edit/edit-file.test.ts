import { describe, expect, it } from 'vitest';
import {
  editedText,
  withKillEntry,
  withoutKillEntry,
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

  it('is not made of what is none', () => {
    expect(withKillEntry('kills: [pay]\n', 'search', ENTRY)).toBeUndefined();
    expect(withKillEntry('kills: {\n', 'search', ENTRY)).toBeUndefined();
  });
});

const on = (member: string): string[] => ['environments', 'production', member];

describe('an edit of a file', () => {
  it('leaves every other line as it was written, whatever its style', () => {
    const text = `flag:   a\n\n\ntags: [x,y]  # two\n# end\nenvironments:\n    production: { defaultRule: 'off' }\n`;

    const edited = editedText(text, [{ kind: 'set', path: on('defaultRule'), value: 'on' }]);

    expect(edited).toBe(text.replace("{ defaultRule: 'off' }", '{ defaultRule: "on" }'));
  });

  it('keeps the line ends of the file', () => {
    const text = 'flag: a\r\ndescription: b # c\r\n';

    const edited = editedText(text, [{ kind: 'set', path: ['description'], value: 'x' }]);

    expect(edited).toBe('flag: a\r\ndescription: x # c\r\n');
  });

  it('puts a new member where such members usually stand', () => {
    const text = `flag: a\nenvironments:\n  production:\n    rules: []\n    defaultRule: a # b\n`;

    const edited = editedText(text, [
      { kind: 'set', path: on('killed'), value: true },
      { kind: 'set', path: ['tags'], value: new Flow(['x']) },
    ]);

    expect(edited).toBe(
      `flag: a\ntags: [x]\nenvironments:\n  production:\n    killed: true\n    rules: []\n    defaultRule: a # b\n`,
    );
  });

  it('finds members by the text that stands in the file', () => {
    const text = `environments:\n  0012: { killed: false }\n`;

    const path = ['environments', '0012', 'killed'];
    const edited = editedText(text, [{ kind: 'set', path, value: true }]);

    expect(edited).toBe(`environments:\n  0012: { killed: true }\n`);
  });

  it('takes texts out of a list and adds others, quoted where they would be something else', () => {
    const text = `keys:\n  - a # first\n  - 0012\n  - b\n`;

    const remove = new Set(['0012']);
    const edited = editedText(text, [{ kind: 'texts', path: ['keys'], add: ['1e5'], remove }]);

    expect(edited).toBe(`keys:\n  - a # first\n  - b\n  - "1e5"\n`);
  });
});
