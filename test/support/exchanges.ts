import { expect } from 'vitest';
import type { ServiceCalls } from './service-calls.js';

/** A request, the status of its answer and, where it is given, what the body holds as `toMatchObject` compares it. */
export type Exchange = readonly [
  status: number,
  method: string,
  path: string,
  body?: unknown,
  answer?: object,
];

/** Sends requests one after the other, and compares each answer. */
export async function expectAnswers(
  client: ServiceCalls,
  ...exchanges: readonly Exchange[]
): Promise<void> {
  for (const [status, method, path, body, answer] of exchanges) {
    const found = await client.call(method, path, body);
    const request = `${method} ${path} ${body === undefined ? '' : JSON.stringify(body)}`;
    const what = `${request.slice(0, 500)}: ${found.text.slice(0, 500)}`;
    expect(found.status, what).toBe(status);
    if (answer !== undefined) expect(found.body, what).toMatchObject(answer);
  }
}

/** The body of a refusal whose message has these words. */
export function refusal(code: number, words: string): object {
  return { code, message: expect.stringContaining(words) as string };
}

/** A patch of one operation. */
export function replacing(path: string, value: unknown): readonly object[] {
  return [{ op: 'replace', path, value }];
}
