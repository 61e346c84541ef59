import {
  LIVE_KILLS_TITLE,
  rampText,
  reminderText,
  sinceText,
} from '../../report/view/sentences.js';
import { keptIn } from '../../model/collections.js';
import { isAmong } from '../../model/ref.js';
import { judgeWithheld, type StandingName } from '../../model/verdict.js';
import { plural } from '../../report/values.js';
import { remedyText, headlineText, STANDING_WORDS, whyText } from '../../report/view/verdict.js';
import { byEnvironment, WHY_WORDS } from '../../report/plan-report.js';
import { causeOf, isApplied, isDrift, unsignedVerdict } from '../health.js';
import type { Doubt, StandingView } from '../standings.js';
import type { RunRecord, RunResult, SourceView } from '../view.js';

/** About a run: `recovered` is the first successful one after a failure. */
type RunKind = 'changed' | 'failed' | 'recovered' | 'reminder';

/** About objects, sent once each time that such a state begins; `unknown` may be about a whole source. */
type NoticeKind = 'held' | 'not-done' | 'unknown' | 'live-again' | keyof typeof NOTICES;

export type MessageKind = RunKind | NoticeKind | 'unsigned';

export interface Message {
  readonly kind: MessageKind;
  readonly source: SourceView;
  /** The newest one; the message need not be about it. */
  readonly run: RunRecord;
  /** One line instead of the summary of the run, for a message that is not about it; untrusted text. */
  readonly summary?: string;
  readonly objects: readonly ToldObject[];
}

export interface ToldObject {
  readonly id: string;
  readonly says: string;
}

const FAILURES: readonly RunResult[] = ['degraded', 'refused', 'invalid', 'partial', 'failed'];

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
  const why = whyText(standing);
  return { id, says: remedy === null ? why : `${why} → ${remedyText(remedy)}` };
}

type Found = (plan: NonNullable<RunRecord['plan']>) => readonly ToldObject[];

const NOTICES = {
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
} satisfies Readonly<Record<string, Found>>;

interface Reported {
  /** The last failure that has not ended. */
  failure?: { readonly result: RunResult; readonly cause: string };
  /** By id, of objects that are not live again. */
  standing: ReadonlyMap<string, StandingName>;
  isDoubted: boolean;
  reminded?: string;
  unsigned?: string | undefined;
  /** Kind → ids that are still in that state. */
  readonly noticed: Map<string, ReadonlySet<string>>;
}

/** Decides what to report: each change, a failure once however often it repeats, and its end; and each new state once. */
export class MessageMemory {
  readonly #sources = new Map<string, Reported>();

  messagesFor(source: SourceView, run: RunRecord): Message[] {
    const reported = this.#of(source);
    const kind = kindOf(reported, run);
    const reminders = byEnvironment(remindersOf(reported, run), source.environments);
    return [
      ...(kind ? [{ kind, source, run, objects: [] }] : []),
      ...(reminders.length > 0
        ? [{ kind: 'reminder' as const, source, run, objects: reminders }]
        : []),
      ...noticesOf(reported, source, run),
      ...this.messagesAbout(source),
    ];
  }

  messagesAbout(source: SourceView): Message[] {
    const [run] = source.runs;
    if (run === undefined) return [];
    const reported = this.#of(source);
    if (!source.leader) return follow(reported, source, run);
    return [...unsignedOf(reported, source, run), ...standingsOf(reported, source, run)];
  }

  #of({ name }: SourceView): Reported {
    return keptIn(this.#sources, name, () => {
      return { standing: new Map(), isDoubted: false, noticed: new Map() };
    });
  }
}

/**
 * Remembers what another replica reports. Once this one leads, it reports again what still lasts, because the one before
 * may have died before it did, and reports what has ended.
 */
function follow(reported: Reported, { standings }: SourceView, { result }: RunRecord): [] {
  if (FAILURES.includes(result)) reported.failure ??= { result, cause: '' };
  else if (!leavesFailure(reported, result)) delete reported.failure;
  reported.noticed.clear();
  if (standings?.doubt !== null) return [];
  reported.isDoubted = false;
  const bad = standings.objects.filter(({ standing }) => isBad(standing.is));
  reported.standing = new Map(bad.map(({ id }) => [id, reported.standing.get(id) ?? 'waits']));
  return [];
}

function unsignedOf(reported: Reported, source: SourceView, run: RunRecord): Message[] {
  const { unsigned, seen } = source;
  const before = reported.unsigned;
  reported.unsigned = unsigned?.commit;
  // Where no signed commit is enforced instead, the run fails, which has a message of its own.
  if (unsigned === null || [before, seen?.commit].includes(unsigned.commit)) return [];
  const { headline, detail } = unsignedVerdict(unsigned, seen);
  return [{ kind: 'unsigned', source, run, summary: `${headline}. ${detail}`, objects: [] }];
}

