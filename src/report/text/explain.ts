import type { Bucket, Definition, Rule } from '../../model/flag/flag.js';
import type { DesiredDefinition } from '../../model/desired.js';
import type { DesiredRamp } from '../../model/flag/ramp.js';
import type { Location } from '../../model/diagnostic.js';
import { placeText, plural } from '../values.js';
import { clean, quoted } from '../sanitize.js';
import { bucketsText, conditionText } from '../view/rule.js';
import {
  paragraph,
  EMPTY_LINE,
  noBreak,
  renderLines,
  span,
  type Layout,
  type Line,
  type Tone,
} from './layout.js';

export interface ExplainedFlag {
  readonly name: string;
  readonly location: Location;
  readonly description?: string;
  readonly owner?: string;
  readonly environments: readonly ExplainedDefinition[];
  readonly commits: readonly { readonly id: string; readonly subject: string }[];
}

type Served = Required<
  Pick<Definition, 'killed' | 'defaultTreatment' | 'trafficAllocation' | 'targets' | 'defaultRule'>
>;

export interface ExplainedDefinition extends Served {
  readonly environment: string;
  readonly location: Location;
  readonly rules: readonly ExplainedRule[];
  readonly ramps?: readonly ExplainedRamp[];
  readonly answer?: ExplainedAnswer;
  /** On the service; null if it has none; `unknown` if it cannot be found; left out if the run did not ask. */
  readonly live?: ExplainedLive | 'unknown' | null;
}

interface ExplainedRamp extends Pick<DesiredRamp, 'rule' | 'treatment'> {
  readonly steps: readonly number[];
  readonly checks: readonly string[];
  readonly onFail: 'hold' | 'previous' | 'kill';
}

export function explainedSteps({ ramps }: DesiredDefinition): Pick<ExplainedDefinition, 'ramps'> {
  if (ramps === undefined) return {};
  const explained = ramps.map(({ rule, treatment, steps, checks = [], onFail }): ExplainedRamp => {
    const shares = steps.map(({ percent }) => percent);
    return { rule, treatment, steps: shares, checks, onFail: onFail ?? 'hold' };
  });
  return { ramps: explained };
}

export interface ExplainedLive {
  readonly killed: boolean;
  /** Managed fields that differ on the service, in the order of plans. */
  readonly differs: readonly string[];
  readonly defaultRule: readonly Bucket[];
  /** The seeds of the service, which decide the bucket of a key; null if it shows none. */
  readonly seed: number | null;
  readonly trafficAllocationSeed: number | null;
}

export interface ExplainedRule extends Rule {
  readonly name?: string;
  /** Names of the conditions that the rule uses, in its order; the rule's matchers are their content. */
  readonly uses?: readonly string[];
  readonly location: Location;
}

export interface ExplainedAnswer {
  /** The treatments that the key may get, the largest share first, in per cent; `null` stands for control. */
  readonly shares: readonly {
    readonly treatment: string | null;
    readonly atLeast: number;
    readonly atMost: number;
  }[];
  /** `killed`, `target`, `rule N` (from 1), `default rule`, or several of the last two. */
  readonly by: string;
  readonly untold: readonly string[];
  /** Of the key, by the seed of the live definition; null if the service shows none; unset if it was not asked. */
  readonly bucket?: number | null;
}

export function explainText(
  flag: ExplainedFlag,
  { showKeys, ...layout }: Layout & { readonly showKeys: boolean },
): string {
  const { name, location, description, owner, environments, commits } = flag;
  const head: Line[] = [
    line(0, [span(`flag/${quoted(name)}`, 'strong'), span(` [${placeText(location)}]`, 'faint')]),
    ...(description === undefined ? [] : [detail(clean(description))]),
    ...(owner === undefined ? [] : [detail(`owner: ${clean(owner)}`)]),
  ];
  const history: Line[] = commits.map(({ id, subject }) =>
    line(2, [span(id.slice(0, 8), 'faint'), span(` ${clean(subject)}`)]),
  );
  return renderLines(
    [
      ...head,
      ...environments.flatMap((each) => [EMPTY_LINE, ...definitionLines(each, showKeys)]),
      ...(history.length > 0 ? [EMPTY_LINE, line(0, [span('last commits')]), ...history] : []),
    ],
    layout,
  );
}

