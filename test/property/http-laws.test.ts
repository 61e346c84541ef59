import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AdminClient } from '../../src/admin-api/http/admin-client.js';
import { readCatalog, type Catalog } from '../../src/admin-api/workspace.js';
import { observe } from '../../src/admin-api/kinds.js';
import { HttpAdminReader } from '../../src/admin-api/reader.js';
import { HttpAdminWriter } from '../../src/admin-api/writer.js';
import { applyPlan } from '../../src/apply/apply.js';
import type { BoundDesired } from '../../src/model/bound-desired.js';
import type { Definition, Rule } from '../../src/model/flag/flag.js';
import type { Plan } from '../../src/model/plan.js';
import type { State } from '../../src/model/state.js';
import {
  stateAfterAnswers,
  stateAfterVerify,
  stateBeforeApply,
} from '../../src/plan/bases/next-state.js';
import { pendingWithheld, planChanges } from '../../src/plan/plan.js';
import type { PlanInput } from '../../src/plan/input.js';
import { scopeOf } from '../../src/plan/scope.js';
import { KNOWN_MATCHER_TYPES } from '../../src/service/rules/definition-schema.js';
import { startService, type RunningService } from '../../src/service/service.js';
import { fewDesired } from '../support/arbitraries.js';
import { anEnvironment, aPolicy, NO_STATE, planLines } from '../support/builders.js';
import { provenIn } from '../support/planning.js';
import type { World } from '../support/service-model.js';
import { startTestService, TEST_SEED } from '../support/service.js';
import { lawSettings } from './law-settings.js';
import { noisy } from '../support/service-habits.js';
import { comparable, strangersIn, worldOf } from './worlds.js';

/**
 * Laws of the planner, in memory, hold for the requests that client and service exchange. Each case costs a hundred: the
 * thousands that `test:laws` asks for are for the laws in memory.
 */
const MOST = 200;
const drawn = lawSettings('laws over HTTP', 4);
// A case that is shrunk would meet what the one before left behind.
const settings = { ...drawn, numRuns: Math.min(MOST, drawn.numRuns), endOnFailure: true };
const HEAD = 'c'.repeat(40);

/** A workspace for every case. */
const SEED = {
  workspaces: TEST_SEED.workspaces.flatMap((workspace) =>
    Array.from({ length: settings.numRuns }, (_, index) => ({
      ...workspace,
      name: `case-${index}`,
    })),
  ),
};

type Service = Pick<RunningService, 'origin' | 'stop'> & { readonly key: string };

const STRICT = 'a service that answers what the contract shows and no more';

const MODES: Readonly<Record<string, () => Promise<Service>>> = {
  'the service': async () => startTestService({ seed: SEED }),
  [STRICT]: async () => startTestService({ seed: SEED, strict: true }),
  'a service with noisy answers': async () => {
    const store = { kind: 'memory' } as const;
    const service = await startService({ store, seed: SEED, middleware: noisy });
    return { ...service, key: await service.createKey('test') };
  },
};

/**
 * The contract shows no configuration of a treatment, and a strict service takes none. Nor does it take a matcher of a type that no
 * public page names: the contract leaves the types open, and a client that invents one has most probably misspelt it.
 */
function asStrict(desired: BoundDesired): BoundDesired {
  const without = <T extends Definition>(definition: T): T => ({
    ...definition,
    ...(definition.treatments && {
      treatments: definition.treatments.map(({ configuration, ...each }) => each),
    }),
    ...(definition.rules && { rules: definition.rules.filter(hasPublicTypes) }),
  });
  const flags = [...desired.flags].map(([name, flag]) => {
    const environments = [...flag.environments].map(([place, definition]) => {
      const { fields, creation } = definition;
      return [
        place,
        { ...definition, fields: without(fields), creation: without(creation) },
      ] as const;
    });
    return [name, { ...flag, environments: new Map(environments) }] as const;
  });
  return { ...desired, flags: new Map(flags) };
}

function hasPublicTypes({ matchers }: Rule): boolean {
  return matchers.every(({ type }) => KNOWN_MATCHER_TYPES.includes(type));
}

