import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Actual } from '../../src/model/actual.js';
import { bindEnvironments, environmentNames } from '../../src/model/bound-desired.js';
import { planChanges } from '../../src/plan/plan.js';
import { readSpecs } from '../../src/specs/read-specs.js';
import { workspaceFiles } from '../../src/import/workspace-files.js';
import { someDesired } from '../support/arbitraries.js';
import { aPolicy, ENVIRONMENTS, NO_STATE, planLines } from '../support/builders.js';
import { applyAll, EMPTY_WORLD, observeWorld } from '../support/service-model.js';
import { treeOf } from '../support/spec-tree.js';
import { lawSettings } from './law-settings.js';

const settings = lawSettings('laws of the import', 100);
const IDS = ENVIRONMENTS.map(({ id }) => id);

/** Live workspaces: what the planner makes of generated specs, with some of its definitions killed by hand. */
const someActual: fc.Arbitrary<Actual> = fc
  .tuple(
    // A name that no file of a spec can have is refused before anything is written.
    someDesired.filter(({ segments }) => !segments.has('Ünïcode')),
    fc.infiniteStream(fc.boolean()),
  )
  .map(([desired, kills]) => {
    const empty = observeWorld(EMPTY_WORLD, {
      flags: desired.flags.keys(),
      segments: desired.segments.keys(),
    });
    const plan = planChanges({ desired, actual: empty, state: NO_STATE, policy: aPolicy() });
    const actual = observeWorld(applyAll(EMPTY_WORLD, plan.steps));
    for (const { definitions } of actual.flags.values()) {
      for (const definition of definitions.values()) {
        if (definition) definition.killed = kills.next().value === true;
      }
    }
    return actual;
  });

/** @param byId environments that the files call by their ids. */
function filesOf(actual: Actual, byId: readonly string[] = []): ReadonlyMap<string, string> {
  const environments = ENVIRONMENTS.map((each) => {
    const { id, name, production } = each;
    return { name, protected: production, configName: byId.includes(id) ? id : name };
  });
  return workspaceFiles({ workspace: 'Default', environments, actual });
}

describe('laws of the import', () => {
  it('import, then plan, is empty: the files are valid, and say every definition and every kill that is live', async () => {
    await fc.assert(
      fc.asyncProperty(someActual, fc.subarray(IDS), async (actual, byId) => {
        const specs = await readSpecs(treeOf(Object.fromEntries(filesOf(actual, byId))));

        if (!specs.ok) throw new Error(specs.diagnostics.map(({ message }) => message).join('\n'));
        const desired = bindEnvironments(specs.desired, environmentNames(ENVIRONMENTS));
        const plan = planChanges({ desired, actual, state: NO_STATE, policy: aPolicy() });
        expect(planLines(plan)).toEqual([]);
        expect(desired.flags.size).toBe(actual.flags.size);
        expect(desired.segments.size).toBe(actual.segments.size);
        expect(plan.unmanaged).toEqual({ flags: 0, segments: 0 });
        for (const [name, { definitions }] of actual.flags) {
          const written = desired.flags.get(name)?.environments;
          for (const [environment, definition] of definitions) {
            expect(written?.has(environment)).toBe(definition !== null);
            const killed = written?.get(environment)?.fields.killed;
            expect(killed).toBe(definition?.killed === true ? true : undefined);
          }
        }
      }),
      settings,
    );
  });

  it('equal states give equal bytes, in whatever order the service lists them', () => {
    fc.assert(
      fc.property(someActual, (actual) => {
        const turned: Actual = {
          ...actual,
          flags: new Map([...actual.flags].reverse()),
          segments: new Map([...actual.segments].reverse()),
        };

        expect([...filesOf(turned)]).toEqual([...filesOf(actual)]);
      }),
      settings,
    );
  });
});
