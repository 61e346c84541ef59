import { describe, expect, it } from 'vitest';
import { directoryTree } from '../../../src/git/trees.js';
import { lint, LINT_RULES } from '../../../src/lint/lint.js';
import { straysOf } from '../../../src/specs/parse/load-files.js';
import { readWithParts } from '../../../src/specs/read-specs.js';
import { treeOf } from '../../support/spec-tree.js';
import { bare, examplesOf, projectText, rowsOf } from '../docs/page.js';
import { config, flag, lintLines, ruled, segment, threeWay, TODAY } from './lint-story.js';

/** One text is that of a flag's own file. */
type Fixture = [
  situation: string,
  files: string | Readonly<Record<string, string>>,
  ...expected: string[],
];

/** A flag that serves one treatment, whoever asks. */
const ROLLED_OUT = `flag: pay
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  production:
    targets: { "on": [qa] }
    defaultRule: "on"
`;

/**
 * Situations that differ in the rules of one flag, which `|` parts. Of each found one the expected place is the same, or
 * the column of the condition behind `^`.
 */
function conditionCases(
  finding: string,
  found: Readonly<Record<string, string>>,
  right: Readonly<Record<string, string>>,
): Fixture[] {
  const start = '      - { if: '.length;
  return [
    ...Object.entries(found).map(([situation, rules]): Fixture => {
      const column = String(start + rules.indexOf('^') + 1);
      const files = ruled(...rules.replace('^', '').split(' | '));
      return [situation, files, finding.replace('COLUMN', column)];
    }),
    ...Object.entries(right).map(([situation, rules]): Fixture => [
      situation,
      ruled(...rules.split(' | ')),
    ]),
  ];
}

function filesOf(spec: string): Record<string, string> {
  const [, name = ''] = /^flag: (\S+)/.exec(spec) ?? [];
  return { [`flags/${name}.yaml`]: spec };
}

/** One flag in a house with these settings. */
function house(settings: string, spec: string): Record<string, string> {
  return { ...filesOf(spec), 'flagkeel.yaml': config(settings) };
}

/** Flags that are to be left alone, each under a name of its own. */
function flags(settings: string, ...specs: readonly string[]): Record<string, string> {
  const named = specs.map((spec, at) => filesOf(spec.replace('flag: pay', `flag: pay-${at}`)));
  return Object.assign({ 'flagkeel.yaml': config(settings) }, ...named) as Record<string, string>;
}

/** A flag that says in an overlay what it serves in production. @param top a line at its top. */
const overlaid = (said: string, top = ''): Record<string, string> => ({
  'flags/pay.yaml': `flag: pay\n${top}treatments: { "on": "", "off": "" }\ndefaultTreatment: "off"\n`,
  'flags/pay@production.yaml': `flag: pay\nenvironment: production\n${said}\n`,
});

/** The entries of the list of kills of production. */
const listed = (...entries: readonly string[]): Record<string, string> => ({
  'kills/production.yaml': `kills:\n${entries.map((entry) => `  ${entry}\n`).join('')}`,
});

/** Segments by name, with their keys in production, which no rule has to name. */
const segments = (keys: Readonly<Record<string, string>>): Record<string, string> => ({
  'flagkeel.yaml': config('{ levels: { unused-segment: off } }'),
  ...Object.fromEntries(
    Object.entries(keys).map(([name, each]) => [`segments/${name}.yaml`, segment(name, each)]),
  ),
});

/** A flag without rules that serves this to everybody. */
const serving = (rule: string, fields = ''): string =>
  pay(fields).replace('{ "on": 10, "off": rest }', rule);

/** @param fields lines at the top. */
function pay(fields = ''): string {
  return flag('pay', { fields: fields === '' ? '' : `${fields}\n` });
}

/** A ramp of the second of two windows, where production has the first. */
const ramped = (late: string): Record<string, string> => ({
  'flagkeel.yaml': `${config().replace('protected: true', 'windows: [office]')}windows:
  office: { days: [mon, tue], from: 09:00, to: 17:00, zone: Europe/Madrid }
  late: { ${late} }
`,
  'flags/pay.yaml': pay().concat('    ramp: { steps: "10, 6h, 50", within: late }\n'),
});

const withDefault = (treatment: string, name = 'pay', members = ''): string =>
  threeWay('"v1", "off", "v2"', '"off": 100', members)
    .replace('flag: pay', `flag: ${name}`)
    .replace('Treatment: "off"', `Treatment: "${treatment}"`);

const keysTo = (count: number): string =>
  Array.from({ length: count }, (_, i) => `u${i}`).join(', ');

