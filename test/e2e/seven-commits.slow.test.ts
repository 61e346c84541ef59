import { beforeEach, describe, expect, it } from 'vitest';
import type { Seed } from '../../src/service/seed.js';
import { liveWorkspace, type LiveWorkspace } from '../support/live-workspace.js';
import { sharesOf } from '../support/on-off.js';
import { useScenario } from '../support/scenario.js';
import { ruleOn } from '../support/service-calls.js';
import { flagText, PROTECTED_CONFIG } from '../support/spec-texts.js';

const CONFIG = `${PROTECTED_CONFIG}prune: true
`;

function checkout(parts: { on: number; qaKey: string; rules?: string }): string {
  return `flag: new-checkout
description: One-page checkout
trafficType: user
rolloutStatus: Ramping
tags: [web, checkout]
treatments:
  "on": New checkout
  "off": Old checkout
defaultTreatment: "off"
baselineTreatment: "off"
environments:
  staging:
    targets:
      "on": [${parts.qaKey}]
    defaultRule: "on"
  production:
${parts.rules ?? ''}    defaultRule: { "on": ${parts.on}, "off": rest }
`;
}

const BETA = `segment: beta
description: Customers who opted in
trafficType: user
environments:
  production: { keysFile: beta.production.keys }
`;

const STAFF = `segment: staff
trafficType: user
environments:
  production: { keys: [u-7, "0012"] }
`;

const STAFF_RULE = `    rules:
      - name: staff
        if: { segment: staff }
        serve: "on"
`;

function seed(requiresTitleAndComments: boolean): Seed {
  const environments = [{ name: 'staging' }, { name: 'production', production: true }];
  const workspace = { name: 'Default', environments, trafficTypes: ['user'] };
  return { workspaces: [{ ...workspace, requiresTitleAndComments }] };
}

