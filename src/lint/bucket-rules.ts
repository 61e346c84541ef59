import type { SpecPath } from '../model/diagnostic.js';
import { emptyBuckets } from '../model/flag/from-spec.js';
import type { Bucket, Definition } from '../model/flag/flag.js';
import { sameJson } from '../model/json.js';
import { shareOf, type DesiredRamp } from '../model/flag/ramp.js';
import { isKillListed } from '../plan/kills/orders.js';
import { momentText } from '../platform/zoned-time.js';
import { calendarsOf, dueMoments, neverText } from '../timing/ladder.js';
import { calendarIn, closingAt, nextOpening, openingText } from '../timing/windows.js';
import { quotedList } from '../specs/parse/suggest.js';
import {
  isProtected,
  placeOfRule,
  type LintedDefinition,
  type LintRule,
  type Place,
  type Report,
} from './rule.js';

export const BUCKET_RULES: readonly LintRule<LintedDefinition>[] = [
  { code: 'zero-bucket', level: 'warning', find: zeroBuckets },
  { code: 'middle-bucket-shift', level: 'warning', find: middleBuckets },
  { code: 'default-not-safe', level: 'warning', find: unsafeDefault },
  { code: 'ramp-finished', level: 'warning', find: finishedRamps },
  { code: 'ramp-never', level: 'error', find: rampsInVain },
  { code: 'ramp-past', level: 'error', find: stepsInVain },
  { code: 'ramp-in-freeze', level: 'warning', find: frozenSteps },
  { code: 'default-while-killed', level: 'error', find: otherDefaults },
  { code: 'treatments-reordered', level: 'error', find: reordered },
  { code: 'production-before-staging', level: 'error', find: unproven },
];

/** Except where a ramp will grow the treatment: such a ramp starts without keys. */
function zeroBuckets(subject: LintedDefinition, report: Report): void {
  const { ramps = [] } = subject.definition;
  for (const { rule, written } of subject.served) {
    if (written === undefined || typeof written === 'string') continue;
    for (const { treatment, path } of emptyBuckets(written)) {
      if (ramps.some((ramp) => ramp.rule === rule && ramp.treatment === treatment)) continue;
      report(placeOfServed(subject, rule, path), `nobody gets "${treatment}" by a bucket of 0 %`);
    }
  }
}

/** Per cent. Where the default treatment serves less, it is one of the variants under comparison, and none grows. */
const MOST = 50;

/**
 * Keys keep their places from 1 to 100, so a treatment that grows at the cost of the default one takes the places
 * beside it: with the default treatment between two others neither reaches the other. More than two others have no such
 * order.
 */
function middleBuckets(subject: LintedDefinition, report: Report): void {
  const { defaultTreatment } = subject.definition.creation;
  for (const { rule, buckets } of subject.served) {
    const names = namesIn(buckets);
    if (names.length !== 3 || names[1] === defaultTreatment) continue;
    if (shareOf(buckets, defaultTreatment) < MOST) continue;
    const [first = '', second = ''] = names.filter((name) => name !== defaultTreatment);
    const message = `"${first}" and "${second}" lie side by side: where one of them grows at the cost of "${defaultTreatment}", keys of the other change`;
    report(placeOfServed(subject, rule), message);
  }
}

/** Another baseline, or a default `on` beside an `off`, shows that the default treatment is the new one. */
function unsafeDefault({ definition, environment, block }: LintedDefinition, report: Report): void {
  const { fields, creation } = definition;
  const { defaultTreatment, defaultRule, treatments } = creation;
  const isSwitch = defaultTreatment === 'on' && treatments.some(({ name }) => name === 'off');
  const known = fields.baselineTreatment ?? (isSwitch ? 'off' : defaultTreatment);
  const share = shareOf(defaultRule, defaultTreatment);
  if (known === defaultTreatment || share === 100) return;
  const message = `a kill serves everybody "${defaultTreatment}", which ${share} % get in "${environment}" so far`;
  report(block, message);
}

/** Targets do not count: people use them to try a treatment. */
function unproven(subject: LintedDefinition, report: Report): void {
  const { repository, flag, environment, definition, block } = subject;
  const provenIn: readonly string[] = repository.settings.provenIn ?? [];
  if (provenIn.length === 0 || provenIn.includes(environment)) return;
  if (!isProtected(subject)) return;
  const proven = provenIn.flatMap((name) => {
    return treatmentsServed(flag.environments.get(name)?.definition);
  });
  const missing = treatmentsServed(definition).filter((each) => !proven.includes(each));
  if (missing.length === 0) return;
  const places = provenIn.map((each) => `"${each}"`).join(' or ');
  const message = `${quotedList(missing)} in "${environment}" before anybody gets it in ${places}`;
  report(block, message);
}

/** Ramps included; none where the flag is killed or not declared. */
function treatmentsServed(definition: LintedDefinition['definition'] | undefined): string[] {
  if (definition === undefined || definition.creation.killed) return [];
  const { rules, defaultRule, defaultTreatment, trafficAllocation } = definition.creation;
  if (trafficAllocation === 0) return [];
  const served = [...rules.flatMap(({ buckets }) => buckets), ...defaultRule];
  const ramped = (definition.ramps ?? []).map(({ treatment }) => treatment);
  const names = [...served.map(({ treatment }) => treatment), ...ramped];
  return [...new Set(names)].filter((each) => each !== defaultTreatment);
}

