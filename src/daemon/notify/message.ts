import {
  LIVE_KILLS_TITLE,
  rampText,
  reminderText,
  sinceText,
} from '../../report/view/sentences.js';
import { judgeWithheld, type StandingName } from '../../model/verdict.js';
import { plural } from '../../report/values.js';
import { remedyText } from '../../report/view/remedy.js';
import { headlineText, STANDING_WORDS, whyText } from '../../report/view/verdict.js';
import { byEnvironment, WHY_WORDS } from '../../report/plan-report.js';
import { isApplied, isDrift, unsignedVerdict } from '../health.js';
import type { Doubt, StandingView } from '../standings.js';
import type { RunRecord, RunResult, SourceView } from '../view.js';

type RunKind =
  /** The run wrote something and nothing went wrong. */
  | 'changed'
  | 'failed'
  /** The first successful run after a failure. */
  | 'recovered'
  | 'reminder';

/** Reasons for a message about objects, sent once each time that one begins. */
type NoticeKind =
  /** A person has to act. */
  | 'held'
  | 'not-done'
  /** Not known any more; for a whole source, after three failed confirmations. */
  | 'unknown'
  /** Held, failed or unknown before, and now as git orders. */
  | 'live-again'
  | 'drift'
  | 'live-kill'
  /** A ramp takes no step, even if one is due. */
  | 'held-ramp'
  /** No allowed signer signed the newest commit, so that an older one stays enforced. */
  | 'unsigned';

export type MessageKind = RunKind | NoticeKind;

export interface Message {
  readonly kind: MessageKind;
  readonly source: SourceView;
  /** The newest run; the message need not be about it. */
  readonly run: RunRecord;
  /** One line instead of the summary of the run, for a message that is not about it; untrusted text. */
  readonly summary?: string;
  /** Objects of a notice; empty for a message about the whole run. */
  readonly objects: readonly ToldObject[];
}

export interface ToldObject {
  readonly id: string;
  /** A clause; untrusted text. */
  readonly says: string;
}

const FAILURES: ReadonlySet<RunResult> = new Set([
  'degraded',
  'refused',
  'invalid',
  'partial',
  'failed',
]);

const BAD = [
  ['failed', 'not-done'],
  ['unknown', 'unknown'],
  ['held', 'held'],
] as const satisfies readonly (readonly [StandingName, NoticeKind])[];

function isBad(name: StandingName): boolean {
  return BAD.some(([is]) => is === name);
}

function toldStanding({ id, standing }: StandingView): ToldObject {
  const remedy = 'remedy' in standing ? standing.remedy : null;
  return {
    id,
    says: remedy === null ? whyText(standing) : `${whyText(standing)} → ${remedyText(remedy)}`,
  };
}

/** Finds the objects in a notable state after a run, with one line each, whose last clause may be untrusted text. */
type Found = (plan: NonNullable<RunRecord['plan']>) => readonly ToldObject[];

const NOTICES: Readonly<Record<'drift' | 'live-kill' | 'held-ramp', Found>> = {
  drift: ({ changes, withheld }) => [
    ...changes
      .filter((change) => !isApplied(change) && isDrift(change))
      .map(({ id }) => ({ id, says: 'changed outside git, and not put back' })),
    // What a person has to decide is reported as held.
    ...withheld
      .filter((each) => isDrift(each) && judgeWithheld(each)?.is === 'waits')
      .map(({ id, why, wayOut }) => ({ id, says: `${WHY_WORDS[why]} → ${wayOut}` })),
  ],
  'live-kill': ({ liveKills = [] }) =>
    liveKills.map((kill) => ({
      id: kill.id,
      says: `${LIVE_KILLS_TITLE}: ${sinceText(kill)} → ${kill.wayOut}`,
    })),
  // `held` is null before a ramp begins, because no step is due then.
  'held-ramp': ({ ramps = [] }) =>
    ramps
      .filter(({ held }) => held !== null)
      .map((ramp) => ({ id: ramp.id, says: rampText(ramp) })),
};

/**
 * Decides after each run what to report: each change, a failure once however often it repeats, and its end; at most one
 * reminder each UTC day; and objects that have entered a notable state, once each time.
 */
export class MessageMemory {
  /** Source → the last reported failure that has not ended. */
  readonly #failing = new Map<string, string>();
  /** Source → id → the last reported standing of objects that are not live again. */
  readonly #standing = new Map<string, ReadonlyMap<string, StandingName>>();
  /** Sources of which nothing is known any more, as reported. */
  readonly #doubted = new Set<string>();
  /** Source → day of its last reminder. */
  readonly #reminded = new Map<string, string>();
  /** Source → the last reported commit that is not signed. */
  readonly #unsigned = new Map<string, string | undefined>();
  /** Source and kind → ids already reported and still in that state. */
  readonly #noticed = new Map<string, ReadonlySet<string>>();