const FIXTURES: Readonly<Record<string, readonly Fixture[]>> = {
  'stale-rollout': [
    [
      'everybody gets the same, targets too, and no commit came for long',
      house('{ staleAfter: 120 }', ROLLED_OUT),
      'flags/pay.yaml:1:7 warning[stale-rollout] everybody gets "on" everywhere, and has for 120 days at least',
    ],
    ['a commit came since', house('{ staleAfter: 121 }', ROLLED_OUT)],
    ['the house says nothing of it', ROLLED_OUT],
    [
      'somebody gets something else, now or by a ramp, it is killed, or its kind may be on for everybody',
      flags(
        '{ staleAfter: 1, fullRollout: [operations], levels: { full-rollout: off } }',
        ROLLED_OUT.replace('"on": [qa]', '"off": [qa]'),
        `${ROLLED_OUT}  staging: { defaultRule: "off" }\n`,
        `${ROLLED_OUT}    ramp: { treatment: "off", start: 2027-01-01T00:00Z, steps: [{ percent: 50 }] }\n`,
        ROLLED_OUT.replace('targets', 'killed: true\n    targets'),
        ROLLED_OUT.replace('flag: pay', 'flag: pay\nkind: operations'),
      ),
    ],
  ],
  'unreachable-rule': conditionCases(
    'flags/pay.yaml:8:9 warning[unreachable-rule] rule 2 is never reached: rule 1 matches everybody whom it matches',
    {
      'the same condition before': '{ segment: staff } | { segment: staff } => "off"',
      'fewer conditions before':
        '{ segment: staff } | [{ segment: staff }, { attribute: a, is: true }] => "off"',
      'more texts before': '{ attribute: c, in: [ES, FR] } | { attribute: c, in: [ES] } => "off"',
      'a lower bound before':
        '{ attribute: n, atLeast: 5 } | { attribute: n, atLeast: 7 } => "off"',
      'a higher bound before': '{ attribute: n, atMost: 7 } | { attribute: n, atMost: 5 } => "off"',
      'the same written as a matcher':
        '{ matcher: { type: IN_SEGMENT, string: staff } } | { segment: staff } => "off"',
    },
    {
      'more conditions before':
        '[{ segment: staff }, { attribute: a, is: true }] | { segment: staff } => "off"',
      'fewer texts before': '{ attribute: c, in: [ES] } | { attribute: c, in: [ES, FR] } => "off"',
      'more texts, but turned round':
        '{ attribute: c, in: [ES, FR], not: true } | { attribute: c, in: [ES], not: true } => "off"',
      'another attribute': '{ attribute: c, in: [ES] } | { attribute: d, in: [ES] } => "off"',
      'a bound that is narrower':
        '{ attribute: n, atLeast: 7 } | { attribute: n, atLeast: 5 } => "off"',
    },
  ),
  'contradictory-rule': conditionCases(
    'flags/pay.yaml:7:COLUMN warning[contradictory-rule] this condition and condition 1 of the rule never hold together',
    {
      'a condition and its opposite': '[{ segment: staff }, ^{ segment: staff, not: true }]',
      'two lists without a text in common':
        '[{ attribute: c, in: [ES] }, ^{ attribute: c, in: [FR] }]',
      'bounds that leave nothing': '[{ attribute: n, atMost: 3 }, ^{ attribute: n, atLeast: 5 }]',
    },
    {
      'lists that share a text': '[{ attribute: c, in: [ES, FR] }, { attribute: c, in: [FR] }]',
      'two lists that it is in neither of':
        '[{ attribute: c, in: [ES], not: true }, { attribute: c, in: [FR], not: true }]',
      'sets, which may hold both':
        '[{ attribute: c, setAnyOf: [ES] }, { attribute: c, setAnyOf: [FR] }]',
    },
  ),
  'duplicate-condition': conditionCases(
    'flags/pay.yaml:7:COLUMN warning[duplicate-condition] the condition says the same as condition 1 of the rule',
    {
      'a condition twice': '[{ segment: staff }, ^{ segment: staff }]',
      'a list in another order':
        '[{ attribute: c, in: [ES, FR] }, ^{ attribute: c, in: [FR, ES] }]',
    },
    { 'two conditions that differ': '[{ attribute: c, in: [ES] }, { attribute: d, in: [ES] }]' },
  ),
  'use-between': [
    [
      'the name of conditions brings one of the halves',
      {
        ...ruled('[{ attribute: age, atMost: 99 }, { attribute: a, is: true }, { use: adults }]'),
        'flagkeel.yaml': `${config('{ levels: { unused-segment: off } }')}conditions: { adults: [{ segment: staff }, { attribute: age, atLeast: 18 }] }\n`,
      },
      'flags/pay.yaml:7:83 warning[use-between] with condition 1 of the rule this is one range: between: [18, 99]',
    ],
    ...conditionCases(
      'flags/pay.yaml:7:COLUMN warning[use-between] with condition 1 of the rule this is one range: between: [18, 65]',
      {
        'two bounds of one attribute':
          '[{ attribute: n, atLeast: 18 }, ^{ attribute: n, atMost: 65 }]',
        'the same the other way round':
          '[{ attribute: n, atMost: 65 }, ^{ attribute: n, atLeast: 18 }]',
      },
      {
        'bounds of two attributes': '[{ attribute: n, atLeast: 18 }, { attribute: m, atMost: 65 }]',
        'one of them turned round':
          '[{ attribute: n, atLeast: 18 }, { attribute: n, atMost: 65, not: true }]',
      },
    ),
  ],
  'rule-like-default': [
    [
      'the last rule serves the default',
      ruled('{ segment: staff } => { "on": 10, "off": 90 }'),
      'flags/pay.yaml:7:9 warning[rule-like-default] rule 1 serves the same as defaultRule, and is the last: without it everybody gets the same',
    ],
    [
      'a rule before another serves it',
      ruled('{ segment: staff } => { "on": 10, "off": 90 }', '{ attribute: a, is: true }'),
    ],
    [
      'the default rule is not managed',
      flag('pay', {
        production:
          '    unmanaged: [defaultRule]\n    rules: [{ if: { attribute: a, is: true }, serve: { "on": 10, "off": 90 } }]\n',
      }),
    ],
  ],
  'invalid-regex': [
    [
      'an open class',
      ruled('{ attribute: sku, matches: "[a-" }'),
      'flags/pay.yaml:7:15 error[invalid-regex] "[a-" is no regular expression: Unterminated character class',
    ],
    [
      'an open group, among others',
      ruled('[{ segment: staff }, { attribute: sku, matches: "(a" }]'),
      'flags/pay.yaml:7:36 error[invalid-regex] "(a" is no regular expression: Unterminated group',
    ],
    ['an expression', ruled('{ attribute: sku, matches: "^A[0-9]+$" }')],
  ],
  'empty-segment': [
    [
      'a segment that holds nobody',
      ruled('{ segment: nobody }'),
      'flags/pay.yaml:7:15 warning[empty-segment] segment "nobody" holds no key in "production", so the rule is for nobody',
    ],
    ['everybody but nobody', ruled('{ segment: nobody, not: true }')],
    ['a segment that holds somebody', ruled('{ segment: staff }')],
    [
      'keys that others fill in',
      {
        ...ruled('{ segment: nobody }'),
        'segments/nobody.yaml':
          'segment: nobody\nenvironments: { production: { mode: add-only, keys: [] } }\n',
      },
    ],
  ],
  'full-rollout': [
    [
      'a release that is on for everybody',
      house('{ fullRollout: [operations] }', serving('"on"', 'kind: release')),
      'flags/pay.yaml:6:3 warning[full-rollout] everybody whom no rule concerns gets "on" in "production", which only flags of kind "operations" may do',
    ],
    [
      'a kind that may, and off for everybody',
      flags('{ fullRollout: [operations] }', serving('"on"', 'kind: operations'), serving('"off"')),
    ],
    ['no such rule in this house', serving('"on"')],
  ],
  expired: [
    [
      'yesterday',
      pay('expires: 2026-11-21'),
      'flags/pay.yaml:2:10 warning[expired] the flag was to be gone by 2026-11-21',
    ],
    ['today', pay('expires: 2026-11-22')],
  ],
  'kill-review-passed': [
    [
      'a review that is past',
      listed('pay: { reason: INC-1, review: 2026-11-01 }'),
      'kills/production.yaml:2:33 warning[kill-review-passed] the kill of "pay" was to be reviewed on 2026-11-01',
    ],
    ['a review to come', listed('pay: { reason: INC-1, review: 2026-11-22 }')],
  ],
  'kill-too-old': [
    [
      'no review for 31 days',
      listed('pay: { reason: INC-1, since: 2026-10-22T23:59:59Z }'),
      'kills/production.yaml:2:32 warning[kill-too-old] "pay" has been killed since 2026-10-22, for more than 30 days, and no "review" is set',
    ],
    [
      'as many days as the house says, and one more',
      {
        'flagkeel.yaml': config('{ killsOlderThan: 7 }'),
        ...listed(
          'pay: { reason: INC-1, since: 2026-11-15 }',
          'fees: { reason: INC-1, since: 2026-11-14 }',
        ),
      },
      'kills/production.yaml:3:33 warning[kill-too-old] "fees" has been killed since 2026-11-14, for more than 7 days, and no "review" is set',
    ],
    [
      '30 days, a review that is set, and no day of the kill',
      listed(
        'pay: { reason: INC-1, since: 2026-10-23 }',
        'fees: { reason: INC-1, since: 2026-01-01, review: 2026-12-01 }',
        'tax: { reason: INC-1 }',
      ),
    ],
  ],
  'trailing-space-key': [
    [
      'keys of a segment, a target, an identity and a spec test, and attributes',
      {
        'flags/pay.yaml': flag('pay', {
          production:
            '    targets: { "on": ["qa ", u2] }\n    rules: [{ if: { attribute: " plan", is: true }, serve: "on" }]\n',
        }),
        'identities/user.production.yaml':
          'identities:\n  environment: production\n  keys: { "u1 ": { "plan\\t": pro } }\n',
        'segments/staff.yaml': segment('staff', '" u1", u2', 'allow: unused-segment # shown\n'),
        'tests/pay.test.yaml':
          'tests: pay\ncases: [{ name: one, environment: production, key: "qa ", expect: "off" }]\n',
      },
      'flags/pay.yaml:6:23 warning[trailing-space-key] key "qa " begins or ends with a space',
      'flags/pay.yaml:7:32 warning[trailing-space-key] key " plan" begins or ends with a space',
      'identities/user.production.yaml:3:11 warning[trailing-space-key] key "u1 " begins or ends with a space',
      'identities/user.production.yaml:3:20 warning[trailing-space-key] key "plan\t" begins or ends with a space',
      'segments/staff.yaml:3:38 warning[trailing-space-key] key " u1" begins or ends with a space',
      'tests/pay.test.yaml:2:52 warning[trailing-space-key] key "qa " begins or ends with a space',
    ],
    [
      'a list of identities, told at its beginning',
      { 'identities/user.production.csv': 'key,plan\nu1,pro\nu2 ,pro\n' },
      'identities/user.production.csv:1:1 warning[trailing-space-key] key "u2 " begins or ends with a space',
    ],
    [
      'an overlay, which the flag allows',
      overlaid(
        'targets: { "on": ["qa "] }\ndefaultRule: "off"',
        'allow: trailing-space-key # the old app writes it so\n',
      ),
    ],
    [
      'spaces in texts that are no keys, within keys, and around the lines of a key file',
      {
        'flags/pay.yaml': flag('pay', {
          fields: 'description: "Pay "\n',
          production:
            '    targets: { "on": [a b] }\n    rules: [{ if: { attribute: plan, in: ["a "] }, serve: "on" }]\n',
        }).replace('"on": ""', '"on": " new "'),
        'segments/staff.yaml': segment('staff', '', 'allow: unused-segment # shown\n').replace(
          'keys: []',
          'keysFile: staff.keys',
        ),
        'segments/staff.keys': 'u1 \n',
      },
    ],
  ],
  'confusable-names': [
    [
      'case and hyphens',
      { 'flags/new-cart.yaml': flag('new-cart'), 'flags/newCart.yaml': flag('newCart') },
      'flags/newCart.yaml:1:7 warning[confusable-names] "newCart" differs from flag "new-cart" by case, "-" and "_" alone',
    ],
    [
      'letters that look alike',
      {
        'flags/modem-10.yaml': flag('modem-10'),
        'flags/modern-IO.yaml': flag('modern-IO'),
        'flags/vvall.yaml': flag('vvall'),
        'flags/wall.yaml': flag('wall'),
      },
      'flags/modern-IO.yaml:1:7 warning[confusable-names] "modern-IO" differs from flag "modem-10" by letters alone that look alike',
      'flags/wall.yaml:1:7 warning[confusable-names] "wall" differs from flag "vvall" by letters alone that look alike',
    ],
    ['a number more', { 'flags/cart1.yaml': flag('cart1'), 'flags/cart2.yaml': flag('cart2') }],
  ],
  'unused-segment': [
    [
      'a segment that no rule names',
      { 'segments/staff.yaml': segment('staff', 'u1') },
      'segments/staff.yaml:1:10 warning[unused-segment] no rule of this repository names segment "staff"',
    ],
    [
      'a segment that a rule names',
      {
        ...ruled('{ segment: staff }', '{ segment: nobody, not: true } => "off"'),
        'flagkeel.yaml': config(),
      },
    ],
  ],
  'duplicate-segment-keys': [
    [
      'the same keys in another order',
      segments({ a: 'u1, u2', b: 'u2, u1' }),
      'segments/b.yaml:1:10 warning[duplicate-segment-keys] segment "b" has the same keys as "a" in every environment',
    ],
    ['two empty ones', segments({ a: '', b: '' })],
    [
      'keys of another traffic type',
      {
        ...segments({ a: 'u1' }),
        'segments/b.yaml': segment('b', 'u1', 'trafficType: account\n'),
      },
    ],
  ],
  'many-inline-keys': [
    [
      '201 keys',
      segments({ a: keysTo(201) }),
      'segments/a.yaml:2:37 warning[many-inline-keys] 201 keys stand in the spec itself; put them in a file and name it in keysFile',
    ],
    ['200 keys', segments({ a: keysTo(200) })],
  ],
  'name-pattern': [
    [
      'a flag',
      house('{ names: { flag: "[a-z-]+" } }', flag('payX')),
      'flags/payX.yaml:1:7 error[name-pattern] flag "payX" does not match [a-z-]+',
    ],
    [
      'part of a name is not enough',
      house('{ names: { flag: pay } }', flag('pay-now')),
      'flags/pay-now.yaml:1:7 error[name-pattern] flag "pay-now" does not match pay',
    ],
    [
      'a treatment, a tag and a segment',
      {
        'flagkeel.yaml': config(
          '{ names: { treatment: "on", tag: "team-.*", segment: "s-.*" }, levels: { unused-segment: off } }',
        ),
        'flags/pay.yaml': pay('tags: [team-a, web]'),
        'segments/staff.yaml': segment('staff', 'u1'),
      },
      'flags/pay.yaml:2:16 error[name-pattern] tag "web" does not match team-.*',
      'flags/pay.yaml:3:25 error[name-pattern] treatment "off" does not match on',
      'segments/staff.yaml:1:10 error[name-pattern] segment "staff" does not match s-.*',
    ],
    ['names that match', house('{ names: { flag: "[a-z]+", treatment: "on|off" } }', pay())],
    [
      'a pattern that is none',
      house('{ names: { flag: "(a" } }', pay()),
      'flagkeel.yaml:4:24 error[name-pattern] "(a" is no regular expression: Unterminated group',
    ],
    [
      'a pattern that looks ahead',
      house('{ names: { flag: "(?!tmp).*" } }', pay()),
      'flagkeel.yaml:4:24 error[name-pattern] "(?!tmp).*" cannot be used for names: it looks ahead or behind, or refers to what it found before',
    ],
  ],
  'required-field': [
    [
      'what is not there, and what is empty',
      house('{ require: [owner, description, tags] }', pay('description: " "\ntags: []')),
      'flags/pay.yaml:1:7 error[required-field] the house wants "owner", "description", "tags"',
    ],
    ['all that is wanted', house('{ require: [owner, tags] }', pay('owner: team\ntags: [a]'))],
    [
      'a protected environment without a test',
      house('{ require: [tests] }', pay()),
      'flags/pay.yaml:1:7 error[required-field] the house wants a spec test of a protected environment',
    ],
    [
      'a flag without a protected environment',
      house('{ require: [tests] }', pay().replace('production:', 'staging:')),
    ],
    [
      'one with a test',
      {
        'flagkeel.yaml': config('{ require: [tests] }'),
        'flags/pay.yaml': pay(),
        'tests/pay.test.yaml':
          'tests: pay\ncases: [{ name: a, environment: production, expect: { "on": 10, "off": 90 } }]\n',
      },
    ],
  ],
  'unknown-word': [
    [
      'an owner and a tag',
      house('{ words: { owner: [team-a], tags: [web] } }', pay('owner: team-b\ntags: [web, wbe]')),
      'flags/pay.yaml:2:8 error[unknown-word] "team-b" is none of the words for owner (lint.words in flagkeel.yaml)',
      'flags/pay.yaml:3:13 error[unknown-word] "wbe" is none of the words for tags (lint.words in flagkeel.yaml)',
    ],
    [
      'words that are agreed on, and none',
      house('{ words: { owner: [team-a], kind: [release] } }', pay('owner: team-a')),
    ],
  ],
  'expiry-too-late': [
    [
      'a day too late',
      house('{ expiresWithin: { release: 30 } }', pay('kind: release\nexpires: 2026-12-23')),
      'flags/pay.yaml:3:10 error[expiry-too-late] a flag of kind "release" expires within 30 days, by 2026-12-22',
    ],
    [
      'no day at all',
      house('{ expiresWithin: { release: 30 } }', pay('kind: release')),
      'flags/pay.yaml:1:7 error[expiry-too-late] a flag of kind "release" needs "expires", 2026-12-22 at the latest',
    ],
    [
      'the last day, and another kind',
      flags(
        '{ expiresWithin: { release: 30 } }',
        pay('kind: release\nexpires: 2026-12-22'),
        pay('kind: operations'),
      ),
    ],
  ],
  'an exception': [
    [
      'with its reason lets pass',
      flag('pay', {
        fields:
          'expires: 2026-01-01\nallow: expired # the app in the stores asks for it until May\n',
      }),
    ],
    ['in a list', pay('expires: 2026-01-01\nallow:\n  - expired # until May')],
    [
      'without a reason',
      pay('expires: 2026-01-01\nallow: expired'),
      'flags/pay.yaml:3:8 error[allow-without-reason] say why "expired" is allowed in a comment behind it: allow: expired # reason',
    ],
    [
      'that nothing needs',
      pay('allow: expired # not yet'),
      'flags/pay.yaml:2:8 warning[allow-unused] nothing here needs "expired" to be allowed',
    ],
    [
      'of no rule',
      pay('allow: expird # not yet'),
      'flags/pay.yaml:2:8 error[allow-unknown] there is no rule "expird"',
    ],
    [
      'in a segment',
      {
        'segments/staff.yaml': segment(
          'staff',
          'u1',
          'allow: unused-segment # the mobile app uses it\n',
        ),
      },
    ],
    [
      'in the flag lets pass what stands in its overlay',
      overlaid(
        'rules: [{ if: { attribute: a, is: true }, serve: "on" }]\ndefaultRule: "on"',
        'allow: rule-like-default # for the record\n',
      ),
    ],
  ],
  'unused-condition': [
    [
      'neither a rule nor another condition uses it',
      {
        'flagkeel.yaml': `${config()}conditions: { adults: { attribute: age, atLeast: 18 } }\n`,
        'flags/pay.yaml': pay(),
      },
      'flagkeel.yaml:4:15 warning[unused-condition] no rule of this repository uses condition "adults"',
    ],
    [
      'a rule that every environment takes over uses one, and that one another',
      {
        'flagkeel.yaml': `${config()}conditions: { adults: { attribute: age, atLeast: 18 }, grown: { use: adults } }\n`,
        'flags/pay.yaml': pay().concat(
          '  "*": { rules: [{ if: { use: grown }, serve: "off" }] }\n',
        ),
      },
    ],
    [
      'an overlay uses it',
      {
        'flagkeel.yaml': `${config()}conditions: { adults: { attribute: age, atLeast: 18 } }\n`,
        ...overlaid('rules: [{ if: [{ use: adults }], serve: "on" }]\ndefaultRule: "off"'),
      },
    ],
  ],
  'zero-bucket': [
    [
      'a size of 0 in a rule, and a rest of 0 in the default rule',
      {
        ...ruled('{ segment: staff } => { "on": 0, "off": rest }'),
        'flags/late.yaml': flag('late').replace('"on": 10, "off": rest', '"on": 100, "off": rest'),
      },
      'flags/late.yaml:6:38 warning[zero-bucket] nobody gets "off" by a bucket of 0 %',
      'flags/pay.yaml:7:50 warning[zero-bucket] nobody gets "on" by a bucket of 0 %',
    ],
    [
      'the default rule of all environments',
      pay()
        .replace('"on": 10', '"on": 0')
        .replace('production:\n', '"*":\n')
        .concat('  production: {}\n'),
      'flags/pay.yaml:6:26 warning[zero-bucket] nobody gets "on" by a bucket of 0 %',
    ],
    [
      'the default rule of an overlay',
      overlaid('defaultRule: { "on": 0, "off": rest }'),
      'flags/pay@production.yaml:3:22 warning[zero-bucket] nobody gets "on" by a bucket of 0 %',
    ],
    ['a ramp makes it grow', pay().replace('"on": 10', '"on": 0').concat('    ramp: 10, 6h, 50\n')],
    ['every bucket has somebody', pay()],
  ],
  'middle-bucket-shift': [
    [
      'two treatments before the default one',
      threeWay('"v1", "v2", "off"', '"v1": 10, "v2": 10, "off": rest'),
      'flags/pay.yaml:5:30 warning[middle-bucket-shift] "v1" and "v2" lie side by side: where one of them grows at the cost of "off", keys of the other change',
    ],
    [
      'two treatments behind it, in a rule',
      threeWay(
        '"off", "v1", "v2"',
        '"off": 100',
        'rules: [{ if: { attribute: a, is: true }, serve: { "off": 50, "v1": 25, "v2": 25 } }], ',
      ),
      'flags/pay.yaml:5:66 warning[middle-bucket-shift] "v1" and "v2" lie side by side: where one of them grows at the cost of "off", keys of the other change',
    ],
    [
      'the default treatment between them, nothing of it left to grow into, or three that are compared',
      flags(
        '{}',
        threeWay('"v1", "off", "v2"', '"v1": 10, "v2": 10, "off": rest'),
        threeWay('"v1", "v2", "off"', '"v1": 50, "v2": 50'),
        threeWay('"off", "v1", "v2"', '"off": 34, "v1": 33, "v2": 33'),
      ),
    ],
  ],
  'default-not-safe': [
    [
      'on, while few get it',
      pay().replace('Treatment: "off"', 'Treatment: "on"'),
      'flags/pay.yaml:5:3 warning[default-not-safe] a kill serves everybody "on", which 10 % get in "production" so far',
    ],
    [
      'another treatment than the baseline',
      threeWay('"v1", "off", "v2"', '"v1": 10, "off": rest').replace(
        'defaultTreatment: "off"',
        'defaultTreatment: "v1"\nbaselineTreatment: "off"',
      ),
      'flags/pay.yaml:6:3 warning[default-not-safe] a kill serves everybody "v1", which 10 % get in "production" so far',
    ],
    [
      'on, and everybody gets it, or it is the baseline too',
      flags(
        '{}',
        serving('"on"').replace('Treatment: "off"', 'Treatment: "on"'),
        pay().replace('Treatment: "off"', 'Treatment: "on"\nbaselineTreatment: "on"'),
      ),
    ],
  ],
  'ramp-finished': [
    [
      'the last step is past, of the default rule and of a rule',
      flag('pay', {
        production:
          '    rules: [{ if: { attribute: a, is: true }, serve: "off", ramp: { start: 2026-11-01T09:00Z, steps: "10, 1d, 40" } }]\n',
      }).concat(
        '    ramp: { steps: [{ percent: 20, at: 2026-11-20T09:00Z }, { percent: 50, at: 2026-11-21T23:59Z }] }\n',
      ),
      'flags/pay.yaml:6:67 warning[ramp-finished] the last step of the ramp, 40 % of "on", was due at 2026-11-02T09:00+00:00',
      'flags/pay.yaml:8:11 warning[ramp-finished] the last step of the ramp, 50 % of "on", was due at 2026-11-21T23:59+00:00',
    ],
    [
      'the last step is due today, or after a freeze',
      {
        'flagkeel.yaml': `${config()}freezes: { sale: { from: 2026-11-20, to: 2026-11-30, zone: UTC, environments: [staging] } }\n`,
        'flags/pay.yaml': pay().concat(
          '    ramp: { start: 2026-11-20T00:00Z, steps: "20, 1d, 50, 1d, 60" }\n',
          '  staging: { defaultRule: "off", ramp: { start: 2026-11-19T23:00Z, steps: "20, 2h, 50" } }\n',
        ),
      },
    ],
    [
      'nobody knows when it began, it is held, and the flag is killed',
      {
        'flags/pay.yaml': pay().concat('    ramp: 20, 1d, 50\n'),
        'flags/fees.yaml': flag('fees').concat(
          '    ramp: { start: 2026-11-01T00:00Z, steps: "20, 1d, 50", hold: true }\n',
        ),
        'flags/tax.yaml': flag('tax', { production: '    killed: true\n' }).concat(
          '    ramp: { start: 2026-11-01T00:00Z, steps: "20, 1d, 50" }\n',
        ),
      },
    ],
  ],
  'ramp-never': [
    [
      'its window is never open together with those of the environment',
      ramped('days: [mon, tue], from: 20:00, to: 23:00, zone: Europe/Madrid'),
      'flags/pay.yaml:7:42 error[ramp-never] no step of the ramp is ever due: its window "late" and those of its environment are never open at the same time',
    ],
    [
      'both are open once a year alone, while the clock of one of them is changed',
      ramped('days: [mon], from: 11:00, to: 12:00, zone: America/New_York'),
    ],
  ],
  'ramp-past': [
    [
      'a moment before the start, the moment of the step before, and one within its wait',
      pay().concat(
        '    ramp:\n      start: 2026-12-02T09:00Z\n      steps:\n',
        '        - { percent: 20, at: 2026-12-01T09:00Z }\n        - { percent: 30, at: 2026-12-02T10:00+01:00 }\n',
        '        - { percent: 40, after: 2d }\n        - { percent: 50, at: 2026-12-03T09:00Z }\n',
      ),
      'flags/pay.yaml:10:30 error[ramp-past] step 1 is for 2026-12-01T09:00+00:00, and the ramp starts at 2026-12-02T09:00+00:00',
      'flags/pay.yaml:11:30 error[ramp-past] step 2 is for 2026-12-02T09:00+00:00, and step 1 is due at 2026-12-02T09:00+00:00',
      'flags/pay.yaml:13:30 error[ramp-past] step 4 is for 2026-12-03T09:00+00:00, and step 3 is due at 2026-12-04T09:00+00:00',
    ],
    [
      'each later than the one before, the first with the start',
      pay().concat(
        '    ramp: { start: 2026-12-01T09:00Z, steps: [{ percent: 20, at: 2026-12-01T09:00Z }, { percent: 30, at: 2026-12-01T09:01Z }] }\n',
      ),
    ],
  ],
  'ramp-in-freeze': [
    [
      'a step falls into a freeze of the environment',
      {
        'flagkeel.yaml': `${config()}freezes: { sale: { from: 2026-11-25, to: 2026-11-30, zone: Europe/Madrid, reason: the shop is full } }\n`,
        'flags/pay.yaml': pay().concat(
          '    ramp: { steps: [{ percent: 20, at: 2026-11-24T09:00Z }, { percent: 30, at: 2026-11-26T09:00Z }] }\n',
        ),
      },
      'flags/pay.yaml:7:80 warning[ramp-in-freeze] step 2 waits in "production": at 2026-11-26T10:00+01:00 it is frozen by "sale" (the shop is full) until 2026-12-01T00:00+01:00 (Europe/Madrid)',
    ],
    [
      'a freeze of another environment, one that is past, and a step with a wait',
      {
        'flagkeel.yaml': `${config()}freezes:\n  sale: { from: 2026-11-25, to: 2026-11-30, zone: UTC, environments: [staging] }\n  audit: { from: 2026-11-10, to: 2026-11-12, zone: UTC }\n  party: { from: 2026-12-10, to: 2026-12-12, zone: UTC }\n`,
        'flags/pay.yaml': pay().concat(
          '    ramp: { steps: [{ percent: 20, at: 2026-11-11T09:00Z }, { percent: 30, at: 2026-11-26T09:00Z }, { percent: 40, after: 15d }] }\n',
        ),
      },
    ],
  ],
  'default-while-killed': [
    [
      'the default changes under a kill of the file, and under one of kills/',
      {
        'flags/fees.yaml': withDefault('off', 'fees'),
        'HEAD:flags/fees.yaml': withDefault('v2', 'fees'),
        'kills/production.yaml': 'kills: { fees: { reason: INC-1 } }\n',
        'flags/pay.yaml': withDefault('off', 'pay', 'killed: true, '),
        'HEAD:flags/pay.yaml': withDefault('v1'),
      },
      'flags/fees.yaml:5:3 error[default-while-killed] "production" is killed, and everybody gets "off" where the last commit says "v2"',
      'flags/pay.yaml:5:3 error[default-while-killed] "production" is killed, and everybody gets "off" where the last commit says "v1"',
    ],
    [
      'nobody kills it, it is killed and the default stays, or it is new',
      {
        'flags/pay.yaml': withDefault('off'),
        'HEAD:flags/pay.yaml': withDefault('v1'),
        'flags/tax.yaml': flag('tax', { production: '    killed: true\n' }),
        'HEAD:flags/tax.yaml': flag('tax'),
        'flags/fees.yaml': flag('fees', { production: '    killed: true\n' }),
        'HEAD:flags/fees.yaml': '',
      },
    ],
  ],
  'treatments-reordered': [
    [
      'of the default rule, and of a rule that moved',
      {
        'flags/pay.yaml': threeWay(
          '"off", "on"',
          '"off": 90, "on": 10',
          'rules: [{ if: { attribute: b, is: true }, serve: "on" }, { if: { attribute: a, is: true }, serve: { "off": 50, "on": 50 } }], ',
        ),
        'HEAD:flags/pay.yaml': threeWay(
          '"on", "off"',
          '"on": 20, "off": 80',
          'rules: [{ if: { attribute: a, is: true }, serve: { "on": 50, "off": 50 } }], ',
        ),
      },
      'flags/pay.yaml:5:115 error[treatments-reordered] keys change their treatment: the last commit has the order "on", "off", and this is "off", "on"',
      'flags/pay.yaml:5:156 error[treatments-reordered] keys change their treatment: the last commit has the order "on", "off", and this is "off", "on"',
    ],
    [
      'a treatment comes between two, and everybody gets one',
      {
        'flags/pay.yaml': threeWay('"v1", "off", "v2"', '"v1": 10, "off": 80, "v2": 10'),
        'HEAD:flags/pay.yaml': threeWay('"v1", "v2", "off"', '"v1": 10, "v2": 0, "off": 90'),
        'flags/fees.yaml': flag('fees').replace('{ "on": 10, "off": rest }', '"on"'),
        'HEAD:flags/fees.yaml': flag('fees').replace(
          '"on": 10, "off": rest',
          '"off": 90, "on": 10',
        ),
      },
    ],
  ],
  'production-before-staging': [
    [
      'nobody gets it in staging',
      {
        'flags/pay.yaml': pay().concat('  staging: { defaultRule: "off" }\n'),
        'flagkeel.yaml': config('{ provenIn: [staging] }'),
      },
      'flags/pay.yaml:5:3 error[production-before-staging] "on" in "production" before anybody gets it in "staging"',
    ],
    [
      'it is declared for production alone, and a ramp will serve it',
      house('{ provenIn: [staging] }', serving('"off"').concat('    ramp: 10, 1d, 20\n')),
      'flags/pay.yaml:5:3 error[production-before-staging] "on" in "production" before anybody gets it in "staging"',
    ],
    [
      'somebody gets it in staging, or production serves nothing of it, being killed',
      flags(
        '{ provenIn: [staging] }',
        pay().concat('  staging: { defaultRule: "on" }\n'),
        flag('pay', { production: '    killed: true\n' }),
      ),
    ],
    ['the house says nothing of it', pay()],
  ],
  'name-reused': [
    [
      'a flag of this name was removed',
      { 'flags/shop/gone.yaml': flag('gone'), 'flagkeel.yaml': config('{ reserveNames: true }') },
      'flags/shop/gone.yaml:1:7 error[name-reused] another flag "gone" was removed on 2026-03-01',
    ],
    ['another flag was removed', house('{ reserveNames: true }', pay())],
    ['the house says nothing of it', flag('gone')],
  ],
  'code-ref-missing': [
    [
      'no code names the flag',
      {
        'flags/old.yaml': flag('old'),
        'flags/pay.yaml': pay(),
        'flagkeel.yaml': config('{ codeReferences: [src, app/names.csv] }'),
      },
      'flags/old.yaml:1:7 warning[code-ref-missing] no code in "src", "app/names.csv" names flag "old"',
    ],
    [
      'code elsewhere names it, which the flag says',
      house(
        '{ codeReferences: [src] }',
        flag('old', {
          fields: 'allow: code-ref-missing # the app in the stores asks for it\n',
        }),
      ),
    ],
    ['the house says nothing of code', flag('old')],
  ],
};
describe.each(Object.entries(FIXTURES))('%s', (_code, fixtures) => {
  it.each(fixtures)('%s', async (_situation, files, ...expected) => {
    expect(await lintLines(typeof files === 'string' ? filesOf(files) : files)).toEqual(expected);
  });
});

