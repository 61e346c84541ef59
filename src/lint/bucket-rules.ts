import type { Buckets } from '../generated/flag.schema.d.js';
import type { SpecPath } from '../model/diagnostic.js';
import { emptyBuckets } from '../model/flag/from-spec.js';
import type { Bucket, Definition } from '../model/flag/flag.js';
import { sameJson } from '../model/json.js';
import { shareOf, type DesiredRamp } from '../model/flag/ramp.js';
import { momentText } from '../platform/zoned-time.js';
import { calendarsOf, dueMoments } from '../timing/ladder.js';
import { calendarIn, closingAt, openingText } from '../timing/windows.js';
import { quotedList } from '../specs/parse/suggest.js';
import {
  isProtected,
  ofBlock,
  ofRule,
  type DefinitionRule,
  type Finding,
  type LintedDefinition,
  type LintedRepository,
} from './rule.js';

export const BUCKET_RULES: readonly DefinitionRule[] = [
  { code: 'zero-bucket', level: 'warning', find: zeroBuckets },
  { code: 'middle-bucket-shift', level: 'warning', find: middleBuckets },
  { code: 'default-not-safe', level: 'warning', find: unsafeDefault },
  { code: 'ramp-finished', level: 'warning', find: finishedRamps },
  { code: 'ramp-past', level: 'error', find: stepsInVain },
  { code: 'ramp-in-freeze', level: 'warning', find: frozenSteps },
  { code: 'default-while-killed', level: 'error', find: otherDefaults },
  { code: 'treatments-reordered', level: 'error', find: reordered },
  { code: 'production-before-staging', level: 'error', find: unproven },
];

interface Served {
  /** From 0; null for the default rule. */
  readonly rule: number | null;
  readonly buckets: readonly Bucket[];
  /** As the file has it; undefined where it is unclear which file says it. */
  readonly written: Buckets | undefined;
}

/** The default rule is last. */
function servedIn({ definition, rules, defaultRule }: LintedDefinition): Served[] {
  const { creation } = definition;
  return [
    ...creation.rules.map(({ buckets }, rule): Served => {
      return { rule, buckets, written: rules?.value[rule]?.serve };
    }),
    { rule: null, buckets: creation.defaultRule, written: defaultRule?.written },
  ];
}

/** Except where a ramp will grow the treatment: such a ramp starts without keys. */
function zeroBuckets(subject: LintedDefinition): Finding[] {
  const { ramps = [] } = subject.definition;
  return servedIn(subject).flatMap(({ rule, written }) => {
    if (written === undefined || typeof written === 'string') return [];
    return emptyBuckets(written).flatMap(({ treatment, path }) => {
      if (ramps.some((ramp) => ramp.rule === rule && ramp.treatment === treatment)) return [];
      return [ofServed(subject, rule, path, `nobody gets "${treatment}" by a bucket of 0 %`)];
    });
  });
}

/** Per cent. Where the default treatment serves less, it is one of the variants under comparison, and none grows. */
const MOST = 50;

/**
 * Keys keep their places from 1 to 100, so a treatment that grows at the cost of the default one takes the places
 * beside it: with the default treatment between two others neither reaches the other. More than two others have no such
 * order.
 */
function middleBuckets(subject: LintedDefinition): Finding[] {
  const { defaultTreatment } = subject.definition.creation;
  return servedIn(subject).flatMap(({ rule, buckets }) => {
    const names = buckets.map(({ treatment }) => treatment);
    const place = names.indexOf(defaultTreatment);
    if (names.length !== 3 || place === 1) return [];
    if (shareOf(buckets, defaultTreatment) < MOST) return [];
    const [first = '', second = ''] = names.filter((name) => name !== defaultTreatment);
    const message = `"${first}" and "${second}" lie side by side: where one of them grows at the cost of "${defaultTreatment}", keys of the other change`;
    return [ofServed(subject, rule, [], message)];
  });
}

/** Another baseline, or a default `on` beside an `off`, shows that the default treatment is the new one. */
function unsafeDefault(subject: LintedDefinition): Finding[] {
  const { fields, creation } = subject.definition;
  const { defaultTreatment, defaultRule, treatments } = creation;
  const isSwitch = defaultTreatment === 'on' && treatments.some(({ name }) => name === 'off');
  const known = fields.baselineTreatment ?? (isSwitch ? 'off' : defaultTreatment);
  const share = shareOf(defaultRule, defaultTreatment);
  if (known === defaultTreatment || share === 100) return [];
  const message = `a kill serves everybody "${defaultTreatment}", which ${share} % get in "${subject.environment}" so far`;
  return [ofBlock(subject, message)];
}

