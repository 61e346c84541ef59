import {
  breachesOfStandings,
  isAllLive,
  liveIn,
  mustNotWait,
  type StandingsDocument,
  type Truth,
} from './law.js';

/** The one form of words that says that everything is as git orders. */
const CLAIM = /\bIn sync\b/;

export interface RunSaid {
  readonly exitCode: number;
  readonly isDry: boolean;
  readonly format: 'text' | 'json' | 'markdown';
  readonly stdout: string;
}

interface RunDocument {
  readonly error?: object;
  readonly converged?: boolean;
  readonly verdict?: StandingsDocument;
}

const EXIT_OK = 0;
const EXIT_HELD = 8;

/** @param why the run cannot say anything; null if service, key, specs and places are there. */
export function breachesOfRun(said: RunSaid, truth: Truth, expected: number | null): string[] {
  const { exitCode, isDry, format, stdout } = said;
  if (expected !== null) {
    const isSaid = CLAIM.test(stdout) || /\b(?:converged": true|"whole": "live")/.test(stdout);
    return [
      ...(exitCode === expected ? [] : [`exit ${exitCode}, and not ${expected}`]),
      ...(isSaid ? [`says that all is live:\n${stdout}`] : []),
    ];
  }
  const open = mustNotWait(truth);
  const found = breachesOfExit(exitCode, isDry, truth);
  if (format === 'json') {
    const document = JSON.parse(stdout) as RunDocument;
    if (document.error) return [...found, `an error: ${JSON.stringify(document.error)}`];
    return [...found, ...breachesOfDocument(document, truth)];
  }
  const isClaimed = CLAIM.test(stdout);
  if (isClaimed && !isAllLive(truth)) found.push(`${format} says "In sync":\n${stdout}`);
  if (!isClaimed && isAllLive(truth) && !isDry) found.push(`${format} does not say "In sync"`);
  const isQuiet = /^### ✅ [^\n]*writes nothing$/m.test(stdout);
  if (isQuiet && open.length > 0) found.push(`Markdown has nothing to do:\n${stdout}`);
  return found;
}

function breachesOfExit(exitCode: number, isDry: boolean, truth: Truth): string[] {
  const open = mustNotWait(truth);
  if (isDry || truth.orders.broken.size > 0) return [];
  if (exitCode === EXIT_OK && open.length > 0) return [`exit 0, and not live: ${open.join()}`];
  const mayBeHeld = [...truth.waiting.values()].some((each) => each !== 'may');
  if (exitCode === EXIT_HELD && !mayBeHeld && truth.remains.size === 0)
    return ['exit 8, and nothing is held'];
  return [EXIT_OK, EXIT_HELD].includes(exitCode) ? [] : [`exit ${exitCode}`];
}

export function breachesOfDocument({ verdict, converged }: RunDocument, truth: Truth): string[] {
  if (verdict === undefined) return [];
  const isConverged = ['live', 'waits'].includes(verdict.whole);
  return [
    ...breachesOfStandings(verdict, truth),
    ...(converged === isConverged ? [] : [`converged: ${String(converged)}, ${verdict.whole}`]),
  ];
}

/** A message as a receiver of JSON gets it. */
export interface MessageSaid {
  readonly event: string;
  readonly result: string;
  readonly summary: string;
  readonly objects: readonly { readonly id: string }[];
}

/** `recovered` speaks of runs, and may be sent while something is held; `live-again` speaks of each object it names. */
export function breachesOfMessages(messages: readonly MessageSaid[], truth: Truth): string[] {
  return messages.flatMap(({ event, result, summary, objects }) => {
    const wrong = objects.filter(({ id }) => truth.differences.has(id)).map(({ id }) => id);
    return [
      ...(CLAIM.test(summary) && !isAllLive(truth) ? [`the message ${event}: ${summary}`] : []),
      ...(event === 'live-again' && wrong.length > 0 ? [`live again: ${wrong.join()}`] : []),
      ...(event === 'recovered' && FAILED.has(result) ? [`recovered, but ${result}`] : []),
    ];
  });
}

const FAILED = new Set(['degraded', 'refused', 'invalid', 'partial', 'failed']);

/** What a daemon shows at one moment. */
interface Shown {
  readonly page: string;
  readonly status: StatusDocument;
  readonly readyz: number;
  readonly metrics: string;
}

interface StatusDocument {
  readonly verdict: { readonly level: string; readonly headline: string };
  readonly sources: readonly {
    readonly ready: boolean;
    readonly standings: StandingsDocument | null;
  }[];
}

export async function shownBy(url: string): Promise<Shown> {
  const [page, status, readyz, metrics] = await Promise.all(
    ['/', '/status', '/readyz', '/metrics'].map(async (path) => {
      const answer = await fetch(url + path);
      return { code: answer.status, text: await answer.text() };
    }),
  );
  return {
    page: page?.text ?? '',
    status: JSON.parse(status?.text ?? '') as StatusDocument,
    readyz: readyz?.code ?? 0,
    metrics: metrics?.text ?? '',
  };
}

const headlineIn = (page: string): string => /<h1>([^<]*)<\/h1>/.exec(page)?.[1] ?? '';

/** Words of the row of each environment. */
function rowsIn(page: string): ReadonlyMap<string, string> {
  const rows = page.matchAll(/<th scope="row">(.*?)<\/th>\s*<td>(.*?)<\/td>/gs);
  const bare = (text = ''): string =>
    text
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim();
  return new Map([...rows].map(([, name, state]) => [bare(name), bare(state)]));
}

function objectsIn(metrics: string, environment: string, standing: string): number {
  const line = metrics
    .split('\n')
    .find(
      (each) =>
        each.startsWith('flagkeel_objects{') &&
        each.includes(`environment="${environment}"`) &&
        each.includes(`standing="${standing}"`),
    );
  return Number(line?.split(' ').at(-1) ?? 0);
}

const readyIn = (metrics: string): number =>
  Number(/^flagkeel_ready\{[^}]*\} (\d)$/m.exec(metrics)?.[1] ?? -1);

