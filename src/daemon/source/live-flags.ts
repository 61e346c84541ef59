import type { Definition } from '../../model/flag/flag.js';
import { definitionFromWire } from '../../model/flag/wire.js';
import type { Change } from '../../model/plan.js';
import { byCodeUnits } from '../../model/json.js';
import { isAmong, keyOf, objectId } from '../../model/ref.js';
import type { DesiredDefinition } from '../../model/desired.js';
import type { Applied, Planned } from '../../reconcile/context.js';
import { ruleTexts } from '../../report/html/parts.js';
import { cut } from '../../report/text/layout.js';
import type { EnvironmentFlags, LiveFlag, Serving } from '../view.js';

/** As many as a page shows without a wait; the catalogue of `flagkeel report` has all flags. */
const MOST_FLAGS = 1_000;
const MOST_RULES = 20;
const RULE_COLUMNS = 400;

export interface SeenFlags extends Pick<EnvironmentFlags, 'environment' | 'total'> {
  /** The first by name. `serves` is not set where the run did not look. */
  readonly flags: readonly (Omit<LiveFlag, 'serves' | 'seenAt'> &
    Partial<Pick<LiveFlag, 'serves'>>)[];
}

/** The flags as the run left the service: the values it read, replaced by those it wrote. */
export function flagsSeen(result: Planned | Applied): SeenFlags[] {
  const { desired, actual, policy } = result.input;
  const written = new Map(
    'outcomes' in result
      ? result.plan.changes
          .filter(({ id }) => result.outcomes.get(id)?.status === 'applied')
          .map((change) => [change.id, change] as const)
      : [],
  );
  return policy.environments.map(({ name: environment }) => {
    const declared = [...desired.flags.values()].flatMap(({ name, environments }) => {
      const definition = environments.get(environment);
      return definition === undefined ? [] : [{ name, definition }];
    });
    const flags = declared.slice(0, MOST_FLAGS).map(({ name, definition }) => {
      const { file, line } = definition.location;
      const wire = actual.flags.get(name)?.definitions.get(environment);
      if (wire === undefined) return { name, file, line };
      const live = wire === null ? null : definitionFromWire(wire);
      const change = written.get(objectId({ kind: 'flag', name, environment }));
      const now = change === undefined ? live : afterChange(change, live, definition);
      return { name, file, line, serves: now && servingOf(now) };
    });
    return { environment, total: declared.length, flags };
  });
}

function afterChange(
  { action, fields }: Change,
  live: Required<Definition> | null,
  { creation, fields: wanted }: DesiredDefinition,
): Required<Definition> | null {
  if (action === 'delete') return null;
  const before = live ?? creation;
  const written = fields.map(({ path, after }): [string, unknown] => {
    const field = (path.split('/')[1] ?? '') as keyof Definition;
    // A change has no values for lists of keys.
    return [field, after ?? wanted[field] ?? before[field]];
  });
  return { ...before, ...Object.fromEntries(written) };
}

function servingOf(definition: Required<Definition>): Serving {
  const { killed, defaultRule, trafficAllocation, defaultTreatment, rules, targets } = definition;
  return {
    killed,
    shares: defaultRule,
    trafficAllocation,
    defaultTreatment,
    rules: rules.length,
    targets: Object.values(targets).reduce((sum, keys) => sum + keys.length, 0),
    ruleTexts: ruleTexts(rules.slice(0, MOST_RULES)).map((text) => cut(text, RULE_COLUMNS)),
  };
}

/** @param of with `invalid`, `KIND/NAME` of objects whose files are invalid: their flags stay as they were seen last. */
export function withSeen(
  known: readonly EnvironmentFlags[],
  seen: readonly SeenFlags[],
  { seenAt, invalid }: { readonly seenAt: string; readonly invalid: ReadonlySet<string> },
): EnvironmentFlags[] {
  const before = new Map(
    known.flatMap(({ environment, flags }) =>
      flags.map((flag) => [`${environment} ${flag.name}`, flag] as const),
    ),
  );
  return seen.map(({ environment, total, flags }) => {
    const valid = flags.flatMap(({ serves, ...at }): LiveFlag[] => {
      if (serves !== undefined) return [{ ...at, serves, seenAt }];
      const old = before.get(`${environment} ${at.name}`);
      return old === undefined ? [] : [{ ...at, serves: old.serves, seenAt: old.seenAt }];
    });
    const kept = (known.find((each) => each.environment === environment)?.flags ?? [])
      .filter(({ name }) => isAmong(invalid, keyOf('flag', name)))
      .map((flag) => ({ ...flag, invalid: true as const }));
    const all = [...valid, ...kept].sort((a, b) => byCodeUnits(a.name, b.name));
    return { environment, total: total + kept.length, flags: all };
  });
}
