import { describe, expect, it } from 'vitest';
import type { Desired, DesiredDefinition } from '../../../src/model/desired.js';
import { SpecCache } from '../../../src/specs/cache.js';
import { readConfig } from '../../../src/specs/read-config.js';
import { readSpecs } from '../../../src/specs/read-specs.js';
import { treeOf } from '../../support/spec-tree.js';

const CONFIG = `
workspace: Default
environments:
  staging: {}
  production: {}
defaults: { trafficType: user }
references: { segments: [staff], flags: [elsewhere] }
`;

type Files = Record<string, string | Buffer>;

async function desiredOf(files: Files): Promise<Desired> {
  const result = await readSpecs(treeOf({ 'flagkeel.yaml': CONFIG, ...files }));
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics, null, 1));
  return result.desired;
}

async function codesOf(files: Files, links: readonly string[] = []): Promise<string[]> {
  const result = await readSpecs(treeOf({ 'flagkeel.yaml': CONFIG, ...files }, links));
  const diagnostics = result.ok ? result.warnings : result.diagnostics;
  return diagnostics.map(
    ({ severity, code, location: { file, line, column } }) =>
      `${severity} ${code} ${file}:${line}:${column}`,
  );
}

/** A flag `pay` whose production block is the text given. */
function pay(block: string, head = ''): string {
  return `flag: pay
${head}treatments: { "on": New, "off": Old }
defaultTreatment: "off"
environments:
  production:
${block.replace(/^/gm, '    ')}
`;
}

async function definitionOf(block: string, head = ''): Promise<DesiredDefinition> {
  const desired = await desiredOf({ 'flags/pay.yaml': pay(block, head) });
  const definition = desired.flags.get('pay')?.environments.get('production');
  if (definition === undefined) throw new Error('no definition');
  return definition;
}

const rule = (condition: string) =>
  `rules: [{ if: ${condition}, serve: "on" }]\ndefaultRule: "off"`;
const keysFile = (name: string, file: string) =>
  `segment: ${name}\nenvironments: { production: { keysFile: ${file} } }\n`;
const many = Array.from({ length: 21 }, (_, i) => `t${i}: x`).join(', ');
const SAME = '{ rules: [{ if: { segment: nobody }, serve: "on" }], defaultRule: "on" }';