/** Of a daemon that has just looked at everything, and whose service, key and checkout are there. */
export function breachesOfShown(shown: Shown, truth: Truth): string[] {
  const { page, status, readyz, metrics } = shown;
  const { orders } = truth;
  const headline = headlineIn(page);
  const found: string[] = [];
  const isClaimed = CLAIM.test(headline);
  const isDue = isAllLive(truth) && !orders.isSuspended;
  if (isClaimed !== isDue) found.push(`the page says "${headline}"`);
  if (status.verdict.headline !== headline) found.push(`status: "${status.verdict.headline}"`);
  if ((status.verdict.level === 'fine') !== isDue)
    found.push(`the level is ${status.verdict.level}`);
  const [source] = status.sources;
  if (!source?.standings) return [...found, 'no standings'];
  found.push(...breachesOfStandings(source.standings, truth).map((each) => `status: ${each}`));
  if (readyz !== 200 || readyIn(metrics) !== 1 || !source.ready) found.push(`readyz: ${readyz}`);
  const rows = rowsIn(page);
  for (const environment of orders.environments) {
    const live = objectsIn(metrics, environment, 'live');
    const is = liveIn(truth, environment);
    if (orders.broken.size === 0 && live !== is)
      found.push(`metrics: ${live} live in ${environment}, and not ${is}`);
    const isDiffering = [...truth.differences.keys()].some((id) => id.endsWith(`@${environment}`));
    const row = rows.get(environment) ?? '';
    if (isDiffering && /^\W*in sync/i.test(row)) found.push(`the row of ${environment}: ${row}`);
  }
  return found;
}

/** While service, key, place or checkout is away. @param isLong whether long enough that nothing counts any more. */
export function breachesOfAway(shown: Shown, isLong: boolean): string[] {
  const { page, status, readyz, metrics } = shown;
  const found: string[] = [];
  const headline = headlineIn(page);
  if (CLAIM.test(headline) || CLAIM.test(status.verdict.headline))
    found.push(`the page says "${headline}"`);
  if (['fine', 'busy'].includes(status.verdict.level))
    found.push(`the level is ${status.verdict.level}`);
  if (readyz !== 503 || readyIn(metrics) !== 0) found.push(`readyz: ${readyz}`);
  if (!isLong) return found;
  const { counts = {}, whole, objects = [] } = status.sources[0]?.standings ?? {};
  if (whole !== 'unknown') found.push(`the whole is ${whole ?? 'nothing'}`);
  const known = Object.entries(counts).filter(([name, count]) => name !== 'unknown' && count > 0);
  if (known.length > 0) found.push(`known: ${JSON.stringify(known)}`);
  for (const each of objects) if (each.is !== 'unknown') found.push(`${each.id} is ${each.is}`);
  const live = /^flagkeel_objects\{.*standing="(?:live|waits|held|failed)".*\} [1-9]/m.exec(
    metrics,
  );
  if (live) found.push(`metrics: ${live[0]}`);
  const rows = [...rowsIn(page)].filter(([, text]) => /^\W*in sync/.test(text));
  if (rows.length > 0) found.push(`rows: ${JSON.stringify(rows)}`);
  return found;
}
