import { differingPaths, isSatisfied } from './comparison.js';
import { changedFields, isUnseen, objectOf, type Ran } from './laws.js';
import type { EnvironmentName } from './specs.js';
import type { Written } from './written.js';

/** How an environment wants its differences treated; by our own reading of the documents. */
export interface Rules {
  readonly isProtected: boolean;
  readonly onDrift: 'revert' | 'report';
  readonly onConflict: 'apply' | 'hold';
}

/** What a field was found equal to: one of these values. `'anything'`: it may have been any. */
type Agreed = unknown[] | 'anything';

interface SeenKill {
  /** Commits at which runs saw it. */
  readonly heads: Set<number>;
  /** Whether git ordered it at one of them. */
  ordered: boolean;
}

/**
 * Remembers a story the way a person would who looked on, and says where a run did what the rules do not allow: nobody's
 * edit is overwritten where the policy holds it, nothing goes that no commit took away, no kill is undone that git did not
 * order.
 */
export class StoryMemory {
  /** `ID PATH` → values that git and the service had in common. */
  readonly #agreed = new Map<string, Agreed>();
  /** Ids that were once equal as a whole. */
  readonly #ours = new Set<string>();
  /** Ids that were declared at a commit that a run saw. */
  readonly #declared = new Set<string>();
  readonly #kills = new Map<string, SeenKill>();
  /** Commit → what it says. */
  readonly #commits = new Map<number, Written>();
  readonly #rules: (environment: EnvironmentName | null) => Rules;
  readonly #prunes: boolean;

  constructor(rules: (environment: EnvironmentName | null) => Rules, prunes: boolean) {
    this.#rules = rules;
    this.#prunes = prunes;
  }

  /** @returns a line for everything that the run should not have done. */
  look(ran: Ran): string[] {
    const found = ran.isDry
      ? []
      : [
          ...this.#overwritten(ran),
          ...this.#madeAgain(ran),
          ...this.#deleted(ran),
          ...this.#restored(ran),
        ];
    this.#remember(ran);
    return found.map((each) => `${ran.kind}, exit ${ran.exitCode}: ${each}`);
  }

  #overwritten(ran: Ran): string[] {
    return changedFields(ran)
      .filter(({ path }) => path !== '/killed')
      .filter(({ id, path }) => !this.#mayWrite(ran, id, path))
      .map(({ id, path }) => {
        const values = [ran.before, ran.after].map((state) =>
          JSON.stringify(state.get(id)?.get(path)),
        );
        return `${id} ${path} was overwritten: ${values.join(' by ')}`;
      });
  }

  #mayWrite(ran: Ran, id: string, path: string): boolean {
    const { written, only, kind, document } = ran;
    // What nobody can see nobody can hold.
    if (!id.includes('@') && document && !document.error && isUnseen(id, document)) return true;
    if (only !== null && objectOf(id) !== only) return false;
    const fields = written.objects.get(id);
    // A segment is emptied before it goes, and a run may be cut off in between.
    if (!fields) return path === 'keys' && this.#declared.has(id) && this.#prunes;
    // The treatments travel in one list, and a baseline follows a treatment that goes.
    if (path.startsWith('/targets/') && !fields.has(path)) return true;
    if (path === '/baselineTreatment' && !fields.has(path)) return true;
    if (!fields.has(path)) return false;
    const rules = this.#rulesOf(id);
    if (kind === 'adopting') return true;
    const agreed = this.#agreed.get(`${id} ${path}`);
    if (!this.#ours.has(id)) return !rules.isProtected;
    if (agreed === undefined || agreed === 'anything') return true;
    const live = ran.before.get(id)?.get(path);
    const wanted = fields.get(path);
    const gitChanged = !agreed.some((each) => isSame(each, wanted));
    // Whether keys of others may stay is no matter of the keys that somebody took away.
    const mayBeSame = agreed.some((each) => isSame(apartFromMode(each), apartFromMode(wanted)));
    const isAddOnly = path === 'keys' && (wanted as { mode: string }).mode === 'add-only';
    if (agreed.some((each) => isSatisfied(path, each, live)) || isAddOnly) {
      // What was applied last is still there: then only a commit can be the cause.
      if (agreed.some((each) => !isSame(each, wanted))) return true;
    }
    if (mayBeSame && (rules.onDrift === 'revert' || kind === 'reverting drift')) return true;
    return gitChanged && rules.onConflict === 'apply';
  }

