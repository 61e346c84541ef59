import { grouped } from '../../model/collections.js';
import type { Plan } from '../../model/plan.js';
import type { ObjectId } from '../../model/ref.js';
import {
  countsOf,
  isConverged,
  type Standing,
  type StandingName,
  those,
  type WaitsFor,
  WHY,
} from '../../model/verdict.js';
import { byEnvironment, type PlanReport, shownEnvironments } from '../plan-report.js';
import { clean } from '../sanitize.js';
import { namesText, plural } from '../values.js';
import type { Remedy, Way } from '../../model/remedy.js';
import { shellWord } from '../../platform/shell.js';
import { cut } from '../text/layout.js';

/** `In sync: 43 objects equal`, or the parts that are not, the worst first. Nothing else may say that something is in sync. */
export function wholeText(report: PlanReport): string {
  const { verdict, plan } = report;
  const { live } = countsOf(verdict);
  const limit = asFarAsCompared(plan);
  const isReplaced = report.behind && live === 0;
  const why = isReplaced ? ' (later commits changed all that the review of this one covers)' : '';
  if (verdict.whole === 'live') return equalText(live, limit) + why;
  const places = shownEnvironments(report);
  const parts = WORST_FIRST.flatMap((name) =>
    partText(byEnvironment(those(verdict, name), places)),
  );
  const rest = live === 0 ? [] : [`${plural(live, 'other object')} in sync${limit}`];
  const title = verdict.whole === 'waits' ? 'Waiting' : 'Not in sync';
  return `${title}: ${[...parts, ...rest].join('; ')}`;
}

export const STANDING_WORDS: Readonly<Record<StandingName, string>> = {
  live: 'in sync',
  waits: 'waiting',
  held: 'held for a person',
  unknown: 'unknown',
  failed: 'failed',
};

interface Counted {
  readonly whole: StandingName;
  readonly counts: Readonly<Record<StandingName, number>>;
}

/** The whole in one short line without names: `1 object failed, 2 objects waiting, 40 in sync`. */
export function headlineText({ whole, counts }: Counted): string {
  if (whole === 'live') return equalText(counts.live);
  const parts = WORST_FIRST.flatMap((name) =>
    counts[name] === 0 ? [] : [`${plural(counts[name], 'object')} ${STANDING_WORDS[name]}`],
  );
  const rest = counts.live === 0 ? [] : [`${String(counts.live)} ${STANDING_WORDS.live}`];
  return [...parts, ...rest].join(', ');
}

function equalText(count: number, limit = ''): string {
  return count === 0 ? 'Nothing left to do' : `In sync${limit}: ${plural(count, 'object')} equal`;
}

const WORST_FIRST = ['failed', 'unknown', 'held', 'waits'] as const;

function partText(found: readonly (NotLive & { readonly id: ObjectId })[]): string[] {
  return [...grouped(found, whyText)].map(([why, all]) => {
    const ids = all.map(({ id }) => id);
    const remedies = all.flatMap((each) =>
      each.is === 'held' || each.is === 'failed' ? [each.remedy] : [],
    );
    const way = commonWay(remedies);
    return `${namesText(ids, MAX_NAMED)} ${why}${way === undefined ? '' : `: ${clean(way)}`}`;
  });
}

type NotLive = Exclude<Standing, { is: 'live' }>;

export function whyText(standing: NotLive): string {
  const clauses: Readonly<Record<string, string>> = WHY[standing.is];
  const until = standing.is === 'waits' ? standing.until : null;
  return `${clauses[standing.why] ?? ''}${until === null ? '' : ` until ${clean(until)}`}`;
}

const MAX_NAMED = 3;

/** @param isPart whether filters left kills out. */
export function killsText(failed: number, isPart: boolean): string {
  if (failed > 0) return `${String(failed)} not live`;
  return `All kills that git orders${isPart ? ' in this selection' : ''} are live`;
}

