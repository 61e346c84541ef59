import { expect, it } from 'vitest';
import { FlagkeelError } from '../../../../src/errors.js';
import { errorText } from '../../../../src/report/text/error.js';

it('is one sentence for an error of the run, and below it the code', () => {
  const error = new FlagkeelError('UNREACHABLE', 'cannot read flags: connection refused', {
    cause: new Error('ECONNREFUSED'),
  });
  expect(errorText(error)).toBe(
    'flagkeel: cannot read flags: connection refused\n  UNREACHABLE: more by `flagkeel explain UNREACHABLE`\n',
  );
});

it('keeps what the service answered on one line', () => {
  const error = new FlagkeelError('REJECTED', 'cannot patch: no\n\u001b[2Jflagkeel: all is well');
  expect(errorText(error)).toBe(
    'flagkeel: cannot patch: no <U+001B>[2Jflagkeel: all is well\n  REJECTED: more by `flagkeel explain REJECTED`\n',
  );
});

it('shows where it happened when the fault is ours', () => {
  for (const error of [new Error('bug: unhandled case "archive"'), new TypeError('x is null')]) {
    const [first, ...frames] = errorText(error).trimEnd().split('\n');

    expect(first).toBe(`flagkeel: ${error.message}`);
    expect(frames.length).toBeGreaterThan(0);
    expect(frames.every((frame) => frame.startsWith('    at '))).toBe(true);
  }
});

it('has words for what is no error at all', () => {
  expect(errorText('stopped')).toBe('flagkeel: stopped\n');
});