describe('stray files', () => {
  const SPEC = pay();

  it('are specs at the top, and in folders that are almost named like ours', async () => {
    const beside = [
      { path: 'flag/pay.yaml', text: SPEC },
      { path: 'pay.yaml', text: SPEC },
      { path: 'segment/staff.yaml', text: segment('staff', 'u1') },
      { path: 'segment/staff.keys', text: 'u1\n' },
      { path: 'kill/production.yaml', text: 'kills: {}\n' },
      { path: 'test/pay.yaml', text: 'tests: pay\ncases: []\n' },
    ];

    const lines = await lintLines({}, beside);

    const says = 'warning[stray-file] the file looks like a spec and is not read:';
    expect(lines).toEqual([
      `flag/pay.yaml:1:1 ${says} flags lie in flags/`,
      `kill/production.yaml:1:1 ${says} kills stand in kills/<environment>.yaml`,
      `pay.yaml:1:1 ${says} flags lie in flags/`,
      `segment/staff.keys:1:1 ${says} key files lie in segments/`,
      `segment/staff.yaml:1:1 ${says} segments lie in segments/`,
      `test/pay.yaml:1:1 ${says} spec tests lie in tests/ and end in .test.yaml`,
    ]);
  });

  it('are files in the folders of specs that are of no kind', async () => {
    const lines = await lintLines({
      'tests/pay.yaml': 'tests: pay\n',
      'flags/staff.keys': 'u1\n',
      'flags/user.production.csv': 'key\n',
    });

    const says = 'warning[stray-file] the file looks like a spec and is not read:';
    expect(lines).toEqual([
      `flags/staff.keys:1:1 ${says} key files lie in segments/`,
      `flags/user.production.csv:1:1 ${says} lists of identities lie in identities/`,
      `tests/pay.yaml:1:1 ${says} the name of a spec test ends in .test.yaml`,
    ]);
  });

  it('are none of other programs', async () => {
    const beside = [
      { path: 'docker-compose.yaml', text: 'services: {}\n' },
      { path: 'test/ci.yaml', text: 'tests: [unit]\n' },
      { path: 'dark.yaml', text: 'flag: dark-mode\n' },
    ];

    expect(await lintLines({ 'tests/README.md': '', 'flags/.notes.yaml': '' }, beside)).toEqual([]);
  });
});

