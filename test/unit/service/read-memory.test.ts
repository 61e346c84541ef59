import { describe, expect, it } from 'vitest';
import { ReadMemory } from '../../../src/service/read-memory.js';

function memoryOver(store: { version: () => number | null }): {
  memory: ReadMemory<string>;
  reads: string[];
} {
  return { memory: new ReadMemory<string>(store, (text) => text.length), reads: [] };
}

describe('what was read', () => {
  it('is not read again until something changes', async () => {
    let version = 1;
    const { memory, reads } = memoryOver({ version: () => version });
    const ask = async (): Promise<string> =>
      memory.recall('a', async () => {
        reads.push('a');
        return Promise.resolve(`a at ${version}`);
      });

    expect([await ask(), await ask()]).toEqual(['a at 1', 'a at 1']);
    version = 2;
    expect(await ask()).toBe('a at 2');
    expect(reads).toHaveLength(2);
  });

  it('is not kept when a change came in while it was read', async () => {
    let version = 1;
    const { memory } = memoryOver({ version: () => version });

    await memory.recall('a', async () => {
      version = 2;
      return Promise.resolve('of before');
    });

    expect(await memory.recall('a', async () => Promise.resolve('of after'))).toBe('of after');
  });

  it('is always read again where other processes write too', async () => {
    const { memory } = memoryOver({ version: () => null });

    await memory.recall('a', async () => Promise.resolve('first'));

    expect(await memory.recall('a', async () => Promise.resolve('second'))).toBe('second');
  });

  it('is forgotten, not grown without end', async () => {
    const { memory, reads } = memoryOver({ version: () => 1 });
    const huge = 'x'.repeat(20 * 1024 * 1024);
    const ask = async (key: string): Promise<string> =>
      memory.recall(key, async () => {
        reads.push(key);
        return Promise.resolve(huge);
      });

    for (const key of ['a', 'b', 'a']) await ask(key);

    expect(reads).toEqual(['a', 'b', 'a']);
  });
});
