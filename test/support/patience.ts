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

/** Looks again until it is true. @throws Error it was not within the time; `what` says what it waited for. */
export async function until(
  isTrue: () => boolean | Promise<boolean>,
  what: () => string,
  withinMs = 90_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what()}`);
    await pause(50);
  }
}
