import { expect, it } from 'vitest';
import { remindersAt } from '../../../src/timing/standings.js';
import { desiredFlag } from '../../support/builders.js';
import type { DesiredKill } from '../../../src/model/desired.js';

const LOCATION = { file: 'kills/production.yaml', line: 2, column: 1 };

function kill(review?: string): DesiredKill {
  const where = { flag: 'pay', environment: 'production', location: LOCATION };
  return { ...where, reason: 'INC-1', by: 'ana', ...(review !== undefined && { review }) };
}

const at = (moment: string, kills: readonly DesiredKill[], expires?: string): string[] => {
  const old = { ...desiredFlag('old'), ...(expires !== undefined && { expires }) };
  const flags = new Map([['old', old]]);
  return remindersAt({ kills, flags }, Date.parse(moment)).map(({ id, due }) => `${id} ${due}`);
};

it.each([
  ['2026-10-05', '2026-10-05T23:59:59.999Z', false],
  ['2026-10-05', '2026-10-06T00:00:00Z', true],
  ['2024-02-29', '2024-02-29T12:00:00Z', false],
  ['2024-02-29', '2024-03-01T00:00:00Z', true],
  ['2026-10-05T12:00:00+02:00', '2026-10-05T09:59:59Z', false],
  ['2026-10-05T12:00:00+02:00', '2026-10-05T10:00:00Z', true],
])('a kill with the review %s is reminded of at %s: %s', (review, moment, isDue) => {
  expect(at(moment, [kill(review)])).toEqual(isDue ? [`flag/pay@production ${review}`] : []);
});

it('a flag is reminded of once the day of its expiry is over, and what says nothing never', () => {
  expect(at('2026-10-05T12:00:00Z', [kill()], '2026-10-05')).toEqual([]);
  expect(at('2026-10-06T00:00:00Z', [kill()], '2026-10-05')).toEqual(['flag/old 2026-10-05']);
  expect(at('2099-01-01T00:00:00Z', [kill()])).toEqual([]);
});
