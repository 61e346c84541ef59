import { execFileSync } from 'node:child_process';
import { constants, readFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { openEventSink, type EventSink } from '../../../src/cli/run-events.js';
import { makeDirectory } from '../../support/git.js';

function aPipe(): string {
  const pipe = join(makeDirectory(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  return pipe;
}

/** @param readerWithinMs a patience that is over at once, where nobody reads. */
async function sinkOf(
  target: string,
  notes: string[] = [],
  readerWithinMs?: number,
): Promise<EventSink> {
  const note = (text: string): void => void notes.push(text);
  const stdout = new PassThrough();
  const sink = await openEventSink(target, {
    ...{ stdout, note },
    ...(readerWithinMs !== undefined && { readerWithinMs }),
  });
  if (!sink) throw new Error('no sink');
  return sink;
}

describe('where events go', () => {
  it('has the lines of a regular file in it at once, and begins it anew', async () => {
    const file = join(makeDirectory(), 'events.jsonl');
    for (const event of ['first', 'second']) {
      await using sink = await sinkOf(file);
      for (let line = 0; line < 100; line += 1) sink.write(`${event}\n`);

      expect(readFileSync(file, 'utf8')).toBe(`${event}\n`.repeat(100));
    }
  });

  it('gives a pipe its lines and its end', async () => {
    const pipe = aPipe();
    const read = readFile(pipe, 'utf8');
    const sink = await sinkOf(pipe);

    for (let line = 0; line < 100; line += 1) sink.write(`${String(line)}\n`);
    await sink[Symbol.asyncDispose]();

    expect((await read).split('\n')).toHaveLength(101);
  });

  it('says once that a device takes nothing more, and goes on', async () => {
    const notes: string[] = [];
    await using sink = await sinkOf('/dev/full', notes);

    sink.write('one\n');
    await expect.poll(() => notes).toHaveLength(1);
    sink.write('two\n');

    expect(notes).toEqual([
      'warning: events are not told any more: ENOSPC: no space left on device, write',
    ]);
  });
});

describe('a pipe whose reader is not there, or slow', () => {
  it('is refused if no program reads it, after a while', async () => {
    await expect(sinkOf(aPipe(), [], 1)).rejects.toMatchObject({
      code: 'OUTPUT',
      message: expect.stringContaining('no program reads this pipe') as string,
    });
  });

  it.each([
    ['gives up a pipe whose reader takes nothing, and ends', 40, 'their reader is too slow'],
    ['says that the rest was not taken at the end', 1, 'their reader did not take the rest'],
  ])('%s', async (_, lines, why) => {
    const pipe = aPipe();
    const reader = await open(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const notes: string[] = [];
    const sink = await sinkOf(pipe, notes, 1);
    const line = `${'x'.repeat(1024 * 1024)}\n`;

    for (let count = 0; count < lines; count += 1) sink.write(line);
    await sink[Symbol.asyncDispose]();
    await reader.close();

    expect(notes).toEqual([`warning: events are not told any more: ${why}`]);
  });
});