it.each<[string, Files, unknown[], string[]?]>([
  [
    'a quoted number is a text where a number belongs',
    { 'flags/pay.yaml': pay('trafficAllocation: "50"\ndefaultRule: "on"') },
    ['error wrong-type flags/pay.yaml:6:24'],
  ],
  [
    'bytes are no UTF-8, or nested to a depth that only an attacker needs',
    {
      'flags/latin.yaml': Buffer.from([0x66, 0xe9, 0x0a]),
      'flags/deep.yaml': '['.repeat(200_000),
      'flags/dashes.yaml': '- '.repeat(200_000),
    },
    [
      expect.stringContaining('nested-too-deeply flags/dashes.yaml'),
      expect.stringContaining('nested-too-deeply flags/deep.yaml'),
      'error invalid-utf8 flags/latin.yaml:1:1',
    ],
  ],
  [
    'identities hold a null character, which the service refused in the middle of a run',
    { 'identities/user.production.csv': 'key,plan\nuser-1,pro\0\n' },
    ['error invalid-utf8 identities/user.production.csv:1:1'],
  ],
  [
    'a key has no value, in flow style too',
    { 'flags/pay.yaml': pay('defaultRule: "on"\nrules: [{ if, serve: "on" }]') },
    ['error wrong-type flags/pay.yaml:7:15'],
  ],
  [
    'tags, merge keys, directives and second documents',
    {
      'flags/a.yaml': 'flag: !!str a\n',
      'flags/b.yaml': '<<: { flag: b }\n',
      'flags/c.yaml': '%YAML 1.1\n---\nflag: c\n',
      'flags/d.yaml': 'flag: d\n---\nflag: d\n',
    },
    ['a', 'b', 'c', 'd'].map(
      (each) => expect.stringContaining(`error yaml-feature flags/${each}.yaml`) as string,
    ),
  ],
  [
    'a block is wrong at its own place where another environment says the same',
    {
      'flags/pay.yaml': pay('').replace(
        /production:\n.*/,
        `production: ${SAME}\n  staging: ${SAME}`,
      ),
    },
    ['error unknown-segment flags/pay.yaml:5:42', 'error unknown-segment flags/pay.yaml:6:39'],
  ],
  [
    'an overlay repeats an environment, stands alone, or has no default rule',
    {
      'flags/pay.yaml': pay('defaultRule: "on"'),
      'flags/pay@production.yaml': 'flag: pay\nenvironment: production\ndefaultRule: "on"\n',
      'flags/pai@staging.yaml': 'flag: pai\nenvironment: staging\ndefaultRule: "on"\n',
      'flags/pay@staging.yaml': 'flag: pay\nenvironment: staging\n',
    },
    [
      'error flag-missing flags/pai@staging.yaml:1:7',
      'error environment-twice flags/pay@production.yaml:2:14',
      'error missing-default-rule flags/pay@staging.yaml:2:1',
    ],
  ],
  [
    'once in "*", however many environments inherit it',
    {
      'flags/pay.yaml': `flag: pay
treatments: { "on": New, "off": Old }
defaultTreatment: "off"
environments: { "*": { defaultRule: onn }, staging: {}, production: {} }
`,
    },
    ['error unknown-treatment flags/pay.yaml:4:37'],
  ],
  [
    'one key under two treatments, one treatment, and twenty-one',
    {
      'flags/pay.yaml': pay('targets: { "on": [a], "off": [b, a] }\ndefaultRule: "on"'),
      'flags/one.yaml': 'flag: one\ntreatments: { a: x }\ndefaultTreatment: a\n',
      'flags/many.yaml': `flag: many\ntreatments: { ${many} }\ndefaultTreatment: t0\n`,
    },
    [
      'error treatment-count flags/many.yaml:2:1',
      'error treatment-count flags/one.yaml:2:1',
      expect.stringContaining('error target-twice flags/pay.yaml:6:'),
    ],
  ],
  [
    'a reserved treatment name is a warning',
    { 'flags/a.yaml': 'flag: a\ntreatments: { true: x, no: y }\ndefaultTreatment: no\n' },
    ['warning treatment-name-reserved flags/a.yaml:2:15'],
  ],
  [
    'treatments of another form than a flag are warnings, and one that stands for no answer is an error',
    {
      'flags/a.yaml':
        'flag: a\ntreatments: { v1.0: x, 20: x, _a: x, control: y }\ndefaultTreatment: v1.0\n',
    },
    [
      'error treatment-name flags/a.yaml:2:38',
      ...[15, 24, 31].map((at) => `warning treatment-name-reserved flags/a.yaml:2:${at}`),
    ],
  ],
  [
    'segments of another form than a flag are warnings',
    Object.fromEntries(
      ['9lives', '_s', 'v1.0', 'plain'].map((name) => [
        `segments/${name}.yaml`,
        `segment: ${name}\ntrafficType: user\n`,
      ]),
    ),
    ['9lives', '_s', 'v1.0'].map((name) => `warning segment-name segments/${name}.yaml:1:10`),
  ],
  [
    'an unknown segment in a raw matcher',
    { 'flags/pay.yaml': pay(rule('{ matcher: { type: IN_SEGMENT, string: stuff } }')) },
    [expect.stringContaining('unknown-segment')],
  ],
  [
    'files without a name or a default treatment, which are wrong in more than that',
    {
      'flags/cart.yaml': pay(rule('{ segment: stuff }'))
        .replace('pay', 'cart')
        .replace('defaultTreatment: "off"\n', ''),
      'flags/pay.yaml': pay(rule('{ segment: stuff }')).replace('flag: pay\n', ''),
      'segments/beta.yaml': keysFile('beta', 'no.keys').replace('segment: beta\n', ''),
    },
    [
      'error missing-field flags/cart.yaml:1:1',
      'error unknown-segment flags/cart.yaml:5:30',
      'error missing-field flags/pay.yaml:1:1',
      'error unknown-segment flags/pay.yaml:5:30',
      'error missing-field segments/beta.yaml:1:1',
      'error key-file-missing segments/beta.yaml:1:41',
    ],
  ],
  [
    'none in a reference to a file that cannot be judged',
    {
      'flags/pay.yaml': pay(rule('{ segment: beta }')),
      'segments/beta.yaml': 'segment: beta\nenvironmnts: {}\n',
    },
    ['error unknown-field segments/beta.yaml:2:1'],
  ],
  [
    'key files are missing, links, or elsewhere',
    {
      'segments/a.yaml': keysFile('a', 'nothere.keys'),
      'segments/b.yaml': keysFile('b', 'link.keys'),
      'segments/c.yaml': keysFile('c', '../flags/pay.keys'),
      'segments/d.yaml': keysFile('d', 'dir/x.keys'),
      'flags/pay.keys': 'a\n',
    },
    [
      expect.stringContaining('key-file-missing segments/a.yaml'),
      expect.stringContaining('key-file-outside segments/b.yaml'),
      expect.stringContaining('key-file-missing segments/c.yaml'),
      expect.stringContaining('key-file-outside segments/d.yaml'),
      'error not-a-file segments/dir:1:1',
      'error not-a-file segments/link.keys:1:1',
    ],
    ['segments/link.keys', 'segments/dir'],
  ],
  [
    'a key written twice and a key file that nobody names are warnings',
    {
      'segments/a.yaml': 'segment: a\nenvironments: { production: { keys: [x, x] } }\n',
      'segments/b.keys': 'x\n',
    },
    [
      'warning key-listed-twice segments/a.yaml:2:41',
      'warning unused-key-file segments/b.keys:1:1',
    ],
  ],
  [
    'a line of identities is short, a quote open, or a key there twice',
    {
      'identities/user.production.csv': 'key,plan\na,pro\na,free\nb\n',
      'identities/user.staging.csv': 'key,plan\na,"pro\n',
      'identities/account.prod.csv': 'key\n',
    },
    [
      'error unknown-environment identities/account.prod.csv:1:1',
      'error duplicate-identity identities/user.production.csv:3:1',
      'error csv-syntax identities/user.production.csv:4:1',
      expect.stringContaining('error csv-syntax identities/user.staging.csv:2:'),
    ],
  ],
  [
    'files that would be passed over in silence; notes beside specs are none',
    {
      'flags/README.md': '# Ours',
      'flags/.pay.yaml.swp': 'x',
      'flags/pay.yml': 'flag: pay',
      'kills/eu/production.yaml': 'kills: {}',
    },
    ['error file-extension flags/pay.yml:1:1', 'error misplaced-file kills/eu/production.yaml:1:1'],
  ],
])('mistakes are told with their places: %s', async (_situation, files, codes, links = []) => {
  expect(await codesOf(files, links)).toEqual(codes);
});

