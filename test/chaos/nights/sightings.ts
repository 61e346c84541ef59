import type { StatusDocument } from '../../../src/daemon/http/view-routes.js';
import type { LogLine, Watching } from '../../support/watching.js';

/** What a person can see during a night, each as a pattern; without one, that place is not asked. */
export interface Signs {
  /** Of the JSON of one line of the log. */
  readonly log?: RegExp;
  /** Of the headline and the detail that lead the page and `/status`. */
  readonly page?: RegExp;
  /** Of the status and the text of `/readyz`. */
  readonly readyz?: RegExp;
  /** Of one line of `/metrics`. */
  readonly metric?: RegExp;
}

type Place = keyof Signs;

export interface Sighting {
  /** As it was read there. */
  readonly text: string;
  readonly afterMs: number;
}

export type Sightings = Readonly<Partial<Record<Place, Sighting>>>;

const PATIENCE_MS = 30_000;
const LOOK_EVERY_MS = 50;

/** Looks at every place until each has shown its sign once. Times count from the call. */
export async function see(watching: Watching, signs: Signs): Promise<Sightings> {
  const start = performance.now();
  const before = watching.lines.length;
  const url = await urlOf(watching);
  const seen: Partial<Record<Place, Sighting>> = {};
  const places = Object.keys(signs) as Place[];
  while (places.some((place) => seen[place] === undefined)) {
    for (const place of places) {
      const sign = signs[place];
      if (sign === undefined || seen[place] !== undefined) continue;
      const texts = place === 'log' ? logAfter(watching, before) : await TEXTS[place](url);
      const text = texts.find((each) => sign.test(each));
      if (text !== undefined) seen[place] = { text, afterMs: performance.now() - start };
    }
    if (performance.now() - start > PATIENCE_MS) {
      const missing = places.filter((place) => seen[place] === undefined);
      const said = await Promise.all(
        missing.map(async (each) => (each === 'log' ? [] : TEXTS[each](url))),
      );
      throw new Error(
        `${missing.join()} showed no sign, but ${said.flat().join('\n')}\n${watching.tail}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return seen;
}

/** Resolves with the milliseconds until everything is well again, by the daemon's word and by `isWell`. */
export async function wellAfter(
  watching: Watching,
  isWell: () => Promise<boolean>,
): Promise<number> {
  const start = performance.now();
  await watching.until(isWell, 'the service to be as git says');
  await see(watching, { readyz: /^200/, page: /^fine/ });
  return performance.now() - start;
}

export async function urlOf(watching: Watching): Promise<string> {
  const line = await watching.line(({ msg }) => msg === 'watching', 'the start');
  return String(line['url']);
}

function logAfter(watching: Watching, before: number): string[] {
  return watching.lines.slice(before).map((line: LogLine) => JSON.stringify(line));
}

const TEXTS: Record<Exclude<Place, 'log'>, (url: string) => Promise<string[]>> = {
  page: async (url) => {
    const status = (await (await fetch(`${url}/status`)).json()) as StatusDocument;
    const page = await (await fetch(url)).text();
    const { level, headline, detail } = status.verdict;
    // A page that says something else would be a second verdict.
    return page.includes(headline) ? [`${level}: ${headline}. ${detail ?? ''}`] : [];
  },
  readyz: async (url) => {
    const answer = await fetch(`${url}/readyz`);
    return [`${answer.status} ${(await answer.text()).trim()}`];
  },
  metric: async (url) => (await (await fetch(`${url}/metrics`)).text()).split('\n'),
};
