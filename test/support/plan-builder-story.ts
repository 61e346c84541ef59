import type { Rule } from '../../src/model/flag/flag.js';
import type { Step } from '../../src/model/plan.js';
import type { PlanReport } from '../../src/report/plan-report.js';
import { aChange, aField, aReport, aWithheld, keyChange, manyKeys } from './plan-builder.js';
import { onOff } from './on-off.js';

const CONTRACTORS: Rule = {
  matchers: [{ type: 'IN_SEGMENT', string: 'contractors' }],
  buckets: [{ treatment: 'off', size: 100 }],
};
const STAFF = (on: number): Rule => ({
  matchers: [
    { type: 'IN_SEGMENT', string: 'staff' },
    { type: 'IN_LIST_STRING', attribute: 'country', strings: ['ES', 'FR'] },
  ],
  buckets: onOff(on),
});

const step = (id: string): Step => ({
  id: `${id}#delete-flag`,
  change: id,
  needs: [],
  action: 'delete-flag',
  flag: id,
});

/** One commit's worth of work of every kind: what a reviewer meets on an ordinary day. */
export function aStory(members: Partial<PlanReport> = {}): PlanReport {
  const checkout = 'flag/new-checkout@production';
  const changes = [
    aChange('flag/search', 'create', {
      fields: [
        aField('/description', undefined, 'Search, rewritten'),
        aField('/tags', undefined, ['search', 'web']),
      ],
    }),
    aChange('flag/search@staging', 'create', {
      fields: [
        aField('/treatments', undefined, [{ name: 'on' }, { name: 'off' }]),
        { path: '/targets/on', reason: 'commit', keys: keyChange(['qa-bot-1', 'user-7']) },
        aField('/defaultTreatment', undefined, 'off'),
        aField('/trafficAllocation', undefined, 100),
        aField('/rules', undefined, [CONTRACTORS]),
        aField('/defaultRule', undefined, onOff(50)),
      ],
    }),
    aChange('segment/beta@production', 'update', {
      keys: keyChange(manyKeys('user', 120), manyKeys('gone', 3)),
    }),
    aChange(checkout, 'update', {
      location: { file: 'flags/checkout/new-checkout.yaml', line: 18, column: 3 },
      fields: [
        { path: '/targets/on', reason: 'commit', keys: keyChange(['user-1']) },
        { ...aField('/trafficAllocation', 90, 100), reason: 'drift' },
        aField('/rules', [CONTRACTORS, STAFF(10)], [STAFF(50), CONTRACTORS]),
        aField('/defaultRule', onOff(10), onOff(25)),
      ],
      dependsOn: ['segment/beta@production'],
    }),
    aChange('flag/payments@production', 'update', {
      reason: 'kill',
      location: { file: 'kills/production.yaml', line: 2, column: 3 },
      fields: [{ ...aField('/killed', false, true), reason: 'kill' }],
    }),
    aChange('flag/banner@production', 'delete', { reason: 'prune', location: null }),
  ];
  return aReport(
    {
      changes,
      withheld: [
        aWithheld('flag/legacy@production', 'update', 'drift-reported', {
          reason: 'drift',
          fields: [{ ...aField('/defaultTreatment', 'on', 'off'), reason: 'drift' }],
        }),
      ],
      steps: [...changes, ...changes.slice(0, 3)].map(({ id }) => step(id)),
      unchanged: Array.from({ length: 40 }, (_, index) => `flag/equal-${String(index)}`),
      unmanaged: { flags: 12, segments: 1 },
      liveKills: [],
      notCompared: [],
    },
    {
      notes: new Map([[checkout, { title: 'Ramp checkout to 25 %', comment: 'ana: Ramp' }]]),
      ruleNames: new Map([[checkout, ['staff in the EU', undefined]]]),
      ...members,
    },
  );
}