  messagesFor(source: SourceView, run: RunRecord): Message[] {
    const kind = this.#kindOf(source.name, run);
    const reminders = byEnvironment(this.#remindersOf(source.name, run), source.environments);
    return [
      ...(kind ? [{ kind, source, run, objects: [] }] : []),
      ...(reminders.length > 0
        ? [{ kind: 'reminder' as const, source, run, objects: reminders }]
        : []),
      ...this.#noticesOf(source, run),
      ...this.messagesAbout(source),
    ];
  }

  /**
   * What became of the commits and objects since the last call: each that needs a person once, and the end of a
   * standing.
   */
  messagesAbout(source: SourceView): Message[] {
    const [run] = source.runs;
    if (run === undefined || !source.leader) return [];
    return [...this.#unsignedOf(source, run), ...this.#standingsOf(source, run)];
  }

  #unsignedOf(source: SourceView, run: RunRecord): Message[] {
    const { name, unsigned, seen } = source;
    const before = this.#unsigned.get(name);
    this.#unsigned.set(name, unsigned?.commit);
    // Where no signed commit is enforced instead, the run fails, which has a message of its own.
    if (unsigned === null || [before, seen?.commit].includes(unsigned.commit)) return [];
    const { headline, detail } = unsignedVerdict(unsigned, seen);
    return [{ kind: 'unsigned', source, run, summary: `${headline}. ${detail}`, objects: [] }];
  }

  #standingsOf(source: SourceView, run: RunRecord): Message[] {
    const { standings } = source;
    if (standings === null) return [];
    if (standings.doubt !== null) return this.#doubtOf(source, standings.doubt, run);
    const wasDoubted = this.#doubted.delete(source.name);
    const before = this.#standing.get(source.name) ?? new Map<string, StandingName>();
    const now = new Map(standings.objects.map(({ id, standing }) => [id, standing.is]));
    const ended = [...before.keys()].filter((id) => !now.has(id));
    this.#standing.set(
      source.name,
      new Map([...now].filter(([id, is]) => isBad(is) || before.has(id))),
    );
    const news = standings.objects.filter(
      ({ id, standing }) => isBad(standing.is) && before.get(id) !== standing.is,
    );
    const again = ended.map((id) => ({ id, says: STANDING_WORDS.live }));
    const summary = headlineText(standings);
    const whole = { id: source.name, says: `known again: ${summary}` };
    const told: [NoticeKind, readonly ToldObject[]][] = [
      ...BAD.map(([is, kind]): [NoticeKind, readonly ToldObject[]] => [
        kind,
        news.filter(({ standing }) => standing.is === is).map(toldStanding),
      ]),
      ['live-again', [...(wasDoubted ? [whole] : []), ...again]],
    ];
    return told.flatMap(([kind, objects]) =>
      objects.length === 0 ? [] : [{ kind, source, run, summary, objects }],
    );
  }

  /** Once for the whole source; the objects are as they were when they are known again. */
  #doubtOf(source: SourceView, doubt: Doubt, run: RunRecord): Message[] {
    if (this.#doubted.has(source.name)) return [];
    this.#doubted.add(source.name);
    const why = whyText({ is: 'unknown', ...doubt });
    const says = doubt.since === null ? why : `${why} since ${doubt.since}`;
    const objects = (source.standings?.environments ?? []).map(({ name, counts }) => ({
      id: name ?? 'workspace level',
      says: `${plural(counts.unknown, 'object')} ${says}`,
    }));
    const details = source.troubles.map(({ why: text }) => text).join('; ');
    return [{ kind: 'unknown', source, run, summary: details === '' ? says : details, objects }];
  }

  #kindOf(source: string, run: RunRecord): RunKind | undefined {
    // An interrupted run neither confirms nor ends a failure.
    if (run.result === 'interrupted') return wrote(run) ? 'changed' : undefined;
    const before = this.#failing.get(source);
    if (FAILURES.has(run.result)) {
      const failure = fingerprintOf(run);
      this.#failing.set(source, failure);
      return failure !== before || wrote(run) ? 'failed' : undefined;
    }
    this.#failing.delete(source);
    if (before !== undefined) return 'recovered';
    return wrote(run) ? 'changed' : undefined;
  }

  #remindersOf(source: string, { plan, startedAt }: RunRecord): readonly ToldObject[] {
    const day = startedAt.slice(0, 10);
    const due = plan?.reminders ?? [];
    if (due.length === 0 || this.#reminded.get(source) === day) return [];
    this.#reminded.set(source, day);
    return due.map((each) => ({ id: each.id, says: reminderText(each) }));
  }

  /** One message for each kind with news, and none after a run without a plan, which found no objects. */
  #noticesOf(source: SourceView, run: RunRecord): Message[] {
    const { plan } = run;
    if (plan === null) return [];
    return Object.entries(NOTICES).flatMap(([name, found]): Message[] => {
      const all = byEnvironment(found(plan), source.environments);
      const key = `${source.name} ${name}`;
      const before = this.#noticed.get(key) ?? new Set<string>();
      const now = new Set(all.map(({ id }) => id));
      // A partial run does not show that the other objects have recovered.
      this.#noticed.set(key, plan.observed === 'full' ? now : new Set([...before, ...now]));
      const objects = all.filter(({ id }) => !before.has(id));
      return objects.length === 0 ? [] : [{ kind: name as NoticeKind, source, run, objects }];
    });
  }
}

function wrote({ plan }: RunRecord): boolean {
  return plan?.changes.some(isApplied) ?? false;
}

/** Identifies a failure by cause and kind, without the numbers, times and commits around it. */
function fingerprintOf({ result, plan, text, summary }: RunRecord): string {
  if (plan === null) {
    // Lines and columns identify invalid specs; durations and retry counts vary between equal failures.
    const cause = summary.replace(/\b[0-9a-f]{7,64}\b|\d+/g, '#');
    return JSON.stringify([result, result === 'invalid' ? text : cause]);
  }
  const failed = plan.changes
    .filter((change) => !isApplied(change))
    .map(({ id, outcome, error }) => [id, outcome, error?.code, error?.status]);
  const guards = plan.guards?.map(({ guard, environment, id }) => [guard, environment, id]);
  return JSON.stringify([result, failed, guards]);
}