/** Ramps that are under way or will be, neither held nor of a killed flag; `placeOf` a path inside the ramp. */
function activeRamps({
  flag,
  environment,
  definition,
  block,
}: LintedDefinition): { ramp: DesiredRamp; placeOf: (path: SpecPath) => Place }[] {
  const written = flag.environments.get(environment)?.ramps ?? [];
  const { ramps = [], creation } = definition;
  const active = creation.killed ? [] : ramps.filter(({ hold }) => !hold);
  return active.map((ramp) => {
    const at = written.find(({ rule }) => rule === ramp.rule);
    const placeOf = (path: SpecPath): Place =>
      at === undefined ? block : { file: at.file, path: [...at.path, ...path] };
    return { ramp, placeOf };
  });
}

/** A ramp without a time as its `start` begins with some run, so it is judged only if each step has a moment. */
function finishedRamps(subject: LintedDefinition, report: Report): void {
  const { config, today } = subject.repository;
  for (const { ramp, placeOf } of activeRamps(subject)) {
    const { steps, startMs, treatment } = ramp;
    if (startMs === undefined && !steps.every(({ atMs }) => atMs !== undefined)) continue;
    const calendars = calendarsOf(ramp, config, calendarIn({ config }, subject.environment));
    const due = dueMoments(ramp, { sinceMs: startMs ?? 0 }, calendars).at(-1);
    const { percent = 0 } = steps.at(-1) ?? {};
    if (due === null || due === undefined || due >= Date.parse(today)) continue;
    const message = `the last step of the ramp, ${percent} % of "${treatment}", was due at ${momentText(due, 'UTC')}`;
    report(placeOf([]), message);
  }
}

function rampsInVain(subject: LintedDefinition, report: Report): void {
  const { config, today } = subject.repository;
  for (const { ramp, placeOf } of activeRamps(subject)) {
    const calendars = calendarsOf(ramp, config, calendarIn({ config }, subject.environment));
    if (nextOpening(calendars, Date.parse(today)) !== null) continue;
    report(placeOf(['within']), `no step of the ramp is ever due: ${neverText(ramp)}`);
  }
}

/** Windows and freezes only delay: a step is never due before the previous step, nor before the start. */
function stepsInVain(subject: LintedDefinition, report: Report): void {
  for (const { ramp, placeOf } of activeRamps(subject)) {
    const dueMs = dueMoments(ramp, { sinceMs: ramp.startMs ?? 0 }, []);
    for (const [position, { atMs }] of ramp.steps.entries()) {
      const before = dueMs[position - 1] ?? ramp.startMs;
      const isFirst = position === 0;
      if (atMs === undefined || before === undefined || atMs > before) continue;
      if (isFirst && atMs === before) continue;
      const earlier = isFirst ? 'the ramp starts' : `step ${position} is due`;
      const message = `step ${position + 1} is for ${momentText(atMs, 'UTC')}, and ${earlier} at ${momentText(before, 'UTC')}`;
      report(placeOf(['steps', position, 'at']), message);
    }
  }
}

/** Judges future steps only: a past one was taken or waits. A step with `after` has no moment to be wrong. */
function frozenSteps(subject: LintedDefinition, report: Report): void {
  const { repository, environment } = subject;
  for (const { ramp, placeOf } of activeRamps(subject)) {
    const { freezes } = calendarIn(repository, environment);
    for (const [position, { atMs }] of ramp.steps.entries()) {
      if (atMs === undefined || atMs < Date.parse(repository.today)) continue;
      const closing = closingAt({ windows: [], freezes }, atMs);
      if (closing === undefined) continue;
      const message = `step ${position + 1} waits in "${environment}": at ${momentText(atMs, closing.zone)} it is ${closing.why} until ${openingText(closing) ?? 'its end'}`;
      report(placeOf(['steps', position, 'at']), message);
    }
  }
}

function beforeOf({ repository, flag, environment }: LintedDefinition): Definition | undefined {
  return repository.before.get(flag.name)?.environments.get(environment)?.definition?.creation;
}

/** Whether the flag's own file or kills/ orders the kill. */
function otherDefaults(subject: LintedDefinition, report: Report): void {
  const { repository, flag, environment, definition, block } = subject;
  const { killed, defaultTreatment } = definition.creation;
  const earlier = beforeOf(subject)?.defaultTreatment ?? defaultTreatment;
  const isKilled = killed || isKillListed(repository, flag.name, environment);
  if (!isKilled || earlier === defaultTreatment) return;
  const message = `"${environment}" is killed, and everybody gets "${defaultTreatment}" where the last commit says "${earlier}"`;
  report(block, message);
}

/** Two rules are the same rule if their conditions are equal. Added or removed treatments are no change of order. */
function reordered(subject: LintedDefinition, report: Report): void {
  const before = beforeOf(subject);
  if (before === undefined) return;
  for (const { rule, buckets } of subject.served) {
    const matchers = subject.definition.creation.rules[rule ?? -1]?.matchers;
    const same = before.rules?.find((each) => sameJson(each.matchers, matchers));
    const earlier = namesIn(rule === null ? before.defaultRule : same?.buckets);
    const names = namesIn(buckets).filter((name) => earlier.includes(name));
    const kept = earlier.filter((name) => names.includes(name));
    if (sameJson(names, kept)) continue;
    const message = `keys change their treatment: the last commit has the order ${quotedList(kept)}, and this is ${quotedList(names)}`;
    report(placeOfServed(subject, rule), message);
  }
}

/** Treatments with a share, in their order: the reader of the specs dropped buckets of 0 %. */
function namesIn(buckets: readonly Bucket[] = []): string[] {
  return buckets.map(({ treatment }) => treatment);
}

function placeOfServed(subject: LintedDefinition, rule: number | null, path: SpecPath = []): Place {
  if (rule !== null) return placeOfRule(subject, rule, ['serve', ...path]);
  const { defaultRule, block } = subject;
  return defaultRule ? { file: defaultRule.file, path: [...defaultRule.path, ...path] } : block;
}
