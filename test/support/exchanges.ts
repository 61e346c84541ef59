import { expect } from 'vitest';
import { aDefinition, type ServiceCalls } from './service-calls.js';

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

/**
 * Neither a POST where there is no definition nor a patch of one takes these members, and nothing comes of either.
 *
 * @param absent the path of no definition. @param kept that of one.
 */
export async function expectRefusedMembers(
  client: ServiceCalls,
  { absent, kept }: { readonly absent: string; readonly kept: string },
  members: object,
): Promise<void> {
  const before = await client.ok('GET', kept);
  const patch = Object.entries(members).map(([name, value]) => {
    return { op: 'add', path: `/${name}`, value: value as unknown };
  });
  await expectAnswers(
    client,
    [400, 'POST', absent, aDefinition(members)],
    [400, 'PATCH', kept, patch],
    [404, 'GET', absent],
  );
  expect(await client.ok('GET', kept)).toEqual(before);
}

/** The body of a refusal whose message has these words. */
export function refusal(code: number, words: string): object {
  return { code, message: expect.stringContaining(words) as string };
}

/** A patch of one operation. */
export function replacing(path: string, value: unknown): readonly object[] {
  return [{ op: 'replace', path, value }];
}
