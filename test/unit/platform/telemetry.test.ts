import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { beforeEach, describe, expect, it } from 'vitest';
import { FlagkeelError } from '../../../src/errors.js';
import { noteRun, traced, tracedRequest, tracedRun } from '../../../src/platform/telemetry.js';
import { spanExporter } from '../../support/spans.js';

const SECRET = 'what-a-person-wrote';
const DONE = { exitCode: 0, result: 'done' };
const RUN = { name: 'plan', source: 'shop' };

beforeEach(() => {
  spanExporter.reset();
});

const named = (name: string): ReadableSpan | undefined =>
  spanExporter.getFinishedSpans().find((span) => span.name === name);

/** What one part of a run throws becomes the end of both. */
async function runThatThrows(error: unknown): Promise<void> {
  await tracedRun(
    RUN,
    async () => traced('read specs', async () => Promise.reject(error as Error)),
    () => DONE,
  ).catch(() => undefined);
}

describe('a run', () => {
  it('holds its parts, each below the one that it is a part of, and what is said of it', async () => {
    const run = async (): Promise<void> => {
      noteRun({ 'flagkeel.workspace': 'Default' });
      await traced('apply', async () => traced('write', async () => Promise.resolve()));
    };
    const environment = { TRACEPARENT: 'not-a-parent' };
    await tracedRun({ ...RUN, id: 'r-1', environment }, run, () => DONE);

    const [root, apply, write] = ['flagkeel plan', 'apply', 'write'].map(named);
    expect(root?.parentSpanContext).toBeUndefined();
    expect(apply?.parentSpanContext?.spanId).toBe(root?.spanContext().spanId);
    expect(write?.parentSpanContext?.spanId).toBe(apply?.spanContext().spanId);
    expect(root?.attributes).toEqual({
      'flagkeel.source': 'shop',
      'flagkeel.run.id': 'r-1',
      'flagkeel.workspace': 'Default',
      'flagkeel.result': 'done',
      'flagkeel.exit_code': 0,
    });
  });

  it.each([
    [new FlagkeelError('NOT_ON_SERVICE', SECRET), 'NOT_ON_SERVICE'],
    [new Error(SECRET), 'BUG'],
  ])('says of what it threw (%s) the code alone', async (error, code) => {
    await runThatThrows(error);

    for (const name of ['read specs', 'flagkeel plan']) {
      expect(named(name)).toMatchObject({
        status: { code: 2 },
        attributes: { 'error.type': code },
      });
      expect(named(name)?.events).toEqual([]);
    }
    const all = spanExporter
      .getFinishedSpans()
      .map(({ attributes, status }) => [attributes, status]);
    expect(JSON.stringify(all)).not.toContain(SECRET);
  });
});

describe('a request of a run', () => {
  const request = { method: 'GET', route: '/workspaces', triesBefore: 0 } as const;

  it.each([
    ['https://flags.example.com', 443],
    ['http://flags.example.com', 80],
    ['https://flags.example.com:8443', 8443],
  ])('to %s names the port %i, and a failure where no answer came', async (origin, port) => {
    await tracedRun(
      RUN,
      async () =>
        tracedRequest({ ...request, origin }, async () => Promise.reject(new Error(SECRET))),
      () => DONE,
    ).catch(() => undefined);

    expect(named('GET /workspaces')).toMatchObject({
      status: { code: 2 },
      attributes: { 'server.port': port, 'error.type': 'no-answer' },
    });
  });
});

describe('outside of a run', () => {
  it('parts and requests are done, and are no traces of their own', async () => {
    const origin = 'https://flags.example.com';
    const answer = { status: 200 };
    const request = { method: 'GET', route: '/workspaces', origin, triesBefore: 0 } as const;

    expect(await traced('plan', async () => Promise.resolve(7))).toBe(7);
    expect(await tracedRequest(request, async () => Promise.resolve(answer))).toBe(answer);
    noteRun({ 'flagkeel.workspace': 'Default' });
    expect(spanExporter.getFinishedSpans()).toEqual([]);
  });
});