describe('text in specs', () => {
  it('keeps names and keys as they stand in the file, quoted or not', async () => {
    const desired = await desiredOf({
      'segments/odd.yaml': `segment: odd
environments: { production: { keys: [0012345, 1e5, on, null, true, ~, 0x1F, .inf] } }`,
    });

    expect(desired.segments.get('odd')?.environments.get('production')?.keys?.keys).toEqual(
      ['0012345', '0x1F', '.inf', '1e5', 'null', 'on', 'true', '~'].toSorted(),
    );
  });

  it('keeps treatments named on, null and 1e5, and their order when they look like numbers', async () => {
    const desired = await desiredOf({
      'flags/pay.yaml': `flag: pay
treatments: { on: a, null: b, 1e5: c, 20: d, 3: e }
defaultTreatment: null
environments: { production: { targets: { 1e5: [007] }, defaultRule: { 3: 50, 20: 50 } } }`,
    });

    const fields = desired.flags.get('pay')?.environments.get('production')?.fields;
    expect(fields?.treatments?.map(({ name }) => name)).toEqual(['on', 'null', '1e5', '20', '3']);
    expect(fields?.defaultTreatment).toBe('null');
    expect(fields?.targets).toEqual({ '1e5': ['007'] });
    expect(fields?.defaultRule).toEqual([
      { treatment: '20', size: 50 },
      { treatment: '3', size: 50 },
    ]);
  });

  it('reads through a byte order mark and Windows line ends', async () => {
    const text = `\uFEFF${pay('defaultRule: "on"')}`.replaceAll('\n', '\r\n');

    const desired = await desiredOf({ 'flags/pay.yaml': text });

    expect(desired.flags.get('pay')?.fields).toEqual({});
  });

  it('shows no API key, neither in a message nor in an excerpt nor in a later line about it', async () => {
    const key = 'fka_0123456789abcdefEXAMPLE';
    const tree = treeOf({
      'flagkeel.yaml': CONFIG,
      // In an excerpt, one would be cut in two, and one is glued to a word.
      'flags/pay.yaml': pay(
        `defaultRule: "${key}"\n${key}: 1`,
        `colour: ${'x'.repeat(160)} ${key}\nshape: x${key}\n`,
      ),
      'segments/k.keys': `${key}\n`,
    });

    const result = await readSpecs(tree);

    expect(JSON.stringify(result)).toContain('api-key-in-file');
    expect(JSON.stringify(result)).not.toContain('fka_0');
  });
});

