import { expect, it } from 'vitest';
import { projectText } from './page.js';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

const PLAN = JSON.parse(projectText('schemas/plan.schema.json')) as Schema;
/** What the variables of the policy are. */
const VARIABLES: Readonly<Record<string, readonly string[]>> = {
  input: [],
  change: ['changes'],
  flag: ['changes', 'impact'],
  field: ['shown'],
};

/** A member of the plan; the items of a list stand for the list. */
function memberAt(path: readonly string[]): Schema | undefined {
  return path.reduce<Schema | undefined>((schema, name) => plain(schema?.properties?.[name]), PLAN);
}

function plain(schema: Schema | undefined): Schema | undefined {
  const item = schema?.items ?? schema;
  const name = item?.$ref?.replace('#/$defs/', '');
  return name === undefined ? item : PLAN.$defs?.[name];
}

/** `npm run test:policy` runs the policy itself, where opa is. */
it('the policy for conftest names only members that a plan has', () => {
  const text = projectText('recipes/policy/flagkeel.rego').replaceAll(/#.*/g, '');
  const named = [...text.matchAll(/\b(input|change|flag|field)((?:\.\w+)+)/g)].map(
    ([whole, variable = '', path = '']) => ({
      whole,
      path: [...(VARIABLES[variable] ?? []), ...path.slice(1).split('.')],
    }),
  );

  expect(named.length).toBeGreaterThan(5);
  expect(
    named.filter(({ path }) => memberAt(path) === undefined).map(({ whole }) => whole),
  ).toEqual([]);
});