function definitionLines(definition: ExplainedDefinition, showKeys: boolean): Line[] {
  const { environment, location, killed, rules, defaultRule, answer } = definition;
  const { defaultTreatment, trafficAllocation, targets } = definition;
  const rest = quoted(defaultTreatment);
  return [
    line(0, [span(quoted(environment), 'strong'), span(` [${placeText(location)}]`, 'faint')]),
    ...(killed ? [detail(`killed: everybody gets ${rest}`, 'alarm')] : []),
    ...Object.entries(targets).map(([treatment, keys]) => {
      const who = showKeys ? keys.map(quoted).join(', ') : plural(keys.length, 'key');
      return detail(`targets: ${who} → ${quoted(treatment)}`);
    }),
    ...(trafficAllocation === 100
      ? []
      : [detail(`${trafficAllocation} % of the traffic see the rules, the others get ${rest}`)]),
    ...rules.map((rule, position) => ruleLine(rule, position, showKeys)),
    detail(`${rules.length > 0 ? 'everybody else' : 'everybody'} → ${bucketsText(defaultRule)}`),
    ...(definition.ramps ?? []).map((ramp) => detail(rampLine(ramp))),
    ...(answer ? [line(2, answerSpans(answer, definition.live))] : []),
    ...(definition.live === undefined ? [] : liveLines(definition.live, definition)),
  ];
}

const FAILURES: Readonly<Record<ExplainedRamp['onFail'], string>> = {
  hold: 'a failure holds the step',
  previous: 'a failure takes it one step back',
  kill: 'a failure kills the flag',
};

function rampLine({ rule, treatment, steps, checks, onFail }: ExplainedRamp): string {
  const where = rule === null ? '' : ` of rule ${rule + 1}`;
  const names = checks.map(quoted).join(', ');
  const checked =
    checks.length === 0 ? '' : `; before each step check ${names}, ${FAILURES[onFail]}`;
  return `ramp${where}: ${quoted(treatment)} at ${steps.join(', ')} %${checked}`;
}

function liveLines(
  live: ExplainedLive | 'unknown' | null,
  { killed, ramps }: Pick<ExplainedDefinition, 'killed' | 'ramps'>,
): Line[] {
  if (live === null) return [detail('on the service: not there', 'change')];
  if (live === 'unknown') {
    const why = 'it finds the definition by no name, shows no flags, and no run remembers an id';
    return [detail(`on the service: not known (${why})`, 'change')];
  }
  const differs = live.differs.join(', ');
  const others = `everybody else → ${bucketsText(live.defaultRule)}`;
  const same = ramps === undefined ? 'as git has it' : `as git and its ramp have it; ${others}`;
  const definition = differs === '' ? same : `another ${differs}; ${others}`;
  const tone = differs === '' ? 'faint' : 'change';
  if (live.killed === killed) return [detail(`on the service: ${definition}`, tone)];
  const kill = live.killed ? 'killed, and not by git' : 'not killed, although git orders it';
  return differs === ''
    ? [detail(`on the service: ${kill}; otherwise ${definition}`, 'alarm')]
    : [detail(`on the service: ${definition}`, tone), detail(`on the service: ${kill}`, 'alarm')];
}

function ruleLine(rule: ExplainedRule, position: number, showKeys: boolean): Line {
  const name = rule.name === undefined ? '' : ` (${clean(rule.name)})`;
  const condition = conditionText(rule.matchers, { showKeys });
  const text = `rule ${position + 1}${name}: ${condition} → ${bucketsText(rule.buckets)}`;
  const uses = rule.uses === undefined ? '' : `, uses ${rule.uses.map(clean).join(', ')}`;
  const place = noBreak(`[line ${rule.location.line}${uses}]`);
  return line(2, [span(text), span(` ${place}`, 'faint')]);
}

function answerSpans(
  { shares, by, untold, bucket }: ExplainedAnswer,
  live: ExplainedDefinition['live'],
): Line['spans'] {
  const text = shares
    .map(({ treatment, atLeast, atMost }) => {
      const range = atLeast === atMost ? `${atLeast}` : `${atLeast} to ${atMost}`;
      return `${treatment === null ? 'control' : quoted(treatment)} ${range} %`;
    })
    .join(', ');
  const missing = untold.length === 0 ? '' : `; not told: ${untold.map(clean).join(', ')}`;
  // A seed would tell no more where hashing decides nothing.
  const isSettled = bucket === undefined || (bucket === null && shares.length === 1);
  const place = isSettled ? '' : `; ${bucketText(bucket, live)}`;
  return [span('⇒ ', 'change'), span(`${text} (by ${by}${missing}${place})`)];
}

function bucketText(bucket: number | null, live: ExplainedDefinition['live']): string {
  if (bucket === null || !live || live === 'unknown') {
    return 'the service shows no seed, which would tell its bucket';
  }
  const { seed, trafficAllocationSeed } = live;
  return `bucket ${bucket} by seed ${String(seed)}, trafficAllocationSeed ${String(trafficAllocationSeed)}`;
}

function line(indent: number, spans: Line['spans']): Line {
  return { indent, spans };
}

function detail(text: string, tone?: Tone): Line {
  return paragraph(text, tone, 2);
}
