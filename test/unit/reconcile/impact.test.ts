import { expect, it } from 'vitest';
import { plan } from '../../../src/reconcile/reconcile.js';
import { reportOf } from '../../../src/reconcile/result.js';
import { planText } from '../../../src/report/text/plan.js';
import {
  flagSpec,
  PIPELINE_CONFIG,
  pipelineWorld,
  type PipelineWorld,
} from '../../support/pipeline-world.js';

/** What a dry run prints of production with all its details, without the places and commits. */
async function printed(world: PipelineWorld): Promise<string[]> {
  const run = await world.opened({ dryRun: true, environment: ['production'] });
  const report = reportOf(await plan(run.context), run);
  const lines = planText(report, {
    color: false,
    width: 200,
    showKeys: false,
    verbose: true,
  }).split('\n');
  const from = lines.findIndex((line) => /^ {2}. production /.test(line));
  const to = lines.findIndex((line, index) => index > from && !line.startsWith('      '));
  return lines.slice(from, to).map((line) => line.replace(/ · .*/, '').trim());
}

function limited(limit: number): Record<string, string> {
  return {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/shop.yaml': `flag: shop
treatments: { "on": { configuration: { limit: ${String(limit)} } }, "off": "" }
defaultTreatment: "off"
environments:
  production: { defaultRule: "on" }
`,
  };
}

it('does not say "reaches: nobody" of a configuration that everybody is served', async () => {
  const world = await pipelineWorld();
  world.repository.commit('Serve it to all', limited(100));
  await world.applied();

  world.repository.commit('Lower the limit', limited(1));

  expect(await printed(world)).toEqual([
    '~ production will be updated',
    '~ treatment on: configuration limit 100 → 1',
    '!! 100 % of production',
    'reaches: 100 % on with another configuration',
  ]);
});

it('shows the rules of a new flag, not their number', async () => {
  const world = await pipelineWorld();
  world.repository.commit('Add it', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/shop.yaml': `flag: shop
treatments: { "on": "", "off": "" }
defaultTreatment: "off"
environments:
  production:
    rules:
      - name: half of Spain
        if: { attribute: country, in: [ES] }
        serve: { "on": 50, "off": rest }
      - { if: { attribute: plan, in: [pro] }, serve: "on" }
    defaultRule: "off"
`,
  });

  expect(await printed(world)).toEqual([
    '+ production will be created',
    'baselineTreatment off',
    'rule 1 "half of Spain": if country in [ES], serve on 50 %, off 50 %',
    'rule 2: if plan in [pro], serve on 100 %',
  ]);
});

it('says what a restore would serve of a killed flag that is ramped', async () => {
  const world = await pipelineWorld();
  const killed = 'killed: true';
  world.repository.commit('Kill it', {
    'flagkeel.yaml': PIPELINE_CONFIG,
    'flags/shop.yaml': flagSpec('shop', { on: 10, production: killed }),
  });
  await world.applied();

  world.repository.commit('Ramp it', {
    'flags/shop.yaml': flagSpec('shop', { on: 50, production: killed }),
  });

  expect(await printed(world)).toEqual([
    '~ production will be updated: on 10 → 50 %',
    'defaultRule: on 10 → 50 %, off 90 → 50 %',
    'reaches: nobody',
    'after a restore: 50 % off → on',
  ]);
});
