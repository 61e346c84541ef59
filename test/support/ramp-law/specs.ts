import fc from 'fast-check';

/** A rollout as a team writes it: rules and a default rule, some of them with a ramp. All shares are of `on`, beside `off`. */
export interface Rollout {
  readonly rules: readonly WrittenRule[];
  readonly ofDefault: WrittenLadder | null;
  readonly layout: 0 | 1 | 2;
  readonly hasBlue: boolean;
  readonly killed: boolean;
  /** So many conditions and names were given out: each is a new one. */
  readonly given: number;
}

export interface WrittenRule {
  readonly name: string | null;
  readonly attribute: string;
  readonly values: readonly string[];
  /** Null: all of them are served `on`. */
  readonly ladder: WrittenLadder | null;
}

export interface WrittenLadder {
  /** Share, and the hours since the step before. */
  readonly steps: readonly (readonly [percent: number, hours: number])[];
  readonly hold: boolean;
  /** Hours since the story began. */
  readonly startHour: number | null;
  readonly within: boolean;
}

export const EPOCH_MS = Date.UTC(2026, 2, 2, 0);
export const HOUR_MS = 3_600_000;
/** Nothing is written from the first to the second hour. */
export const FREEZE: readonly [number, number] = [40, 55];

const LADDERS: readonly WrittenLadder['steps'][] = [
  [
    [10, 0],
    [25, 6],
    [50, 12],
    [100, 24],
  ],
  [
    [5, 0],
    [40, 8],
    [90, 10],
  ],
  [
    [1, 3],
    [30, 5],
    [60, 7],
    [100, 20],
  ],
];

/** What somebody commits. Numbers from 0 on pick among what there is. */
export const EDITS = [
  'insert-ramped',
  'insert-plain',
  'remove',
  'swap',
  'rename',
  'condition',
  'steps',
  'hold',
  'move-file',
  'treatment',
  'window',
  'kill',
  'ramp-out',
  'default-ramp',
  'start',
] as const;

export const FIRST: Rollout = {
  rules: [],
  ofDefault: null,
  layout: 0,
  hasBlue: false,
  killed: false,
  given: 0,
};

/** The rollout after an edit; where it cannot be made, as it was. */
export function edited(
  rollout: Rollout,
  edit: (typeof EDITS)[number],
  [a, b, c]: readonly [number, number, number],
): Rollout {
  const { rules, given } = rollout;
  const at = rules.length === 0 ? -1 : a % rules.length;
  const other = rules.length === 0 ? -1 : b % rules.length;
  const ladder = (): WrittenLadder => ({
    steps: LADDERS[c % LADDERS.length] ?? [],
    hold: false,
    startHour: null,
    within: false,
  });
  const changed = (change: (rule: WrittenRule) => WrittenRule): Rollout => ({
    ...rollout,
    given: given + 1,
    rules: rules.map((each, i) => (i === at ? change(each) : each)),
  });
  /** Of a rule, or of the default rule where the number says so. */
  const relearnt = (change: (ladder: WrittenLadder) => WrittenLadder): Rollout => {
    if (rollout.ofDefault && (b % 3 === 0 || at < 0))
      return { ...rollout, ofDefault: change(rollout.ofDefault) };
    return changed((rule) => ({ ...rule, ladder: rule.ladder && change(rule.ladder) }));
  };
  switch (edit) {
    case 'insert-ramped':
    case 'insert-plain': {
      const rule: WrittenRule = {
        name: b % 2 === 0 ? `rule ${given}` : null,
        attribute: ['plan', 'country', 'tier'][b % 3] ?? 'plan',
        values: [`v${given}`],
        ladder: edit === 'insert-ramped' ? ladder() : null,
      };
      const position = a % (rules.length + 1);
      return { ...rollout, given: given + 1, rules: rules.toSpliced(position, 0, rule) };
    }
    case 'remove':
      return { ...rollout, rules: rules.filter((_, i) => i !== at) };
    case 'swap': {
      const [one, two] = [rules[at], rules[other]];
      if (!one || !two) return rollout;
      return {
        ...rollout,
        rules: rules.map((each, i) => (i === at ? two : i === other ? one : each)),
      };
    }
    case 'rename':
      return changed((rule) => ({ ...rule, name: c % 3 === 0 ? null : `renamed ${given}` }));
    case 'condition':
      return changed((rule) => ({ ...rule, values: [...rule.values, `w${given}`] }));
    case 'steps':
      return relearnt((each) => ({ ...each, steps: ladder().steps }));
    case 'hold':
      return relearnt((each) => ({ ...each, hold: !each.hold }));
    case 'start':
      return relearnt((each) => ({ ...each, startHour: c % 2 === 0 ? null : 10 * (c % 7) }));
    case 'window':
      return relearnt((each) => ({ ...each, within: !each.within }));
    case 'ramp-out':
      return changed((rule) => ({ ...rule, ladder: null }));
    case 'default-ramp':
      return { ...rollout, ofDefault: rollout.ofDefault === null ? ladder() : null };
    case 'move-file':
      return { ...rollout, layout: ((rollout.layout + 1) % 3) as Rollout['layout'] };
    case 'treatment':
      return { ...rollout, hasBlue: !rollout.hasBlue };
    case 'kill':
      return { ...rollout, killed: !rollout.killed };
  }
}

