import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { StatusDocument } from '../../../src/daemon/http/view-routes.js';
import type { LogLine, Watching } from '../../support/watching.js';

/** What a person can see during a night, each as a pattern. */
export interface Signs {
  /** Of the JSON of one line of the log. */
  readonly log: RegExp;
  /** Of the headline and the detail that lead the page and `/status`. */
  readonly page: RegExp;
  /** Of the status and the text of `/readyz`; or it is 200 even when all else has shown its sign. */
  readonly readyz: RegExp | 'stays 200';
  /** Of one line of `/metrics`. */
  readonly metric: RegExp;
  /** Names of alerts whose condition the metrics meet. */
  readonly alerts: readonly string[];
}

type Place = keyof Signs;

export interface Sighting {
  /** As it was read there. */
  readonly text: string;
  readonly afterMs: number;
}

export type Sightings = Readonly<Record<Place, Sighting>>;

const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 50;

/** Looks at every place until each has shown its sign once. Times count from the call. */
export async function seeAll(watching: Watching, signs: Signs): Promise<Sightings> {
  const { readyz } = signs;
  if (readyz !== 'stays 200') return see(watching, { ...signs, readyz });
  const { readyz: _, ...others } = signs;
  const seen = await see(watching, others);
  const [text = ''] = await TEXTS.readyz(await urlOf(watching));
  if (!text.startsWith('200')) throw new Error(`/readyz does not stay 200: ${text}`);
  return { ...seen, readyz: { text, afterMs: 0 } };
}

type Patterns = Partial<Record<Exclude<Place, 'alerts'>, RegExp> & Pick<Signs, 'alerts'>>;

async function see<S extends Patterns>(
  watching: Watching,
  signs: S,
): Promise<Readonly<Record<keyof S & Place, Sighting>>> {
  const start = performance.now();
  const before = watching.lines.length;
  const url = await urlOf(watching);
  const metricsBefore = await metricsOf(url);
  const waiting = new Set(signs.alerts);
  const textAt = async (place: Place): Promise<string | undefined> => {
    if (place === 'alerts') {
      const metrics = await metricsOf(url);
      for (const alert of waiting) if (holds(alert, metrics, metricsBefore)) waiting.delete(alert);
      return waiting.size === 0 ? signs.alerts?.join() : undefined;
    }
    const texts = place === 'log' ? logAfter(watching, before) : await TEXTS[place](url);
    return texts.find((each) => signs[place]?.test(each));
  };
  const seen: Partial<Record<Place, Sighting>> = {};
  const places = Object.keys(signs) as Place[];
  for (;;) {
    for (const place of places.filter((each) => seen[each] === undefined)) {
      const text = await textAt(place);
      if (text !== undefined) seen[place] = { text, afterMs: performance.now() - start };
    }
    const missing = places.filter((place) => seen[place] === undefined);
    if (missing.length === 0) return seen as Record<Place, Sighting>;
    if (performance.now() - start > PATIENCE_MS) {
      const said = await Promise.all(
        missing.map(async (each) => (each === 'log' ? [] : TEXTS[each](url))),
      );
      throw new Error(
        `${missing.join()} showed no sign, but ${said.flat().join('\n')}\n${watching.tail}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
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
  metric: metricsOf,
  alerts: metricsOf,
};

async function metricsOf(url: string): Promise<string[]> {
  return (await (await fetch(`${url}/metrics`)).text()).split('\n');
}

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

const FILE = new URL('../../../deploy/prometheus/alerts.yaml', import.meta.url);

const { groups } = parse(readFileSync(FILE, 'utf8')) as Rules;

/** A metric, the values of one of its labels, and the comparison; `increase` compares with the value at the start. */
const CONDITION =
  /^(?:sum by \([^)]*\) )?\(?(increase)?\(?(flagkeel_\w+)(?:\{(\w+)=~?"([^"]*)"\})?(?:\[\w+\])?\)* (==|!=|>=|>) (\d+)/;

/**
 * Whether the expression of an alert holds for a scrape, apart from waits: not for as long as `for` says, from the first
 * second of a lag on, and also beside progress.
 *
 * @param lines of `/metrics`; `before` are those of the beginning.
 */
function holds(alert: string, lines: readonly string[], before: readonly string[]): boolean {
  const rule = groups.flatMap(({ rules }) => rules).find((each) => each.alert === alert);
  const found = CONDITION.exec(rule?.expr ?? '');
  if (found === null) throw new Error(`no condition of ${alert} can be read: ${rule?.expr ?? ''}`);
  const [, increase, metric = '', label, values = '', comparison, number] = found;
  const of = (all: readonly string[]): number | undefined => {
    const such = all.filter((line) => {
      const [, name, labels = ''] = /^(\w+)(\{.*\})? /.exec(line) ?? [];
      const isSuch = label === undefined || new RegExp(`[{,]${label}="(${values})"`).test(labels);
      return name === metric && isSuch;
    });
    if (such.length === 0) return undefined;
    return such.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  const value = of(lines);
  if (value === undefined) return false;
  const bound = metric.endsWith('_seconds') ? 0 : Number(number);
  const compared = increase === undefined ? value : value - (of(before) ?? 0);
  switch (comparison) {
    case '==':
      return compared === bound;
    case '!=':
      return compared !== bound;
    case '>=':
      return compared >= bound;
    default:
      return compared > bound;
  }
}
