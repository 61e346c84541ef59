import { expect, it } from 'vitest';
import { SentKills } from '../../../src/kill/first.js';
import type { KillResult } from '../../../src/model/outcome.js';
import { anActual, liveFlag } from '../../support/builders.js';
import { aChange, aField } from '../../support/plan-builder.js';

const NOTE = { title: 'Kill pay', comment: 'INC-1' };
const KILLED: KillResult = { status: 'killed', note: NOTE };
const FAILED: KillResult = { status: 'failed', error: new Error('away') };
const ID = 'flag/pay@production';

it('shows what it killed as it was before, and leaves what it did not kill as it is', () => {
  const actual = anActual({
    flags: [
      liveFlag('pay', { production: { killed: true }, staging: { killed: true } }),
      liveFlag('cart', { production: { killed: true } }),
    ],
  });
  const sent = new SentKills(
    new Map<string, KillResult>([
      [ID, KILLED],
      ['flag/cart@production', FAILED],
    ]),
  );
  const { flags } = sent.undoneIn({ actual }).actual;
  const isKilled = (flag: string, environment: string): boolean | undefined =>
    flags.get(flag)?.definitions.get(environment)?.killed;
  expect(isKilled('pay', 'production')).toBe(false);
  expect(isKilled('pay', 'staging')).toBe(true);
  expect(isKilled('cart', 'production')).toBe(true);
  expect(actual.flags.get('pay')?.definitions.get('production')?.killed).toBe(true);
});

it('puts its note over that of a change that is the kill alone, and over no other', () => {
  const kill = aField('/killed', false, true);
  const more = [kill, aField('/trafficAllocation', 100, 50)];
  const cart = 'flag/cart@production';
  const sent = new SentKills(
    new Map<string, KillResult>([
      [ID, KILLED],
      [cart, KILLED],
      ['flag/lost@production', FAILED],
    ]),
  );
  const changes = [
    aChange(ID, 'update', { fields: [kill] }),
    aChange(cart, 'update', { fields: more }),
    aChange('flag/lost@production', 'update', { fields: [kill] }),
  ];
  const history = { title: 'Ramp', comment: 'As planned' };
  const notes = sent.notesOver(new Map(changes.map(({ id }) => [id, history])), { changes });
  expect([...notes.values()]).toEqual([NOTE, history, history]);
});
