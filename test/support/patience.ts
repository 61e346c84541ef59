import { setTimeout as pause } from 'node:timers/promises';

/** Tries again until it goes well. @throws the error of the last of the tries. */
export async function patiently<T>(
  work: () => T | Promise<T>,
  { tries = 50, everyMs = 100 } = {},
): Promise<T> {
  for (let left = tries; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left === 0) throw error;
      await pause(everyMs);
    }
  }
}

/** Looks again until there is something, which it returns. @throws Error there was nothing in time; `what` says of what. */
export async function until<T>(
  look: () => T | Promise<T>,
  what: () => string,
  withinMs = 90_000,
): Promise<Exclude<T, false | undefined>> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== false && found !== undefined) return found as Exclude<T, false | undefined>;
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what()}`);
    await pause(50);
  }
}
