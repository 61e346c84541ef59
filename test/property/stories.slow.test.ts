import { expect, it, vi } from 'vitest';
import { SERVICE_KINDS, startStoryService, type StoryService } from '../support/stories/service.js';
import { storyOf, tell, textOf, type Story, type Told } from '../support/stories/story.js';
import { lawSettings } from './law-settings.js';

/** Stories told to each of the services; the story of a seed is the same for all of them. */
const { numRuns, seed } = lawSettings('stories', 2);
// A story costs some eight runs of the command, each with its own git processes.
vi.setConfig({ testTimeout: 120_000 + numRuns * 10_000 });

/** Much of the time goes into waiting for git. */
const AT_ONCE = 3;
const MOST_EVENTS = 10;
/** After so many there is enough to look at. */
const MOST_BROKEN = 5;

it.each(SERVICE_KINDS)(
  'a story of commits and live edits is told as it was, and nothing happens in it that no rule allows: %s',
  async (kind) => {
    const service = await startStoryService(kind, numRuns + MOST_BROKEN * MOST_EVENTS);
    const waiting = Array.from({ length: numRuns }, (_, index) => storyOf(seed + index));
    const broken: Told[] = [];
    let runs = 0;
    const startedAt = performance.now();
    const work = async (): Promise<void> => {
      for (let story = waiting.shift(); story; story = waiting.shift()) {
        if (broken.length >= MOST_BROKEN) return;
        const told = await tell(story, service);
        runs += told.runs;
        if (told.breaches.length > 0) broken.push(await shortest(story, told, service));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    await service.stop();

    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    process.stdout.write(
      `${kind}: ${numRuns - waiting.length} stories, ${runs} runs, ${seconds} s\n`,
    );
    expect(broken.map(textOf).join('\n\n')).toBe('');
  },
);

/** The story without the events that it can do without. */
async function shortest(story: Story, told: Told, service: StoryService): Promise<Told> {
  let best = { story, told };
  for (let at = story.events.length - 1; at >= 0; at -= 1) {
    const shorter = { ...story, events: best.story.events.filter((_, index) => index !== at) };
    const retold = await tell(shorter, service);
    if (retold.breaches.length > 0) best = { story: shorter, told: retold };
  }
  return best.told;
}
