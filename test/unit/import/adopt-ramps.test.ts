import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { appliedWorld, flagSpec } from '../../support/pipeline-world.js';

it('adopts a share of a ramp that was changed by hand as a plain share, and what else drifted', async () => {
  const rule = `{ name: staff, if: { attribute: team, in: [core] }, serve: { "on": 10, "off": rest }, ramp: '20, 1h, 100' }`;
  const world = await appliedWorld({
    'flags/pay.yaml': flagSpec('pay', { production: "ramp: '10, 1h, 100'" }),
    'flags/cart.yaml': flagSpec('cart', { production: `rules: [${rule}]` }),
    'flags/menu.yaml': flagSpec('menu'),
  });
  const { repository, live } = world;
  const share = (path: string, on: number) => [
    { op: 'replace', path: `${path}/0/size`, value: on },
    { op: 'replace', path: `${path}/1/size`, value: 100 - on },
  ];
  for (const [flag, path] of [
    ['pay', '/defaultRule'],
    ['cart', '/rules/0/buckets'],
    ['menu', '/defaultRule'],
  ] as const) {
    const place = `/splits/ws/${live.id}/${flag}/environments/${live.production}`;
    await live.ok('PATCH', place, share(path, 5));
  }

  const run = await world.command('drift', '--adopt');

  expect(run, run.stdout + run.stderr).toMatchObject({ exitCode: 0 });
  const text = (name: string): string =>
    readFileSync(join(repository.directory, `flags/${name}.yaml`), 'utf8');
  expect(run.stdout).toContain(
    'Wrote flag/pay@production into flags/pay.yaml. A live share is a plain share there now, and its ramp is taken out.',
  );
  expect(run.stdout).toMatch(/Wrote flag\/menu@production into flags\/menu\.yaml\.\n/);
  for (const name of ['pay', 'cart', 'menu']) {
    expect(text(name)).toMatch(/"?on"?: 5/);
    expect(text(name)).not.toContain('ramp');
  }
});
