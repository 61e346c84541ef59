import { beforeEach, describe, expect, it } from 'vitest';
import { ResponseCache } from '../../../../src/service/http/response-cache.js';

let memory: ResponseCache<string>;
let reads: string[];

beforeEach(() => {
  memory = new ResponseCache<string>((text) => text.length);
  reads = [];
});

async function ask(question: string, subject: string | null, value = question): Promise<string> {
  return memory.recall(question, async () => {
    reads.push(question);
    return Promise.resolve({ value, subject });
  });
}

describe('what was read', () => {
  it('is not read again', async () => {
    expect([await ask('a', null, 'first'), await ask('a', null, 'second')]).toEqual([
      'first',
      'first',
    ]);
    expect(reads).toEqual(['a']);
  });

  it('of one flag outlives changes of other flags, of segments and of identities', async () => {
    await ask('f', 'flag/f', 'before');

    memory.forget([
      { kind: 'flag', name: 'g' },
      { kind: 'segment', name: 'f' },
      { kind: 'identity', name: 'f' },
    ]);
    expect(await ask('f', 'flag/f', 'after')).toBe('before');

    memory.forget([{ kind: 'flag', name: 'f' }]);
    expect(await ask('f', 'flag/f', 'after')).toBe('after');
  });

  it('of several objects is forgotten by any change', async () => {
    await ask('list', null, 'before');

    memory.forget([{ kind: 'segment', name: 's' }]);

    expect(await ask('list', null, 'after')).toBe('after');
  });

  it.each(['workspace', 'environment', 'traffic-type', 'admin-key', 'of the future'])(
    'is forgotten by a change of kind "%s", whatever it tells of',
    async (kind) => {
      await ask('f', 'flag/f', 'before');

      memory.forget([{ kind, name: 'x' }]);

      expect(await ask('f', 'flag/f', 'after')).toBe('after');
    },
  );

  it('is not kept when a change came in while it was read', async () => {
    await memory.recall('f', async () => {
      memory.forget([{ kind: 'flag', name: 'f' }]);
      return Promise.resolve({ value: 'of before', subject: 'flag/f' });
    });

    expect(await ask('f', 'flag/f', 'of after')).toBe('of after');
  });

  it('is forgotten, not grown without end', async () => {
    const huge = 'x'.repeat(20 * 1024 * 1024);

    for (const question of ['a', 'b', 'a']) await ask(question, null, huge);

    expect(reads).toEqual(['a', 'b', 'a']);
  });

  it('takes no room any more once it is forgotten', async () => {
    const half = 'x'.repeat(15 * 1024 * 1024);
    for (let round = 0; round < 3; round += 1) {
      await ask('f', 'flag/f', half);
      memory.forget([{ kind: 'flag', name: 'f' }]);
    }

    for (const question of ['f', 'g', 'f']) await ask(question, `flag/${question}`, half);

    expect(reads).toEqual(['f', 'f', 'f', 'f', 'g']);
  });
});