describe('a definition', () => {
  it('has every default at creation, and leaves unwritten baseline and kill alone', async () => {
    const { fields, creation } = await definitionOf('defaultRule: "on"');

    expect(fields).toEqual({
      treatments: [
        { name: 'on', description: 'New' },
        { name: 'off', description: 'Old' },
      ],
      targets: {},
      defaultTreatment: 'off',
      trafficAllocation: 100,
      rules: [],
      defaultRule: [{ treatment: 'on', size: 100 }],
    });
    expect(creation).toEqual({ ...fields, baselineTreatment: 'off', killed: false });
  });

  it('leaves out what is unmanaged, but creates with it', async () => {
    const { fields, creation } = await definitionOf(
      'targets: { "on": [b, a, b] }\ndefaultRule: "on"\nunmanaged: [targets]',
    );

    expect(fields.targets).toBeUndefined();
    expect(creation.targets).toEqual({ on: ['a', 'b'] });
  });

  it('hears its own block first, then "*", then the flag', async () => {
    const desired = await desiredOf({
      'flags/pay.yaml': `flag: pay
treatments: { "on": New, "off": Old }
defaultTreatment: "off"
environments:
  "*": { trafficAllocation: 40, defaultRule: "on" }
  staging: {}
  production:
    treatments: { blue: { configuration: { a: [1, true, null, x] } }, green: "" }
    defaultTreatment: blue
    defaultRule: green
`,
    });

    const environments = desired.flags.get('pay')?.environments;
    expect([...(environments?.keys() ?? [])]).toEqual(['production', 'staging']);
    expect(environments?.get('staging')?.fields.trafficAllocation).toBe(40);
    expect(environments?.get('production')?.fields).toMatchObject({
      trafficAllocation: 40,
      defaultTreatment: 'blue',
      treatments: [
        { name: 'blue', configuration: { a: [1, true, null, 'x'] } },
        { name: 'green', description: '' },
      ],
    });
  });

  it('has its treatments in their own order where another environment has the same in another', async () => {
    const block = (treatments: string): string =>
      `{ treatments: { ${treatments} }, defaultRule: "on" }`;
    const staging = block('"off": Old, "on": New');
    const production = block('"on": New, "off": Old');
    const both = `staging: ${staging}\n  production: ${production}`;
    const text = pay('').replace(/production:\n.*/, both);
    const { flags } = await desiredOf({ 'flags/pay.yaml': text });

    const orders = [...(flags.get('pay')?.environments ?? [])].map(
      ([name, { fields }]) =>
        `${name} ${(fields.treatments ?? []).map((each) => each.name).join()}`,
    );
    expect(orders).toEqual(['production on,off', 'staging off,on']);
  });

  it('comes from an overlay as from a block, and at its place', async () => {
    const desired = await desiredOf({
      'flags/pay.yaml': pay('defaultRule: "on"'),
      'flags/ops/pay@staging.yaml':
        'flag: pay\nenvironment: staging\nkilled: true\ndefaultRule: "on"\n',
    });

    const definition = desired.flags.get('pay')?.environments.get('staging');
    expect(definition?.fields.killed).toBe(true);
    expect(definition?.location).toEqual({
      file: 'flags/ops/pay@staging.yaml',
      line: 2,
      column: 1,
    });
  });
});

