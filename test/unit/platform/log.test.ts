import { describe, expect, it } from 'vitest';
import { createLog, type LogOptions } from '../../../src/platform/log.js';

function fixture(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    format: 'json',
    stream: { write: (text: string) => lines.push(text) },
    ...options,
  });
  return { log, lines };
}

describe('the log', () => {
  it('writes one JSON object per line, with the facts as fields, and leaves out what is below its level', () => {
    const { log, lines } = fixture({ level: 'warn' });

    log.debug({}, 'a');
    log.info({}, 'b');
    log.child({ run: 'r-1' }).warn({ waitMs: 700 }, 'waiting');

    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      {
        level: 'warn',
        time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        run: 'r-1',
        waitMs: 700,
        msg: 'waiting',
      },
    ]);
  });

  it.each(['json', 'pretty'] as const)('shows no key, wherever it stands (%s)', (format) => {
    const { log, lines } = fixture({ format, secrets: () => ['s3cr3t', ''] });
    const error = new Error('refused fka_canary-1', { cause: new Error('fka_canary-2') });

    log.error({ error, headers: { Authorization: 'Bearer plain"canary' } }, 'sent Bearer canary-3');
    log.info({ deep: { list: ['fka_canary-4', 's3cr3t'] }, authorization: 'canary' }, 's3cr3t');

    expect(lines.join('')).not.toMatch(/canary|s3cr3t/);
    expect(lines).toHaveLength(2);
    if (format === 'json') for (const line of lines) JSON.parse(line);
  });

  it('writes a line for people that no value can break', () => {
    const { log, lines } = fixture({ format: 'pretty' });

    log.info({ flag: 'a', subject: 'two\nlines\u001b[31m', n: 1 }, 'applied\r\n::error::');

    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^\d\d:\d\d:\d\d info {2}applied {2}::error:: {2}flag=a {2}subject="two\\nlines\\u001b\[31m" {2}n=1\n$/,
    );
  });

  it.each([
    [{ isTTY: true }, true],
    [{ isTTY: true, colour: false }, false],
  ])('with %j colours the level: %s', ({ isTTY, ...options }, isColoured) => {
    const lines: string[] = [];
    const stream = { isTTY, write: (text: string) => lines.push(text) };

    createLog({ level: 'info', format: 'pretty', stream, ...options }).info({}, 'a');

    expect(lines[0]?.includes('\u001b[')).toBe(isColoured);
  });
});
