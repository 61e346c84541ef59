import type { Change, FieldChange } from '../../../model/plan.js';
import { keysText } from '../../masked-keys.js';
import type { PlanReport } from '../../plan-report.js';
import { clean } from '../../sanitize.js';
import { isBuckets, isRules } from '../../values.js';
import { sharesChange } from './buckets.js';
import { rulesFact } from './rules.js';
import { cut, noBreak } from '../layout.js';

const REASON_COLUMNS = 80;
/** What matters most comes first. */
const FACT_PATHS = ['/killed', '/defaultRule', '/trafficAllocation'];

/**
 * What an update means in a few words: `on 25 → 40 %`, `killed: INC-6012`, `+120 −3 keys`, `1 rule added`. Empty where no field of the
 * change has such words; what the other fields mean stands in their own lines.
 */
export function factText(change: Change, report: PlanReport): string {
  const { action, ref, fields, keys } = change;
  if (action !== 'update' || ref.kind === 'identities') return '';
  const facts = fields
    .toSorted((a, b) => FACT_PATHS.indexOf(a.path) - FACT_PATHS.indexOf(b.path))
    .map((field) => fieldFact(field, change, report))
    .filter((fact) => fact !== '');
  if (keys) facts.push(keysText(keys, false));
  return facts.length > 0 ? facts.join(', ') : rulesText(fields);
}

/** Rules are counted where nothing shorter is to be told. */
function rulesText(fields: readonly FieldChange[]): string {
  const { before = [], after = [] } = fields.find(({ path }) => path === '/rules') ?? {};
  return isRules(before) && isRules(after) ? rulesFact(before, after) : '';
}

/** The same of one field. */
export function fieldFact(
  { path, before, after }: FieldChange,
  { id }: Pick<Change, 'id'>,
  report: PlanReport,
): string {
  switch (path) {
    case '/killed':
      return after === true ? killedText(id, report) : noBreak('no longer killed');
    case '/trafficAllocation':
      return typeof before === 'number' && typeof after === 'number'
        ? noBreak(`traffic ${String(before)} → ${String(after)} %`)
        : '';
    case '/defaultRule':
      return isBuckets(before) && isBuckets(after) ? sharesChange(before, after) : '';
    default:
      return '';
  }
}

/** With the reason that the break-glass list gives. */
export function killedText(id: Change['id'], { killReasons }: PlanReport): string {
  const reason = killReasons?.get(id);
  return reason === undefined ? 'killed' : `killed: ${cut(clean(reason), REASON_COLUMNS)}`;
}
