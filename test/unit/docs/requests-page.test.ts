import { describe, expect, it } from 'vitest';
import {
  RETRY_TABLE,
  type RequestKind,
  type RetryDecision,
} from '../../../src/admin-api/http/retry.js';
import { bare, projectText, rowsOf, sectionOf } from './page.js';

const WORDS: Readonly<Record<RetryDecision, string>> = {
  repeat: 'repeated',
  'look-up': 'looked up',
  fail: 'fails',
};
const KINDS: readonly RequestKind[] = ['read', 'write', 'delete', 'create', 'patch'];

const section = sectionOf(projectText('docs/requests.md'), '## What is repeated');
const faults = rowsOf(section).filter((cells) => cells.length === 1 + KINDS.length);
const proofs = rowsOf(section).filter((cells) => cells.length === 3);

describe('docs/requests.md', () => {
  it('says of every fault and kind of request what the client does', () => {
    const said = Object.fromEntries(
      KINDS.map((kind, column) => [
        kind,
        Object.fromEntries(
          faults.map(([fault = '', ...cells]) => [bare(fault.split(':')[0]), cells[column]]),
        ),
      ]),
    );
    const done = Object.fromEntries(
      KINDS.map((kind) => [
        kind,
        Object.fromEntries(
          Object.entries(RETRY_TABLE[kind]).map(([fault, verdict]) => [fault, WORDS[verdict]]),
        ),
      ]),
    );

    expect(Object.keys(RETRY_TABLE).toSorted()).toEqual(KINDS.toSorted());
    expect(said).toEqual(done);
  });

  it('names a test for every kind of request', () => {
    expect([...new Set(proofs.map(([kind]) => kind))]).toEqual(KINDS);
  });

  it.each(proofs)('names a test of a %s that there is: %s', (_, title = '', file) => {
    expect(projectText(bare(file))).toContain(`'${title}'`);
  });
});
