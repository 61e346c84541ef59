import { expect, it, vi } from 'vitest';
import { tellDaemon } from '../support/stories/daemon-play.js';
import { SERVICE_KINDS } from '../support/stories/service.js';
import { storyOf, textOf, type Told } from '../support/stories/story.js';
import { lawSettings } from './law-settings.js';

/** Stories of a person against a daemon; the story of a seed is the same for each of the services. */
const { numRuns, seed } = lawSettings('daemon stories', 1);
const quietRuns = Number(process.env['FLAGKEEL_QUIET_RUNS'] ?? 3);
vi.setConfig({ testTimeout: 120_000 + numRuns * 60_000 });

/** Much of the time goes into waiting for git, and for an outage to be given up. */
const AT_ONCE = 3;
const MOST_BROKEN = 5;

it.each(SERVICE_KINDS)(
  'a daemon overwrites nothing that somebody did by hand, tells all that it wrote, and comes to rest: %s',
  async (kind) => {
    const waiting = Array.from({ length: numRuns }, (_, index) => storyOf(seed + index));
    const broken: Told[] = [];
    let runs = 0;
    const work = async (): Promise<void> => {
      for (let story = waiting.shift(); story; story = waiting.shift()) {
        if (broken.length >= MOST_BROKEN) return;
        const told = await tellDaemon(story, kind, quietRuns);
        runs += told.runs;
        if (told.breaches.length > 0) broken.push(told);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));

    process.stdout.write(`${kind}: ${numRuns - waiting.length} stories, ${runs} runs\n`);
    expect(broken.map(textOf).join('\n\n')).toBe('');
  },
);