describe.each(Object.entries(MODES))('laws over HTTP: %s', (mode, start) => {
  const someDesired = mode === STRICT ? fewDesired.map(asStrict) : fewDesired;
  let service: Service;
  let client: AdminClient;
  let workspaces = 0;

  beforeEach(async () => {
    service = await start();
    workspaces = 0;
    client = new AdminClient({ url: service.origin, key: () => service.key, version: '0.0.0' });
  });

  afterEach(async () => {
    await client.close();
    await service.stop();
  });

  async function newWorkspace(): Promise<Situation> {
    const reader = new HttpAdminReader(client.reads());
    const at = await readCatalog(reader, `case-${workspaces++}`);
    return { client, reader, at, state: NO_STATE };
  }

  it('every request is taken, what is applied plans nothing more, and going back undoes', async () => {
    const law = fc.asyncProperty(someDesired, someDesired, async (first, second) => {
      const before = await run(first, await newWorkspace());
      const after = await run(second, before);
      const back = await run(first, after);

      for (const { failures, left } of [before, after, back]) {
        expect({ failures, left }).toEqual({ failures: [], left: [] });
      }
      const states = [back, before].map(({ world }) => comparable(first, world, back.kept));
      expect(states[0]).toEqual(states[1]);
    });

    await fc.assert(law, settings);
  });

  it('nothing that the specs never named is written: no object, no environment', async () => {
    const law = fc.asyncProperty(someDesired, someDesired, async (theirs, ours) => {
      const before = await run(theirs, await newWorkspace());
      await run(ours, { ...before, state: NO_STATE });
      const { actual } = await inputFor(theirs, before);

      expect(strangersIn(worldOf(actual), ours)).toEqual(strangersIn(before.world, ours));
    });

    await fc.assert(law, settings);
  });
});

interface Situation {
  readonly client: AdminClient;
  readonly reader: HttpAdminReader;
  readonly at: Catalog;
  readonly state: State;
}

interface Run extends Situation {
  readonly failures: readonly string[];
  readonly left: readonly string[];
  readonly world: World;
  /** Segments that stay, which depends on the path. */
  readonly kept: ReadonlySet<string>;
}

/** Plans, applies and looks again with the pieces of the pipeline, but for git and its files. */
async function run(desired: BoundDesired, situation: Situation): Promise<Run> {
  const { client, at } = situation;
  // One for each run, as the program has it: what it learns by the way is true for a run.
  const reader = new HttpAdminReader(client.reads());
  const observedAtMs = Date.now();
  const input = await inputFor(desired, { ...situation, reader });
  const plan = planChanges(input);
  const notes = new Map(plan.changes.map(({ id }) => [id, { title: `Law ${id}`, comment: 'law' }]));
  const writer = new HttpAdminWriter(client, reader);
  const begun = stateBeforeApply(input, plan.changes, HEAD);
  const killed = new Set<string>();
  const context = { writer, at, notes, now: Date.now, observedAtMs, killed };
  const outcomes = await applyPlan(plan, context, new AbortController().signal);
  const failures = [...outcomes].flatMap(([id, outcome]) =>
    outcome.status === 'applied' ? [] : [`${id}: ${JSON.stringify(outcome)}`],
  );
  const answered = stateAfterAnswers({ ...input, state: begun }, plan.changes, outcomes, HEAD);
  const again = await inputFor(desired, { ...situation, reader, state: answered });
  const left = planChanges(again);
  // What a run learned of flags that the service does not show is not what the next one sees.
  const anew = await inputFor(desired, { ...situation, state: answered });
  const segments = left.withheld.filter(({ ref }) => ref.kind === 'segment');
  return {
    ...situation,
    state: stateAfterVerify(again, new Set(left.unchanged), HEAD),
    failures,
    left: pendingLines(left),
    world: worldOf(anew.actual),
    kept: new Set(segments.map(({ ref }) => ref.name)),
  };
}

/** A segment whose users a service cannot list stays, and says so at every run. */
function pendingLines(plan: Plan): string[] {
  const lines = planLines({ ...plan, withheld: pendingWithheld(plan) });
  if (plan.unmanaged !== null) return lines;
  return lines.filter(
    (line) => !/^withheld (delete|deactivate) segment\/.*: still-in-use$/.test(line),
  );
}

async function inputFor(
  desired: BoundDesired,
  { state, reader, at }: Situation,
): Promise<PlanInput> {
  const environments = at.environments.map(({ id, name }) => anEnvironment(name, { id }));
  const policy = aPolicy({
    environments,
    prune: true,
    provenRemovals: provenIn(state),
  });
  const allEnvironments = at.environments.map(({ name }) => name);
  const all = { allEnvironments, counting: 'never', whole: true } as const;
  const actual = await observe(reader, at, scopeOf({ desired, state, policy, ...all }));
  return { desired, actual, state, policy };
}
