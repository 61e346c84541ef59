import { describe, expect, it } from 'vitest';
import { RETRY_TABLE, type RetryDecision } from '../../../src/admin-api/http/retry.js';
import { combinedExitCode } from '../../../src/cli/directories.js';
import { VARIABLES } from '../../../src/compose/settings.js';
import { EXIT, FlagkeelError, type ErrorCode, type ExitCode } from '../../../src/errors.js';
import { sha256 } from '../../../src/model/json.js';
import { REASONS, type WithheldWhy } from '../../../src/model/plan.js';
import { remedyOf } from '../../../src/model/remedy.js';
import { judgeWithheld } from '../../../src/model/verdict.js';
import { DEFAULT_GUARDS } from '../../../src/plan/guards/guards.js';
import { rulesIn, withholdReason } from '../../../src/plan/policy.js';
import { remedyText } from '../../../src/report/view/verdict.js';
import { readConfig, readWatchConfig } from '../../../src/specs/read-config.js';
import { readSpecs } from '../../../src/specs/read-specs.js';
import { dueMoments } from '../../../src/timing/ladder.js';
import { closingAt } from '../../../src/timing/windows.js';
import { anEnvironment, aPolicy } from '../../support/builders.js';
import { treeOf } from '../../support/spec-tree.js';
import {
  bare,
  declarationsOf,
  examplesOf,
  fieldsOf,
  projectText,
  rowsOf,
  sectionOf,
} from './page.js';

interface RunSchema {
  readonly $defs: {
    run: { properties: { triggers: { items: { enum: string[] } }; result: { enum: string[] } } };
  };
}

interface Schema {
  readonly properties: Readonly<Record<string, { readonly additionalProperties?: unknown }>>;
  readonly $defs: Readonly<Record<string, unknown>>;
}

const schemaOf = (name: string): unknown => JSON.parse(projectText(`schemas/${name}.schema.json`));
const pageOf = (name: string): string => projectText(`docs/${name}.md`);
const rowsIn = (page: string, heading: string): string[][] =>
  rowsOf(sectionOf(pageOf(page), heading));

/** What `/status` can say of a run. */
const { run } = (schemaOf('status') as RunSchema).$defs;

const sorted = (all: readonly string[]): readonly string[] => all.toSorted();
const inOrder = (all: readonly string[]): readonly string[] => all;

it.each<[string, string, readonly string[], typeof sorted]>([
  ['plan', '## Three states', REASONS, sorted],
  ['watch', '## What starts a run', run.properties.triggers.items.enum, sorted],
  ['watch', '## How a run ends', run.properties.result.enum, inOrder],
  ['operations', '## Exit codes', Object.values(EXIT).map(String), inOrder],
  ['operations', '## Environment variables', Object.keys(VARIABLES), sorted],
])('docs/%s.md explains exactly what there is: %s', (page, heading, all, order) => {
  const explained = rowsIn(page, heading).map(([cell]) => bare(cell));

  expect(order(explained)).toEqual(order(all));
});

const config = schemaOf('config') as Schema;
const { longRamp, rampStep } = (schemaOf('flag') as Schema).$defs;

const anywhere = (field: string): RegExp => new RegExp(`\\b${field}\\b`);
const asCode = (field: string): RegExp => new RegExp(`\`[^\`]*\\b${field}\``);

it.each<[string, readonly unknown[], typeof asCode]>([
  ['watch', [schemaOf('watch')], anywhere],
  ['ramps', [longRamp, rampStep, config.properties['checks']?.additionalProperties], asCode],
  ['windows', [config.properties['windows'], config.properties['freezes']], asCode],
])('docs/%s.md names every field', (page, schemas, patternOf) => {
  const fields = schemas.flatMap((each) => [...fieldsOf(each)]);

  expect(fields.length).toBeGreaterThan(3);
  expect(fields.filter((field) => !patternOf(field).test(pageOf(page)))).toEqual([]);
});

describe('docs/plan.md and docs/plan-output.md', () => {
  it('name the strongest reason first, and say what the guards are by default', () => {
    const states = sectionOf(pageOf('plan'), '## Three states').replaceAll('\n', ' ');
    expect(states).toContain(REASONS.join(', '));
    const limits = rowsIn('plan', '## Guards').filter((cells) => cells.length === 3);
    const guards = limits.map(([guard, limit]) => [bare(guard), Number(limit)]);
    expect(Object.fromEntries(guards)).toEqual(DEFAULT_GUARDS);
  });

  it('name all that is held for a person, and only that, as exit code 8', () => {
    const whys = rowsIn('plan', '## What is withheld').map(([why]) => bare(why) as WithheldWhy);
    const held = whys.filter((why) =>
      REASONS.some((reason) => judgeWithheld({ why, reason, dependsOn: [] })?.is === 'held'),
    );
    const [, said = ''] = /end with 8:([^]*?)A `needs-withheld`/.exec(pageOf('plan')) ?? [];

    expect(sorted(said.match(/(?<=`)[a-z-]+(?=`)/g) ?? [])).toEqual(sorted(held));
  });

  it('show a hash as long as those that are printed, and the way out that drift has', () => {
    const page = pageOf('plan-output');
    const [, hash = ''] = /^planHash sha256:([0-9a-f]*)$/m.exec(page) ?? [];
    expect(hash).toHaveLength(sha256('').length);

    const rules = rulesIn(aPolicy(), anEnvironment('production', { onDrift: 'report' }));
    const held = withholdReason({ reason: 'drift' }, rules);
    if (held === undefined) throw new Error('drift is not held');
    const change = { id: 'flag/legacy@production', action: 'update', fields: [] } as const;
    const way = `→ ${remedyText(remedyOf({ ...change, ...held }))} `;
    expect(page.replace(/\s+/g, ' ')).toContain(way);
  });
});