function standingsOf(reported: Reported, source: SourceView, run: RunRecord): Message[] {
  const { standings } = source;
  if (standings === null) return [];
  if (standings.doubt !== null) return doubtOf(reported, source, standings.doubt, run);
  const { standing: before, isDoubted: wasDoubted } = reported;
  // What was known is that of an older run: only the next plan says what is live now.
  if (wasDoubted && run.plan === null) return [];
  const now = new Map(standings.objects.map((each) => [each.id, nameOf(each, before, run)]));
  const ended = [...before.keys()].filter((id) => !now.has(id));
  reported.isDoubted = false;
  reported.standing = new Map([...now].filter(([id, is]) => isBad(is) || before.has(id)));
  const again = ended.map((id) => {
    return { id, says: standings.gone?.includes(id) ? 'not in git any more' : STANDING_WORDS.live };
  });
  const summary = headlineText(standings);
  const whole = { id: source.name, says: `known again: ${summary}` };
  const worse = BAD.map(([is, kind]) => {
    const news = standings.objects.filter(({ id }) => now.get(id) === is && before.get(id) !== is);
    return { kind, objects: news.map(toldStanding) };
  });
  const back = { kind: 'live-again' as const, objects: [...(wasDoubted ? [whole] : []), ...again] };
  return [...worse, back].flatMap(({ kind, objects }) =>
    objects.length === 0 ? [] : [{ kind, source, run, summary, objects }],
  );
}

/** What an interrupted run did not send is as it was before: the next run, which mostly follows at once, sends it. */
function nameOf(
  { id, standing }: StandingView,
  before: Reported['standing'],
  { result }: RunRecord,
): StandingName {
  const isSkipped = standing.is === 'failed' && standing.why === 'not-sent';
  return isSkipped && result === 'interrupted' ? (before.get(id) ?? 'waits') : standing.is;
}

/** Once for the whole source; the objects are as they were when they are known again. */
function doubtOf(reported: Reported, source: SourceView, doubt: Doubt, run: RunRecord): Message[] {
  if (reported.isDoubted) return [];
  reported.isDoubted = true;
  const why = whyText({ is: 'unknown', ...doubt });
  const says = doubt.since === null ? why : `${why} since ${doubt.since}`;
  const objects = (source.standings?.environments ?? []).map(({ name, counts }) => ({
    id: name ?? 'workspace level',
    says: `${plural(counts.unknown, 'object')} ${says}`,
  }));
  const details = source.troubles.map(({ why: text }) => text).join('; ');
  return [{ kind: 'unknown', source, run, summary: details === '' ? says : details, objects }];
}

function kindOf(reported: Reported, run: RunRecord): RunKind | undefined {
  const { result } = run;
  const before = reported.failure;
  if (leavesFailure(reported, result)) return wrote(run) ? 'changed' : undefined;
  if (FAILURES.includes(result)) {
    const cause = fingerprintOf(run);
    reported.failure = { result, cause };
    return cause !== before?.cause || wrote(run) ? 'failed' : undefined;
  }
  delete reported.failure;
  if (before !== undefined) return 'recovered';
  return wrote(run) ? 'changed' : undefined;
}

/** Whether a run neither confirms nor ends a failure: it did not try again. */
function leavesFailure({ failure }: Reported, result: RunResult): boolean {
  const isUntried = failure?.result === 'refused' || failure?.result === 'partial';
  return result === 'interrupted' || (result === 'suspended' && isUntried);
}

/** At most once each UTC day. */
function remindersOf(reported: Reported, { plan, startedAt }: RunRecord): readonly ToldObject[] {
  const day = startedAt.slice(0, 10);
  const due = plan?.reminders ?? [];
  if (due.length === 0 || reported.reminded === day) return [];
  reported.reminded = day;
  return due.map((each) => ({ id: each.id, says: reminderText(each) }));
}

/** One message for each kind with news, and none after a run without a plan, which found no objects. */
function noticesOf({ noticed }: Reported, source: SourceView, run: RunRecord): Message[] {
  const { plan } = run;
  if (plan === null) return [];
  const invalid = new Set<string>(plan.held);
  return Object.entries<Found>(NOTICES).flatMap(([name, found]): Message[] => {
    const all = byEnvironment(found(plan), source.environments);
    const before = noticed.get(name) ?? new Set<string>();
    const now = new Set(all.map(({ id }) => id));
    // A partial run looks again at what the one before found. None looks at objects of invalid files.
    noticed.set(name, new Set([...[...before].filter((id) => isAmong(invalid, id)), ...now]));
    const objects = all.filter(({ id }) => !before.has(id));
    return objects.length === 0 ? [] : [{ kind: name as NoticeKind, source, run, objects }];
  });
}

function wrote({ plan }: RunRecord): boolean {
  return plan?.changes.some(isApplied) ?? false;
}

/** Identifies a failure by cause and kind, without the numbers, times and commits around it. */
function fingerprintOf({ result, plan, text, summary }: RunRecord): string {
  if (plan === null) {
    // Lines and columns identify invalid specs.
    return JSON.stringify([result, result === 'invalid' ? text : causeOf(summary)]);
  }
  const failed = plan.changes
    .filter((change) => !isApplied(change))
    .map(({ id, outcome, error }) => [id, outcome, error?.code, error?.status]);
  const guards = plan.guards?.map(({ guard, environment, id }) => [guard, environment, id]);
  return JSON.stringify([result, failed, guards]);
}