export const someEdit = fc.record({
  edit: fc.constantFrom(...EDITS),
  numbers: fc.tuple(fc.nat(60), fc.nat(60), fc.nat(60)),
});

export function filesOf(rollout: Rollout): Record<string, string> {
  const { layout } = rollout;
  const top = `flag: shop
treatments: { "on": "", "off": ""${rollout.hasBlue ? ', "blue": ""' : ''} }
defaultTreatment: "off"
`;
  const block = `killed: ${String(rollout.killed)}
defaultRule: "off"
${rollout.ofDefault ? `ramp: ${ladderText(rollout.ofDefault)}\n` : ''}rules: [${rollout.rules.map(ruleText).join(', ')}]
`;
  const indented = block.replace(/^(?=.)/gm, '    ');
  const files =
    layout === 2
      ? {
          'flags/shop.yaml': `${top}environments:\n  staging: { defaultRule: "off" }\n`,
          'flags/shop@production.yaml': `flag: shop\nenvironment: production\n${block}`,
        }
      : {
          [`flags/${layout === 1 ? 'deep/' : ''}shop.yaml`]: `${top}environments:\n  production:\n${indented}`,
        };
  return { 'flagkeel.yaml': CONFIG, ...files };
}

const timeOf = (hour: number): string => new Date(EPOCH_MS + hour * HOUR_MS).toISOString();
const [FREEZE_BEGIN = '', FREEZE_END = ''] = FREEZE.map((hour) => `"${timeOf(hour).slice(0, 16)}"`);
const CONFIG = `workspace: Default
environments: { staging: {}, production: {} }
defaults: { trafficType: user }
windows: { always: { from: 00:00, to: 24:00, zone: UTC } }
freezes: { fair: { from: ${FREEZE_BEGIN}, to: ${FREEZE_END}, zone: UTC } }
`;

function ruleText({ name, attribute, values, ladder }: WrittenRule): string {
  const serve = ladder === null ? 'serve: "on"' : `serve: "off", ramp: ${ladderText(ladder)}`;
  const named = name === null ? '' : `name: ${name}, `;
  return `{ ${named}if: { attribute: ${attribute}, in: [${values.join(', ')}] }, ${serve} }`;
}

function ladderText({ steps, hold, startHour, within }: WrittenLadder): string {
  const list = steps.map(([percent, hours]) =>
    hours === 0 ? `{ percent: ${percent} }` : `{ percent: ${percent}, after: ${hours}h }`,
  );
  const start = startHour === null ? '' : `, start: ${timeOf(startHour)}`;
  return `{ treatment: "on", steps: [${list.join(', ')}], hold: ${String(hold)}${start}${within ? ', within: always' : ''} }`;
}