/** Targets do not count: people use them to try a treatment. */
function unproven(
  subject: LintedDefinition,
  { config, settings }: Pick<LintedRepository, 'config' | 'settings'>,
): Finding[] {
  const { flag, environment, definition } = subject;
  const provenIn: readonly string[] = settings.provenIn ?? [];
  if (provenIn.length === 0 || provenIn.includes(environment)) return [];
  if (!isProtected(config, environment)) return [];
  const proven = provenIn.flatMap((name) => {
    return treatmentsServed(flag.environments.get(name)?.definition);
  });
  const missing = treatmentsServed(definition).filter((each) => !proven.includes(each));
  if (missing.length === 0) return [];
  const places = provenIn.map((each) => `"${each}"`).join(' or ');
  const message = `${quotedList(missing)} in "${environment}" before anybody gets it in ${places}`;
  return [ofBlock(subject, message)];
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

/** Ramps that are under way or will be: neither held nor of a killed flag. */
function eachRamp(
  { flag, environment, definition, block }: LintedDefinition,
  find: (ramp: DesiredRamp, finding: (path: SpecPath, message: string) => Finding) => Finding[],
): Finding[] {
  const written = flag.environments.get(environment)?.ramps ?? [];
  const { ramps = [], creation } = definition;
  const active = creation.killed ? [] : ramps.filter(({ hold }) => !hold);
  return active.flatMap((ramp) => {
    const at = written.find(({ rule }) => rule === ramp.rule);
    return find(ramp, (path, message) => {
      const place = at === undefined ? block : { file: at.file, path: [...at.path, ...path] };
      return { place, message, allowedBy: flag.file };
    });
  });
}

/** A ramp without a time as its `start` begins with some run, so it is judged only if each step has a moment. */
function finishedRamps(
  subject: LintedDefinition,
  { config, today }: Pick<LintedRepository, 'config' | 'today'>,
): Finding[] {
  const calendar = calendarIn({ config }, subject.environment);
  return eachRamp(subject, (ramp, finding) => {
    const { steps, startMs, treatment } = ramp;
    if (startMs === undefined && !steps.every(({ atMs }) => atMs !== undefined)) return [];
    const due = dueMoments(ramp, { sinceMs: startMs ?? 0 }, calendarsOf(ramp, config, calendar)).at(
      -1,
    );
    const { percent = 0 } = steps.at(-1) ?? {};
    if (due === null || due === undefined || due >= Date.parse(today)) return [];
    const message = `the last step of the ramp, ${percent} % of "${treatment}", was due at ${momentText(due, 'UTC')}`;
    return [finding([], message)];
  });
}

/** Windows and freezes only delay: a step is never due before the previous step, nor before the start. */
function stepsInVain(subject: LintedDefinition): Finding[] {
  return eachRamp(subject, (ramp, finding) => {
    const dueMs = dueMoments(ramp, { sinceMs: ramp.startMs ?? 0 }, []);
    return ramp.steps.flatMap(({ atMs }, position) => {
      const before = dueMs[position - 1] ?? ramp.startMs;
      const isFirst = position === 0;
      if (atMs === undefined || before === undefined || atMs > before) return [];
      if (isFirst && atMs === before) return [];
      const earlier = isFirst ? 'the ramp starts' : `step ${position} is due`;
      const message = `step ${position + 1} is for ${momentText(atMs, 'UTC')}, and ${earlier} at ${momentText(before, 'UTC')}`;
      return [finding(['steps', position, 'at'], message)];
    });
  });
}

/** Judges future steps only: a past one was taken or waits. A step with `after` has no moment to be wrong. */
function frozenSteps(
  subject: LintedDefinition,
  { config, today }: Pick<LintedRepository, 'config' | 'today'>,
): Finding[] {
  const { freezes } = calendarIn({ config }, subject.environment);
  return eachRamp(subject, (ramp, finding) =>
    ramp.steps.flatMap(({ atMs }, position) => {
      if (atMs === undefined || atMs < Date.parse(today)) return [];
      const closing = closingAt({ windows: [], freezes }, atMs);
      if (closing === undefined) return [];
      const message = `step ${position + 1} waits in "${subject.environment}": at ${momentText(atMs, closing.zone)} it is ${closing.why} until ${openingText(closing) ?? 'its end'}`;
      return [finding(['steps', position, 'at'], message)];
    }),
  );
}

function beforeOf(
  { flag, environment }: LintedDefinition,
  { before }: Pick<LintedRepository, 'before'>,
): Definition | undefined {
  return before.get(flag.name)?.environments.get(environment)?.definition?.creation;
}

/** Whether the flag's own file or kills/ orders the kill. */
function otherDefaults(subject: LintedDefinition, repository: LintedRepository): Finding[] {
  const { flag, environment, definition } = subject;
  const { killed, defaultTreatment } = definition.creation;
  const earlier = beforeOf(subject, repository)?.defaultTreatment ?? defaultTreatment;
  const isKilled =
    killed ||
    repository.kills.some((kill) => kill.flag === flag.name && kill.environment === environment);
  if (!isKilled || earlier === defaultTreatment) return [];
  const message = `"${environment}" is killed, and everybody gets "${defaultTreatment}" where the last commit says "${earlier}"`;
  return [ofBlock(subject, message)];
}

/** Two rules are the same rule if their conditions are equal. Added or removed treatments are no change of order. */
function reordered(subject: LintedDefinition, repository: LintedRepository): Finding[] {
  const before = beforeOf(subject, repository);
  if (before === undefined) return [];
  return servedIn(subject).flatMap(({ rule, buckets }) => {
    const matchers = subject.definition.creation.rules[rule ?? -1]?.matchers;
    const same = before.rules?.find((each) => sameJson(each.matchers, matchers));
    const earlier = namesIn(rule === null ? before.defaultRule : same?.buckets);
    const names = namesIn(buckets).filter((name) => earlier.includes(name));
    const kept = earlier.filter((name) => names.includes(name));
    if (sameJson(names, kept)) return [];
    const message = `keys change their treatment: the last commit has the order ${quotedList(kept)}, and this is ${quotedList(names)}`;
    return [ofServed(subject, rule, [], message)];
  });
}

/** Treatments with a share, in their order: the reader of the specs dropped buckets of 0 %. */
function namesIn(buckets: readonly Bucket[] = []): string[] {
  return buckets.map(({ treatment }) => treatment);
}

function ofServed(
  subject: LintedDefinition,
  rule: number | null,
  path: SpecPath,
  message: string,
): Finding {
  if (rule !== null) return ofRule(subject, rule, ['serve', ...path], message);
  const { flag, defaultRule } = subject;
  if (!defaultRule) return ofBlock(subject, message);
  const place = { ...defaultRule, path: [...defaultRule.path, ...path] };
  return { place, message, allowedBy: flag.file };
}
