import { canonicalDefinition } from '../kinds/flag-wire.js';
import type { Definition } from '../kinds/flag.js';
import type { Desired, DesiredDefinition, DesiredFlag } from '../model/desired.js';
import type { FieldChange, Withheld } from '../model/plan.js';
import type { FlagEntry } from '../model/state.js';
import { withheld, type DraftSubject } from './draft.js';
import type { PlanInput } from './plan-input.js';
import type { PlannedEnvironment } from './policy.js';

export interface PlannedKill {
  readonly changes: readonly FieldChange[];
  readonly written: { readonly killed?: boolean };
  readonly withheld: (subject: DraftSubject) => Withheld[];
}

const NOTHING: PlannedKill = { changes: [], written: {}, withheld: () => [] };

interface KillSubject {
  readonly flag: DesiredFlag;
  readonly definition: DesiredDefinition;
  readonly entry: FlagEntry | undefined;
  readonly environment: PlannedEnvironment;
}

/**
 * Kills and restores of one definition.
 *
 * A kill that git orders is enforced whatever else holds. A restore is an act, never a state: it is planned only when
 * the base has the kill and the specs now say `killed: false`. A kill that somebody made on the service stays.
 */
export function plannedKill(of: KillSubject, killed: boolean, input: PlanInput): PlannedKill {
  const { definition, entry, environment } = of;
  if (isKillOrdered(of, input.desired)) return killed ? NOTHING : written(true, 'kill');
  if (definition.fields.killed !== false || !killed) return NOTHING;
  const base = entry?.environments[environment.id]?.spec?.killed;
  if (base === true) return written(false, 'restore');
  if (environment.onLiveKill === 'revert') return written(false, 'drift');
  return { ...NOTHING, withheld: (subject) => [liveKill(subject)] };
}

function written(killed: boolean, reason: 'kill' | 'restore' | 'drift'): PlannedKill {
  return {
    changes: [{ path: '/killed', reason, before: !killed, after: killed }],
    written: { killed },
    withheld: () => [],
  };
}

function liveKill(subject: DraftSubject): Withheld {
  const fields: FieldChange[] = [{ path: '/killed', reason: 'drift', before: true, after: false }];
  return withheld(
    subject,
    { action: 'update', fields },
    {
      why: 'live-kill',
      wayOut:
        'somebody killed the flag on the service; write `killed: true`, or restore it on the service',
    },
  );
}

/** Whether git orders this definition killed, in the flag itself or in the break-glass list. */
function isKillOrdered(
  { flag, definition, environment }: Omit<KillSubject, 'entry'>,
  desired: Desired,
): boolean {
  if (definition.fields.killed === true) return true;
  return desired.kills.some(
    (kill) => kill.flag === flag.name && kill.environment === environment.configName,
  );
}

/** The managed fields with the kills of the break-glass list in them: what a base remembers. */
export function effectiveFields(of: Omit<KillSubject, 'entry'>, desired: Desired): Definition {
  const fields = canonicalDefinition(of.definition.fields);
  return isKillOrdered(of, desired) ? { ...fields, killed: true } : fields;
}