describe.each([
  { mode: 'an ordinary workspace', requires: false, strict: false },
  { mode: 'a service that answers the contract only', requires: true, strict: true },
])('seven commits in $mode', ({ requires, strict }) => {
  const scenario = useScenario({ seed: seed(requires), strict });
  const { reconcile } = scenario;
  let live: LiveWorkspace;

  beforeEach(async () => {
    live = await liveWorkspace(scenario.service);
  });

  /** Reconciles, and holds the run to its promises: verified, and the next plan is empty and reads only. */
  async function reconcileAndSettle(): Promise<void> {
    // One write after the other, so that the service records them in the order of the plan.
    const run = await reconcile('--concurrency', '1');
    expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
    scenario.service.requests.length = 0;
    const next = await reconcile('--dry-run', '--detailed-exitcode');
    expect(next, next.stdout + next.stderr).toMatchObject({ code: 0 });
    expect(scenario.writes()).toEqual([]);
  }

  async function keys(segment: string): Promise<string[]> {
    const path = `/segments/${live.production}/${segment}/keys`;
    const page = await live.ok<{ keys: { key: string }[] }>('GET', path);
    return page.keys.map(({ key }) => key).sort();
  }

  /** What the service recorded of the writes since the last call. */
  let seen = 0;
  async function recorded(): Promise<string[]> {
    const entries = [...(await scenario.service.audit())]
      .filter(({ keyName }) => keyName === 'test')
      .reverse();
    const fresh = entries.slice(seen);
    seen = entries.length;
    return fresh.map(({ kind, name, environment, action, title }) => {
      const place = environment === null ? '' : `@${environment}`;
      return `${action} ${kind}/${name}${place} «${title ?? ''}»`;
    });
  }

  it('leaves the service equal to the specs after each, and titles every write by its commit', async () => {
    seen = 0;
    scenario.commit(
      {
        'flagkeel.yaml': CONFIG,
        'flags/checkout/new-checkout.yaml': checkout({ on: 10, qaKey: 'qa-bto-1' }),
        'flags/banner.yaml': flagText('banner', 0),
        'segments/beta.yaml': BETA,
        'segments/beta.production.keys': 'u-1\nu-2\n',
      },
      'Put the flags of the shop under git\n\nAgreed with the checkout team.',
    );
    await reconcileAndSettle();
    expect(await live.definition('new-checkout')).toMatchObject({
      killed: false,
      trafficAllocation: 100,
      rules: [],
      defaultTreatment: 'off',
      defaultRule: sharesOf(10),
    });
    expect(await live.definition('new-checkout', 'staging')).toMatchObject({
      treatments: [
        { name: 'on', description: 'New checkout', keys: ['qa-bto-1'] },
        { name: 'off', description: 'Old checkout' },
      ],
      defaultRule: sharesOf(100),
    });
    expect(await keys('beta')).toEqual(['u-1', 'u-2']);
    expect(await recorded()).toEqual(
      [
        'create segment/beta',
        'create flag/banner',
        'create flag/new-checkout',
        'update flag/new-checkout',
        'create flag/banner@staging',
        'create flag/new-checkout@staging',
        'activate segment/beta@production',
        'add-keys segment/beta@production',
        'create flag/banner@production',
        'create flag/new-checkout@production',
      ].map((line) => `${line} «Put the flags of the shop under git»`),
    );

    const file = 'flags/checkout/new-checkout.yaml';
    const ramp = scenario.commit(
      { [file]: checkout({ on: 25, qaKey: 'qa-bto-1' }) },
      'Ramp the new checkout to 25 %\n\nConversion is up 2 %.',
    );
    const mended = { [file]: checkout({ on: 25, qaKey: 'qa-bot-1' }) };
    scenario.commit(mended, 'Fix a typo in the QA target');
    await reconcileAndSettle();
    expect(await live.share('new-checkout')).toBe(25);
    expect(await live.definition('new-checkout', 'staging')).toMatchObject({
      treatments: [{ keys: ['qa-bot-1'] }, { name: 'off' }],
    });
    const comments = (await scenario.service.audit()).slice(0, 2).map(({ comment }) => comment);
    expect(await recorded()).toEqual([
      'update flag/new-checkout@staging «Fix a typo in the QA target»',
      'update flag/new-checkout@production «Ramp the new checkout to 25 %»',
    ]);
    expect(comments[0]).toBe(
      `${ramp.slice(0, 8)} Ana: Ramp the new checkout to 25 %\nConversion is up 2 %.`,
    );

    const swapped = { 'segments/beta.production.keys': '# opted in\nu-2\nu-3\n' };
    scenario.commit(swapped, 'Swap a beta tester');
    await reconcileAndSettle();
    expect(await keys('beta')).toEqual(['u-2', 'u-3']);
    expect(await recorded()).toEqual([
      'add-keys segment/beta@production «Swap a beta tester»',
      'remove-keys segment/beta@production «Swap a beta tester»',
    ]);

    const ruled = { [file]: checkout({ on: 25, qaKey: 'qa-bot-1', rules: STAFF_RULE }) };
    scenario.commit({ 'segments/staff.yaml': STAFF, ...ruled }, 'Give staff the new checkout');
    await reconcileAndSettle();
    expect(await live.definition('new-checkout')).toMatchObject({
      rules: [ruleOn({ type: 'IN_SEGMENT', string: 'staff' })],
    });
    expect(await keys('staff')).toEqual(['0012', 'u-7']);
    expect(await recorded()).toEqual(
      [
        'create segment/staff',
        'activate segment/staff@production',
        'add-keys segment/staff@production',
        'update flag/new-checkout@production',
      ].map((line) => `${line} «Give staff the new checkout»`),
    );

    scenario.repository.move('flags/checkout', 'flags/payments/checkout');
    scenario.repository.commit('Move the checkout flags to the payments team');
    await reconcileAndSettle();
    expect(await recorded()).toEqual([]);

    scenario.repository.remove('flags/banner.yaml');
    scenario.repository.commit('Retire the banner');
    await reconcileAndSettle();
    const gone = await live.call('GET', live.at('banner'));
    expect(gone.body).toMatchObject({ code: 404, details: '' });
    expect(await recorded()).toEqual([
      'delete flag/banner@staging «Retire the banner»',
      'delete flag/banner@production «Retire the banner»',
      'delete flag/banner «Retire the banner»',
    ]);
  });
});