export function asFarAsCompared({ notCompared }: Pick<Plan, 'notCompared'>): string {
  return notCompared.length === 0 ? '' : ' as far as was compared';
}

/** Waits that end with a run of this commit. The others may last as long as people like, and leave a commit a success. */
const PENDING: ReadonlySet<WaitsFor> = new Set(['apply', 'window', 'suspended', 'another-object']);

/** Of an applied commit. The words contain no names, numbers of commits or untrusted text. */
export function appliedStatus(
  place: Counted,
  standings: Iterable<Standing>,
): { readonly state: 'pending' | 'success' | 'failure'; readonly description: string } {
  const description = headlineText(place);
  // The commit is not on the service as written, though nothing need have broken.
  if (!isConverged(place)) return { state: 'failure', description };
  const isPending = [...standings].some(
    (standing) => standing.is === 'waits' && PENDING.has(standing.why),
  );
  return { state: isPending ? 'pending' : 'success', description };
}

/** Columns for the obstacle: enough for any that is meant to be read. The ways out are never cut. */
const BECAUSE_COLUMNS = 400;

/** The obstacle, then its ways out, with commands between backticks. Untrusted text: callers clean it. */
export function remedyText({ because, ways }: Remedy): string {
  const obstacle = because === null ? [] : [cut(because, BECAUSE_COLUMNS)];
  const out = ways.length === 0 ? [] : [ways.map(wayText).join(', or ')];
  return [...obstacle, ...out].join('; ');
}

function wayText(way: Way): string {
  if ('run' in way) return `run ${commandText(way.run)} to ${way.to}${onceText(way)}`;
  if ('write' in way) {
    const lines = way.write.split('\n').map((line) => `\`${line}\``);
    const under = way.under === undefined ? '' : ` under ${way.under}`;
    return `write ${lines.join(' and ')}${under} into ${way.file ?? 'its file'} to ${way.to}`;
  }
  return 'edit' in way ? way.edit : way.elsewhere;
}

function onceText({ once }: { readonly once?: string }): string {
  return once === undefined ? '' : `, once ${once}`;
}

export function commandText(args: readonly string[]): string {
  return `\`${['flagkeel', ...args].map(shellWord).join(' ')}\``;
}

/** The first way out of several objects at once, its command for a few of many; undefined if they have none in common. */
export function commonWay(remedies: readonly Remedy[]): string | undefined {
  const firsts = remedies.map(({ ways: [first] }) => first);
  const [first] = firsts;
  if (first === undefined) return undefined;
  if ('run' in first) {
    const at = first.run.indexOf('--only');
    const head = at === -1 ? first.run : first.run.slice(0, at);
    const tails = firsts.map((way) => (way && 'run' in way ? tailOf(way.run, head) : undefined));
    if (tails.includes(undefined)) return undefined;
    const only = [...new Set(tails.flatMap((tail) => tail ?? []))];
    const named = only.slice(0, MAX_NAMED);
    const command = commandText([...head, ...named.flatMap((each) => ['--only', each])]);
    const left = only.length - named.length;
    const others = left === 0 ? '' : `, and likewise for ${String(left)} more`;
    return command + others + onceText(first);
  }
  const texts = new Set(firsts.map((way) => way && wayText(way)));
  return texts.size === 1 ? wayText(first) : undefined;
}

function tailOf(args: readonly string[], head: readonly string[]): string[] | undefined {
  const isSame = head.every((arg, at) => args[at] === arg);
  const rest = args.slice(head.length);
  const isFilter = rest.every((arg, at) => at % 2 === 1 || arg === '--only');
  return isSame && isFilter ? rest.filter((_, at) => at % 2 === 1) : undefined;
}

/** As `flagkeel/production (config)`. @param environment null for the whole. @param where may be empty. */
export function statusName(name: string, environment: string | null, where: string): string {
  const within = where === '' ? '' : ` (${clean(where)})`;
  return `${name}${environment === null ? '' : `/${clean(environment)}`}${within}`;
}