it('lint judges what is right while something else is wrong, and takes nothing for unused then', async () => {
  const tree = treeOf({
    'flagkeel.yaml': config(),
    'flags/broken.yaml': 'flag: broken\n',
    'flags/old.yaml': flag('old', { fields: 'expires: 2026-01-01\n' }),
    'segments/staff.yaml': segment('staff', 'u1'),
  });
  const { parts } = await readWithParts(tree);

  const codes = lint(parts, { today: TODAY }).map(({ code }) => code);

  expect(codes).toEqual(['expired']);
});

it('specs-example has nothing to find', async () => {
  const tree = await directoryTree('specs-example');
  const { parts } = await readWithParts(tree);

  expect(lint(parts, { today: TODAY, strays: straysOf(tree, []) })).toEqual([]);
});

describe('the rules', () => {
  it('are each found by a fixture and left alone by another', () => {
    const named = LINT_RULES.filter(({ code }) => !/^(allow-|stray-)/.test(code));
    const bare = named.filter(({ code }) => {
      const expected = (FIXTURES[code] ?? []).map(([, , ...lines]) => lines.length > 0);
      return !expected.includes(true) || !expected.includes(false);
    });

    expect(bare.map(({ code }) => code)).toEqual([]);
  });

  it('are one for each code, and each a member of lint.levels', () => {
    const schema = JSON.parse(projectText('schemas/config.schema.json')) as {
      properties: { lint: { properties: { levels: { properties: object } } } };
    };

    expect(Object.keys(schema.properties.lint.properties.levels.properties)).toEqual(
      LINT_RULES.map(({ code }) => code).toSorted(),
    );
  });

  it('stand on docs/lint.md, each once, with its level, a reason and a way out', () => {
    const said = rowsOf(projectText('docs/lint.md'));
    const levels = said.map(([code, level]) => `${bare(code)} ${level ?? ''}`);

    expect(levels.toSorted()).toEqual(
      LINT_RULES.map(({ code, level }) => `${code} ${level}`).toSorted(),
    );
    expect(said.map((cells) => cells.filter((cell) => cell !== '').length)).toEqual(
      said.map(() => 4),
    );
  });

  it.each(
    [...projectText('docs/lint.md').matchAll(/^```yaml\n# (\S+)\n/gm)].map(([, path]) => path),
  )('are shown by an example that is right: %s', async () => {
    const { result } = await readWithParts(treeOf(examplesOf(projectText('docs/lint.md'))));

    expect(result.ok ? result.warnings : result.diagnostics).toEqual([]);
  });
});