it('flags share what a definition says, and only where all of it is said alike', async () => {
  const flag = (name: string, treatments: string): string => `flag: ${name}
treatments: ${treatments}
defaultTreatment: "off"
environments:
  staging:
    rules: [{ if: { attribute: country, in: [DE, FR] }, serve: { "on": 10, "off": rest } }]
    defaultRule: { "on": 1, "off": 99 }
`;
  const { flags } = await desiredOf({
    'flags/cart.yaml': flag('cart', '{ "on": "", "off": "" }'),
    'flags/pay.yaml': flag('pay', '{ "on": "", "off": "" }'),
    'flags/shop.yaml': flag('shop', '{ "off": "", "on": "" }'),
  });
  const [cart, pay, shop] = [...flags.values()].map(
    ({ environments }) => environments.get('staging')?.creation,
  );

  expect(cart).toBeDefined();
  expect(pay).toBe(cart);
  const orders = [cart, shop].map((each) =>
    [each?.rules[0]?.buckets, each?.defaultRule].map((buckets) =>
      buckets?.map(({ treatment }) => treatment).join(),
    ),
  );
  expect(orders).toEqual([
    ['on,off', 'on,off'],
    ['off,on', 'off,on'],
  ]);
});

describe('the tag that marks flags of git', () => {
  const tagged = (tag: string, members: string): Files => ({
    'flagkeel.yaml': `${CONFIG}ownershipTag: ${tag}\n`,
    'flags/pay.yaml': `${pay('defaultRule: "on"')}${members}`,
  });

  it.each<
    [string, string, tags?: string[] | undefined, creation?: string[] | undefined, tag?: string]
  >([
    ['is the only tag of git where the file has none', '', undefined, undefined, 'git'],
    ['stands among the tags of the file', 'tags: [web]\n', ['git', 'web']],
    ['stands there once', 'tags: [web, git]\n', ['git', 'web']],
    ['goes with the creation alone', 'unmanaged: [tags]\n', undefined, ['git']],
    [
      'goes with it beside the tags of the file',
      'tags: [web]\nunmanaged: [tags]\n',
      undefined,
      ['git', 'web'],
    ],
  ])('%s', async (_, members, tags, creation, tag) => {
    const flag = (await desiredOf(tagged('git', members))).flags.get('pay');
    expect([flag?.fields.tags, flag?.ownershipTag]).toEqual([tags, tag]);
    if (creation) expect(flag?.creation).toEqual({ tags: creation });
  });

  it.each(['""', '" git"', '"two\\nlines"'])('is refused as %s, with its place', async (tag) => {
    const result = await readSpecs(treeOf(tagged(tag, '')));
    expect(result.ok ? [] : result.diagnostics).toMatchObject([
      {
        location: { file: 'flagkeel.yaml', line: 8 },
        message: expect.stringContaining('a tag such as managed-by-git') as unknown,
      },
    ]);
  });
});

it('references are right where the config names the object as living elsewhere', async () => {
  const { fields } = await definitionOf(
    rule('[{ segment: staff }, { flag: elsewhere, treatments: [b, a] }]'),
  );

  expect(fields.rules?.[0]?.matchers).toEqual([
    { type: 'IN_SEGMENT', string: 'staff' },
    { type: 'IN_SPLIT', depends: { splitName: 'elsewhere', treatments: ['a', 'b'] } },
  ]);
});

describe('segments', () => {
  it('unite keys and key file; without either only the activation is ours', async () => {
    const desired = await desiredOf({
      'segments/beta.yaml': `segment: beta
environments:
  staging: {}
  production: { mode: add-only, keys: [b], keysFile: lists/beta.keys }`,
      'segments/lists/beta.keys': '# ours\r\n a \r\n\r\n0012\r\nb\r\n',
    });

    const environments = desired.segments.get('beta')?.environments;
    expect(environments?.get('staging')).toMatchObject({ mode: 'exact' });
    expect(environments?.get('staging')).not.toHaveProperty('keys');
    expect(environments?.get('production')).toMatchObject({
      mode: 'add-only',
      keysFile: 'segments/lists/beta.keys',
      keys: { keys: ['0012', 'a', 'b'] },
    });
  });

  it('hold 100,000 keys and no more', async () => {
    const keys = (count: number) => Array.from({ length: count }, (_, i) => `k${i}\n`).join('');
    const spec = 'segment: a\nenvironments: { production: { keysFile: a.keys } }\n';

    expect(await codesOf({ 'segments/a.yaml': spec, 'segments/a.keys': keys(100_000) })).toEqual(
      [],
    );
    expect(await codesOf({ 'segments/a.yaml': spec, 'segments/a.keys': keys(100_001) })).toEqual([
      'error key-number segments/a.yaml:2:31',
    ]);
  });
});

