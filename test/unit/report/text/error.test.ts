import { expect, it } from 'vitest';
import { FlaghoistError } from '../../../../src/errors.js';
import { errorText } from '../../../../src/report/text/error.js';

it('is one sentence for an error of the run, and below it the code', () => {
  const error = new FlaghoistError('UNREACHABLE', 'cannot read flags: connection refused', {
    cause: new Error('ECONNREFUSED'),
  });
  expect(errorText(error)).toBe(
    'flaghoist: cannot read flags: connection refused\n  UNREACHABLE: more by `flaghoist explain UNREACHABLE`\n',
  );
});

it('keeps what the service answered on one line', () => {
  const error = new FlaghoistError('REJECTED', 'cannot patch: no\n\u001b[2Jflaghoist: all is well');
  expect(errorText(error)).toBe(
    'flaghoist: cannot patch: no <U+001B>[2Jflaghoist: all is well\n  REJECTED: more by `flaghoist explain REJECTED`\n',
  );
});

it('shows where it happened when the fault is ours', () => {
  for (const error of [new Error('bug: unhandled case "archive"'), new TypeError('x is null')]) {
    const [first, ...frames] = errorText(error).trimEnd().split('\n');

    expect(first).toBe(`flaghoist: ${error.message}`);
    expect(frames.length).toBeGreaterThan(0);
    expect(frames.every((frame) => frame.startsWith('    at '))).toBe(true);
  }
});

it('has words for what is no error at all', () => {
  expect(errorText('stopped')).toBe('flaghoist: stopped\n');
});
