import { describe, expect, it } from 'vitest';
import { parseCommit } from '../../../../src/git/log.js';
import { truncateNote } from '../../../../src/model/audit-note.js';
import { clean } from '../../../../src/report/sanitize.js';
import { parseFile } from '../../../../src/specs/parse/parse-file.js';

const KEY = 'fka_EXAMPLEexample0123456789';

describe('an Admin API key that is glued to a word', () => {
  const glued = [`x${KEY}`, `KEY_${KEY}`, `é${KEY}`, `7${KEY}`];

  it.each(glued)('is an error in every kind of file: %s', (text) => {
    const files = [
      parseFile('flags/pay.yaml', 'flag', Buffer.from(`flag: pay\ndescription: ${text}\n`)),
      parseFile('segments/a.keys', 'keys', Buffer.from(`user-1\n${text}\n`)),
      parseFile('identities/a.csv', 'identities-csv', Buffer.from(`key,plan\nuser-1,${text}\n`)),
    ];
    for (const { problems } of files) {
      expect(problems.map(({ code }) => code)).toContain('api-key-in-file');
    }
  });

  it.each(glued)('of a commit is neither sent nor remembered: %s', (text) => {
    const object = Buffer.from(`author A <a@b> 0 +0000\n\nUse ${text}\n\nIt is ${text}.\n`);
    expect(JSON.stringify(parseCommit('c0ffee', object))).not.toContain(KEY);
  });

  it.each(glued)('is not printed: %s', (text) => {
    expect(clean(`Use ${text} now`)).not.toContain(KEY);
  });
});

it('is found in the words of a change though characters that nobody sees stand in it', () => {
  const hidden = `Use ${KEY.slice(0, 9)}\u200b${KEY.slice(9)}`;
  const note = truncateNote({ title: hidden, comment: hidden }, 'flag pay');
  expect(note).toEqual({ title: 'Use [redacted]', comment: 'Use [redacted]' });
});