describe('docs/operations.md', () => {
  it('says which exit code wins over several directories', () => {
    const [, order = ''] =
      /code is the first of\s+([\d,\s]+?) that occurs/.exec(pageOf('operations')) ?? [];
    const codes = order.split(/,\s*/).map(Number) as ExitCode[];

    expect(codes.toSorted()).toEqual(Object.values(EXIT).toSorted());
    codes.forEach((code, i) => {
      expect(combinedExitCode(codes.slice(i).toReversed())).toBe(code);
    });
  });

  it('says how a run with each error ends, and what to do', () => {
    for (const [code, exit, ...texts] of rowsIn('operations', '## Errors')) {
      expect(new FlagkeelError(bare(code) as ErrorCode, '').exitCode).toBe(Number(exit));
      expect(texts).not.toContain('');
    }
  });
});

describe('docs/requests.md', () => {
  const WORDS: Readonly<Record<RetryDecision, string>> = {
    ...{ repeat: 'repeated', 'look-up': 'looked up', fail: 'fails' },
  };
  const kinds = ['read', 'write', 'delete', 'create', 'patch'] as const;
  const rows = rowsIn('requests', '## What is repeated');
  const proofs = rows.filter((cells) => cells.length === 3);

  it('says of every fault and kind of request what the client does', () => {
    const faults = rows.filter((cells) => cells.length === 1 + kinds.length);
    const told = kinds.map((_, column) =>
      Object.fromEntries(
        faults.map(([fault, ...cells]) => [bare(fault?.split(':')[0]), cells[column]]),
      ),
    );
    const done = kinds.map((kind) =>
      Object.fromEntries(
        Object.entries(RETRY_TABLE[kind]).map(([fault, verdict]) => [fault, WORDS[verdict]]),
      ),
    );

    expect(Object.keys(RETRY_TABLE).toSorted()).toEqual(kinds.toSorted());
    expect(told).toEqual(done);
    expect([...new Set(proofs.map(([kind]) => kind))]).toEqual(kinds);
  });

  it.each(proofs)('names a test of a %s that there is: %s', (_, title = '', file) => {
    expect(projectText(bare(file))).toContain(`'${title}'`);
  });
});

describe('the examples of docs', () => {
  it('watch.md are a valid file of sources', () => {
    const text = examplesOf(pageOf('watch'))['sources.yaml'] ?? '';
    expect(readWatchConfig('sources.yaml', Buffer.from(text))).toMatchObject({ ok: true });
  });

  it('ramps.md are a valid repository, whose ladder is the one of the page', async () => {
    const result = await readSpecs(treeOf(examplesOf(pageOf('ramps'))));

    if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
    const production = result.desired.flags.get('new-checkout')?.environments.get('production');
    const [ofRule, ofDefault] = production?.ramps ?? [];
    expect(ofDefault?.steps.map(({ percent }) => percent)).toEqual([10, 25, 50, 100]);
    expect(ofDefault && dueMoments(ofDefault, { sinceMs: 0 }, [])).toEqual(
      [0, 6, 18, 42].map((hours) => hours * 3_600_000),
    );
    expect(ofRule?.startMs).toBe(Date.parse('2026-11-23T08:00:00Z'));
  });

  it('windows.md are a valid config, which is read as the page says', async () => {
    const config = await readConfig(treeOf(examplesOf(pageOf('windows'))));

    if (!config) throw new Error('the example is invalid');
    const { windows = [], freezes = [] } = config;
    const isOpen = (text: string): boolean =>
      closingAt({ windows, freezes }, Date.parse(text)) === undefined;
    expect(isOpen('2026-12-01T22:59:59Z')).toBe(false);
    expect(isOpen('2026-12-02T08:00:00Z')).toBe(true);
    expect(isOpen('2026-12-02T16:00:00Z')).toBe(false);
  });
});

it('docs/deploy.md lets a plan past a guard by an option and a route that there are', () => {
  const then = rowsIn('deploy', '## Alerts').find(([a]) => bare(a) === 'FlagkeelGuardRefused')?.[2];

  expect(then).toContain('`reconcile --approve HASH`');
  expect(declarationsOf('reconcile')).toContain('--approve <hash>');
  expect(then).toContain('(watch-operations.md#approving-what-is-held)');
  const told = sectionOf(pageOf('watch-operations'), '## Approving what is held');
  const [, route] = /127\.0\.0\.1:8080(\/\w+)/.exec(told) ?? [];
  expect(projectText('src/daemon/http/control-routes.ts')).toContain(`app.post('${route ?? ''}'`);
});
