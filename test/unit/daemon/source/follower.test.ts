import { describe, expect, it } from 'vitest';
import { FlagkeelError } from '../../../../src/errors.js';
import { Follower } from '../../../../src/daemon/source/triggers.js';
import type { Seen, Upstream } from '../../../../src/daemon/upstream/upstream.js';
import { HandTime } from '../../../support/hand-time.js';

const seen = (commit: string, localFiles: string | null = null): Seen => ({
  commit: { commit, subject: commit, committedAt: '2026-03-01T12:00:00Z' },
  localFiles,
});

/** An upstream in memory: it holds what the test says, and counts who looks. */
class MemoryUpstream implements Upstream {
  readonly kind = 'checkout';
  readonly location = 'memory';
  readonly branch = null;
  readonly directory = '/memory';
  now: Seen = seen('one');
  broken = false;
  looks = 0;
  hint: () => void = () => undefined;
  /** Looks under way end when this is called. */
  release: (() => void) | null = null;
  slow = false;

  async poll(): Promise<Seen> {
    this.looks += 1;
    if (this.slow) {
      await new Promise<void>((resolve) => {
        this.release = resolve;
      });
    }
    if (this.broken) throw new FlagkeelError('GIT', 'cannot fetch main: no route');
    return this.now;
  }

  async open(): Promise<never> {
    return Promise.reject(new Error('nobody opens it'));
  }

  follow(hint: () => void): () => Promise<void> {
    this.hint = hint;
    return async () => Promise.resolve();
  }
}

function follow(upstream: MemoryUpstream): {
  follower: Follower;
  news: string[];
  troubles: (string | null)[];
  time: HandTime;
} {
  const news: string[] = [];
  const troubles: (string | null)[] = [];
  const time = new HandTime();
  const follower = new Follower(upstream, {
    time,
    intervalMs: 1_000,
    jitterMs: 100,
    addsKill: async (before, after) =>
      Promise.resolve(!before.includes('kill') && after.includes('kill')),
    onChange: (trigger) => news.push(trigger),
    onPoll: (trouble) => troubles.push(trouble),
  });
  return { follower, news, troubles, time };
}

describe('a follower', () => {
  it('tells news and nothing else: the first look is none, nor is one that finds all as it was', async () => {
    const upstream = new MemoryUpstream();
    const { follower, news } = follow(upstream);
    await follower.poll();
    await follower.poll();
    expect(news).toEqual([]);

    upstream.now = seen('two');
    await follower.poll();
    upstream.now = seen('two', 'edited');
    await follower.poll();
    upstream.now = seen('two with a kill');
    await follower.poll();

    expect(news).toEqual(['commit', 'files', 'kill']);
  });

  it('looks by the clock, with jitter, also where nothing hints at anything', async () => {
    const upstream = new MemoryUpstream();
    const { follower, news, time } = follow(upstream);
    follower.start();
    const first = await time.pass();
    upstream.now = seen('two');

    expect([first, await time.pass()]).toEqual([1_050, 1_050]);
    expect(news).toEqual(['commit']);
    await follower.close();
  });

  it('makes two looks of a hundred hints: the one under way, and one that sees what came after', async () => {
    const upstream = new MemoryUpstream();
    upstream.slow = true;
    const { follower } = follow(upstream);
    follower.start();
    for (let times = 0; times < 100; times += 1) upstream.hint();
    upstream.now = seen('two');
    upstream.slow = false;
    upstream.release?.();
    await follower.poll();

    expect(follower.seen).toEqual(seen('two'));
    expect(upstream.looks).toBeLessThanOrEqual(3);
    await follower.close();
  });

  it('keeps what it saw when a look fails, and says when the trouble is over', async () => {
    const upstream = new MemoryUpstream();
    const { follower, news, troubles } = follow(upstream);
    await follower.poll();
    upstream.broken = true;
    await follower.poll();
    expect(follower.seen).toEqual(seen('one'));
    upstream.broken = false;
    upstream.now = seen('two');
    await follower.poll();

    expect(troubles).toEqual([null, 'cannot fetch main: no route', null]);
    expect(news).toEqual(['commit']);
  });
});