describe('identities', () => {
  it('come from YAML and CSV, values as text, empty cells unsaid', async () => {
    const desired = await desiredOf({
      'identities/a.yaml':
        'identities: { environment: production, keys: { user-1: { plan: pro, seats: 25 } } }\n',
      'identities/user.production.csv':
        'key,plan,note\r\nuser-2,,"says ""hi"",\nalways"\r\nuser-3,free,\r\n',
    });

    const environments = desired.identities.get('user')?.environments;
    expect([...(environments?.keys() ?? [])]).toEqual(['production']);
    expect(Object.fromEntries(environments?.get('production')?.keys ?? [])).toEqual({
      'user-1': { plan: 'pro', seats: '25' },
      'user-2': { note: 'says "hi",\nalways' },
      'user-3': { plan: 'free' },
    });
  });

  it('are 100,000 of a traffic type in an environment and no more, in however many files', async () => {
    const rows = (name: string, count: number) =>
      `key\n${Array.from({ length: count }, (_, i) => `${name}${i}\n`).join('')}`;
    const filesOf = (more: number) => ({
      'identities/a/user.production.csv': rows('a', 60_000),
      'identities/b/user.production.csv': rows('b', 40_000 + more),
    });

    expect(await codesOf(filesOf(0))).toEqual([]);
    expect(await codesOf(filesOf(1))).toEqual([
      'error key-number identities/a/user.production.csv:1:1',
    ]);
  }, 60_000);
});

describe('kills', () => {
  const KILLS = 'kills:\n  pay: { reason: INC-1, by: ana, since: 2026-10-03T22:14:00Z }\n';

  it('count when everything else is broken, the config too', async () => {
    const tree = treeOf({
      'flagkeel.yaml': `${CONFIG}prnue: true\n`,
      'kills/production.yaml': `${KILLS}  Bad name: { reason: x }\n  late: { reason: x, since: yesterday }\n`,
      'flags/broken.yaml':
        'flag: broken\nenvironments: { staging: { killed: true, colour: red } }\n',
      'flags/worse.yaml': '"',
    });

    const result = await readSpecs(tree);

    expect(result).toMatchObject({
      ok: false,
      config: { workspace: 'Default' },
      kills: [
        { flag: 'pay', environment: 'production', reason: 'INC-1', by: 'ana' },
        { flag: 'broken', environment: 'staging', reason: 'killed: true in flags/broken.yaml' },
      ],
    });
  });
});

it('with one memory gives what is unchanged as the same objects', async () => {
  const memory = new SpecCache();
  const read = async (share: string) => {
    const result = await readSpecs(
      treeOf({
        'flagkeel.yaml': CONFIG,
        'flags/cart.yaml': pay(`defaultRule: { "on": ${share}, "off": rest }`).replace(
          'pay',
          'cart',
        ),
        'flags/pay.yaml': pay(rule('{ flag: cart, treatments: ["on"] }')),
        'segments/beta.yaml': keysFile('beta', 'beta.keys'),
        'segments/beta.keys': 'a\n',
      }),
      memory,
    );
    if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
    return result.desired;
  };
  const [before, again, now] = [await read('10'), await read('10'), await read('20')];

  expect(again.flags.get('cart')).toBe(before.flags.get('cart'));
  expect(now.flags.get('pay')).toBe(before.flags.get('pay'));
  expect(now.segments.get('beta')).toBe(before.segments.get('beta'));
  expect(now.flags.get('cart')).not.toEqual(before.flags.get('cart'));
});

describe('flagkeel.yaml', () => {
  it('gives environments in the order written, also when they look like numbers', async () => {
    const config =
      'workspace: Default\nenvironments: { 20: {}, 3: { onDrift: report }, "*x": {} }\n';

    const result = await readConfig(treeOf({ 'flagkeel.yaml': config }));

    expect(result?.environments).toEqual([
      { name: '20', guards: {} },
      { name: '3', onDrift: 'report', guards: {} },
      { name: '*x', guards: {} },
    ]);
  });

  it('is missed where there is none', async () => {
    expect(await readConfig(treeOf({}))).toBeUndefined();
    expect(await readSpecs(treeOf({}))).toMatchObject({
      ok: false,
      diagnostics: [{ code: 'config-missing' }],
    });
  });
});
