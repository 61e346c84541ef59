import type { Actual } from '../model/actual.js';
import type { ChangeNote, KillResults } from '../model/outcome.js';
import type { Change, Plan, PlanNotes } from '../model/plan.js';
import { objectId, type ObjectId } from '../model/ref.js';

/** Results of the kills that a run sent before it made its plan. */
export class SentKills {
  readonly results: KillResults;
  /** The kills that the service accepted. */
  readonly killed: ReadonlySet<ObjectId>;

  constructor(results: KillResults) {
    this.results = results;
    this.killed = new Set(
      [...results].flatMap(([id, { status }]) => (status === 'killed' ? [id] : [])),
    );
  }

  /** The observed values as they were before the kills, so that the plan lists the kills as changes. */
  undoneIn(actual: Actual): Actual {
    const flags = new Map(actual.flags);
    for (const [name, flag] of flags) {
      const definitions = new Map(flag.definitions);
      for (const [environment, live] of definitions) {
        const id = objectId({ kind: 'flag', name, environment });
        if (live && this.killed.has(id)) definitions.set(environment, { ...live, killed: false });
      }
      flags.set(name, { ...flag, definitions });
    }
    return { ...actual, flags };
  }

  /** The change without its kill, which went out under its own note, if more fields are to be written. */
  stillToWrite<T extends Change>(change: T): T {
    if (!this.killed.has(change.id)) return change;
    const fields = change.fields.filter(({ reason }) => reason !== 'kill');
    return fields.length === 0 ? change : { ...change, fields };
  }

  /** The notes of a plan. A change that is only a kill gets the note of the sent kill. */
  notesOver(notes: PlanNotes, { changes }: Pick<Plan, 'changes'>): PlanNotes {
    const sent = changes.flatMap(({ id, fields }): [ObjectId, ChangeNote][] => {
      const result = this.results.get(id);
      return result?.status === 'killed' && fields.length === 1 ? [[id, result.note]] : [];
    });
    return new Map([...notes, ...sent]);
  }
}