  #rulesOf(id: string): Rules {
    return this.#rules((id.split('@')[1] as EnvironmentName | undefined) ?? null);
  }

  /** What somebody deleted by hand, and a run made anew where drift is reported. */
  #madeAgain({ before, after, kind }: Ran): string[] {
    if (kind === 'reverting drift' || kind === 'adopting') return [];
    return [...after.keys()]
      .filter((id) => !before.has(id) && this.#ours.has(id))
      .filter((id) => this.#rulesOf(id).onDrift === 'report')
      .filter((id) => this.#rulesOf(id).onConflict === 'hold')
      .map((id) => `${id} was deleted by hand and made again`);
  }

  #deleted({ before, after, written }: Ran): string[] {
    return [...before.keys()]
      .filter((id) => !after.has(id))
      .filter((id) => written.objects.has(id) || !this.#declared.has(id) || !this.#prunes)
      .map((id) => `${id} was deleted, and no commit says so`);
  }

  #restored({ before, after, written, head }: Ran): string[] {
    return [...before].flatMap(([id, fields]) => {
      const was = fields.get('/killed') === true;
      const is = after.get(id)?.get('/killed') === true;
      if (!after.has(id) || was === is) return [];
      if (is) return written.kills.has(id) ? [] : [`${id} was killed, and no file says so`];
      return this.#mayRestore(id, head, written) ? [] : [`the kill of ${id} was undone`];
    });
  }

  #mayRestore(id: string, head: number, written: Written): boolean {
    if (written.kills.has(id)) return false;
    const seen = this.#kills.get(id);
    if (seen?.ordered === true) return true;
    const isSaid = written.objects.get(id)?.get('/killed') === false;
    const then = [...(seen?.heads ?? [])].filter((each) => each < head);
    return (
      isSaid &&
      then.some((each) => this.#commits.get(each)?.objects.get(id)?.get('/killed') !== false)
    );
  }

  #remember(ran: Ran): void {
    const { after, written, head, isBroken } = ran;
    this.#commits.set(head, written);
    if (ran.isDry) return;
    for (const [id, fields] of after) {
      if (fields.get('/killed') !== true) this.#kills.delete(id);
      else {
        const seen = this.#kills.get(id) ?? { heads: new Set(), ordered: false };
        seen.heads.add(head);
        seen.ordered ||= written.kills.has(id);
        this.#kills.set(id, seen);
      }
    }
    if (isBroken) return;
    for (const id of written.objects.keys()) this.#declared.add(id);
    this.#rememberEqual(ran);
    this.#forgetGone(ran);
  }

  #rememberEqual({ after, written, only, document }: Ran): void {
    const isWhole = only === null && document?.observed === 'full' && document.guards === undefined;
    for (const [id, wanted] of written.objects) {
      const live = after.get(id);
      if (!live) continue;
      const differing = new Set(differingPaths(wanted, live));
      const isEqual = differing.size === 0;
      if (isEqual) this.#ours.add(id);
      for (const [path, value] of wanted) {
        if (differing.has(path)) continue;
        const key = `${id} ${path}`;
        const known = this.#agreed.get(key);
        const isCounted = document?.notCompared.some((each) => each.id === id) === true;
        // Bases go field by field, once all of the object was equal at some time.
        if (isWhole && this.#ours.has(id) && !isCounted) this.#agreed.set(key, [value]);
        else if (known !== 'anything') this.#agreed.set(key, [...(known ?? []), value]);
      }
      if (isEqual) this.#forgetUnmanaged(id, wanted);
    }
  }

  /** A base that was found equal without a field has none of it. */
  #forgetUnmanaged(id: string, wanted: ReadonlyMap<string, unknown>): void {
    for (const key of this.#agreed.keys()) {
      const [of, path = ''] = key.split(' ');
      if (of === id && !wanted.has(path)) this.#agreed.set(key, 'anything');
    }
  }

  /** What git gave up and the service no longer has is nobody's. */
  #forgetGone({ after, written }: Ran): void {
    for (const id of [...this.#ours]) {
      if (after.has(id) || written.objects.has(id)) continue;
      this.#ours.delete(id);
      for (const key of [...this.#agreed.keys()]) {
        if (key.startsWith(`${id} `)) this.#agreed.delete(key);
      }
    }
  }
}

/** Of keys the keys; of all else all. */
function apartFromMode(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'mode' in value && 'keys' in value
    ? value.keys
    : value;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
