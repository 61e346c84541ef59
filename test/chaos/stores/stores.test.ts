import { expect, it } from 'vitest';
import { lacks } from '../../support/requirements.js';
import { writePart } from '../matrix/page.js';
import { GROUNDS } from './grounds.js';
import { storeTable } from './page.js';
import { playStores, WAYS, type Lanes } from './play.js';

const LANES = Number(process.env['FLAGKEEL_MATRIX_LANES'] ?? 4);
/** A regular expression. Only cells are played whose store, fault and way it finds. */
const ONLY = new RegExp(process.env['FLAGKEEL_MATRIX_ONLY'] ?? '');

it.skipIf(lacks('postgresql'))(
  'a reconciler whose service has a failing store loses nothing, claims nothing, and is well by itself',
  async () => {
    const begun = Date.now();
    const how: Omit<Lanes, 'lanes'> = {
      ways: WAYS,
      plays: (ground, { fault, way }) => ONLY.test(`${ground} ${fault.name} ${way.name}`),
      tell: (ground, { cell: { fault, way }, code, runsAfter, seconds, ...result }) => {
        const { wellAfterMs, health = 'not asked', violations } = result;
        process.stdout.write(
          `${ground}, ${fault.name}, ${way.name}: ${String(code)}→${String(runsAfter)} in ${seconds.toFixed(1)} s, ` +
            `well after ${wellAfterMs.toFixed(0)} ms; health: ${health}` +
            `${violations.map((text) => ` WRONG: ${text}`).join('')}\n`,
        );
      },
    };
    const [directory, postgres] = GROUNDS;
    const [inDirectory, onPostgres] = await Promise.all([
      playStores(directory, { ...how, lanes: 1 }),
      playStores(postgres, { ...how, lanes: LANES }),
    ]);

    if (process.env['FLAGKEEL_MATRIX_ONLY'] === undefined) {
      const stores = { 'a directory': inDirectory, PostgreSQL: onPostgres };
      writePart('table of stores', begun, (origin) => storeTable(stores, origin));
    }
    const wrong = [...inDirectory, ...onPostgres].filter(({ violations }) => violations.length > 0);
    expect(
      wrong.map(({ cell: { fault, way }, violations }) => [fault.name, way.name, violations]),
    ).toEqual([]);
  },
);
