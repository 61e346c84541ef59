import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PlanDocument } from '../../src/report/json/plan.js';
import { MAIN } from '../support/cli.js';
import { makeDirectory } from '../support/git.js';
import { useScenario } from '../support/scenario.js';
import { flagText, UNPROTECTED_CONFIG } from '../support/spec-texts.js';
import { projectText } from '../unit/docs/page.js';

interface RunEvent {
  readonly event: string;
  readonly id?: string;
  readonly step?: string;
  readonly title?: string;
  readonly comment?: string;
  readonly why?: string;
  readonly error?: { readonly code: string };
  readonly exitCode?: number;
}

const schema = JSON.parse(projectText('schemas/event.schema.json')) as {
  readonly properties: { readonly event: { readonly enum: readonly string[] } };
};
const validate = new Ajv2020({ allowUnionTypes: true, formats: { 'date-time': true } }).compile(
  schema,
);

const scenario = useScenario();
let folder: string;
let file: string;

beforeEach(() => {
  folder = makeDirectory();
  file = join(folder, 'events.jsonl');
  scenario.commit(
    {
      'flagkeel.yaml': UNPROTECTED_CONFIG,
      'flags/pay.yaml': flagText('pay', 10, { staging: '' }),
      'flags/search.yaml': flagText('search', 30, { staging: '' }),
      'segments/vip.yaml':
        'segment: vip\ntrafficType: user\nenvironments: { staging: { keys: [customer-7] } }\n',
    },
    'Add pay, search and a segment',
  );
});

function eventsIn(text: string): RunEvent[] {
  const events = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RunEvent);
  for (const each of events) {
    expect(validate(each), `${JSON.stringify(each)} ${JSON.stringify(validate.errors)}`).toBe(true);
  }
  expect(text).not.toContain(scenario.service.key);
  return events;
}

const told = (): RunEvent[] => eventsIn(readFileSync(file, 'utf8'));
const namesOf = (events: readonly RunEvent[]): string[] => events.map(({ event }) => event);

describe('the events of a run', () => {
  it('are the plan, each write with its words and answer, the second look and the end; kills come first', async () => {
    const nowhere = await scenario.reconcile('--events', '/nowhere/events.jsonl');
    expect(nowhere.code).toBe(1);
    expect(nowhere.stderr).toContain('cannot write events to /nowhere/events.jsonl');
    expect(scenario.writes()).toEqual([]);

    const { code, stdout } = await scenario.reconcile('--format', 'json', '--events', file);
    const events = told();
    const plan = JSON.parse(stdout) as PlanDocument;
    expect(code).toBe(0);
    expect(events[0]).toMatchObject({ event: 'started', dryRun: false });
    expect(events[1]).toMatchObject({ event: 'planned', planHash: plan.planHash });
    expect(events[1]).toMatchObject({ summary: plan.summary });
    const sent = events.filter(({ event }) => event === 'sent');
    const answered = events.filter(({ event }) => event === 'answered');
    expect(sent.length).toBe(scenario.writes().length);
    const writesOf = (list: readonly RunEvent[]): string[] =>
      list.map(({ id, step }) => `${id ?? ''} ${step ?? ''}`).toSorted();
    expect(writesOf(answered)).toEqual(writesOf(sent));
    for (const { id, title, comment } of sent) {
      const change = plan.changes.find((each) => each.id === id);
      expect({ title, comment }).toEqual({ title: change?.title, comment: change?.comment });
    }
    expect(events.slice(-2)).toMatchObject([
      { event: 'verified', converged: true, outcomes: { failed: 0, skipped: 0 }, left: [] },
      { event: 'ended', exitCode: 0 },
    ]);
    expect(JSON.stringify(events)).not.toContain('customer-7');

    const report = join(folder, 'report.txt');
    const onOutput = await scenario.reconcile('--events', '-', '--output', report);
    expect(namesOf(eventsIn(onOutput.stdout))).toEqual(['started', 'planned', 'verified', 'ended']);
    expect(readFileSync(report, 'utf8')).toContain('In sync');
    const alone = await scenario.reconcile('--events', '-');
    expect(namesOf(eventsIn(alone.stdout)).at(-1)).toBe('ended');

    const kills = { 'kills/staging.yaml': 'kills:\n  pay: { reason: "INC-1" }\n' };
    scenario.commit(kills, 'Kill pay for INC-1');
    await scenario.run('plan', '--events', file);
    expect(namesOf(told())).toEqual(['started', 'planned', 'ended']);
    await scenario.reconcile('--events', file);
    expect(told().slice(0, 4)).toMatchObject([
      { event: 'started' },
      { event: 'sent', id: 'flag/pay@staging', step: 'kill-flag', title: 'Kill pay for INC-1' },
      { event: 'answered', id: 'flag/pay@staging' },
      { event: 'planned' },
    ]);

    scenario.commit({ 'flags/search.yaml': 'flag: search\nkiled: true\n' }, 'Break search');
    await scenario.reconcile('--events', file);
    expect(told().at(-1)).toMatchObject({
      event: 'ended',
      exitCode: 3,
      error: { code: 'SPECS_INVALID' },
    });
    expect(namesOf(told())).not.toContain('planned');
  });

  it('tell what failed as the plan has it, and what had to wait for it', async () => {
    scenario.service.failNext({ method: 'POST', path: /splits\/.*trafficTypes/ }, 404);

    const { code, stdout } = await scenario.reconcile('--format', 'json', '--events', file);
    const events = told();
    const plan = JSON.parse(stdout) as PlanDocument;

    expect(code).toBe(5);
    const failed = events.filter(({ event }) => event === 'failed');
    expect(failed).toHaveLength(1);
    expect(failed[0]?.error).toEqual(plan.changes.find(({ id }) => id === failed[0]?.id)?.error);
    const skipped = events.filter(({ event }) => event === 'skipped');
    expect(skipped.map(({ why }) => why)).toContain(`needs ${failed[0]?.id ?? ''}, which failed`);
    expect(events.at(-1)).toMatchObject({ event: 'ended', exitCode: 5 });
  });

  it('keep no run from its end where their reader goes away', async () => {
    const line = `"$0" "$1" reconcile --events - --url "$2" "$3" | head -n 1`;
    const { origin } = scenario.service;
    const words = [process.execPath, MAIN, origin, scenario.repository.directory];
    const env = { ...scenario.env, PATH: process.env['PATH'] ?? '' };
    const shell = ['-o', 'pipefail', '-c', line, ...words];

    // It would be rejected with the exit code of the program.
    const { stdout } = await promisify(execFile)('bash', shell, { env });

    expect(namesOf(eventsIn(stdout))).toEqual(['started']);
    expect((await scenario.dryRun()).changes).toEqual([]);
  });

  it('stand in the docs, each of them', () => {
    const page = projectText('docs/plan-output.md');
    for (const name of schema.properties.event.enum) expect(page).toContain(`| \`${name}\``);
  });
});
