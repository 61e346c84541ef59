import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../model/json.js';
import { definitionFromWire } from '../model/flag/wire.js';
import type { FieldChange } from '../model/plan.js';
import { noBreak, span, type FieldLine } from '../report/text/layout.js';
import { itemText } from '../report/values.js';
import type { KeysChange, MemberChange } from '../service/change-log.js';
import type { AuditEntry } from '../service/store/audit.js';
import { fieldLabel, fieldLines } from '../report/view/field.js';

/** Everything is shown in full: the log is where people look for what a review has cut. */
const CONTEXT = { showKeys: true, inFull: true } as const;

/** A change that the service recorded, in the words in which a plan has it; one or more lines for each difference. */
export function serviceChangeLines({ difference }: Pick<AuditEntry, 'difference'>): FieldLine[] {
  const all = difference as (MemberChange | KeysChange)[];
  return all.flatMap((each) => ('sample' in each ? [keysLine(each)] : memberLines(each)));
}

function keysLine({ path, added, removed, sample }: KeysChange): FieldLine {
  const some = (sign: string, count: number, first: readonly string[]): string[] =>
    count === 0 ? [] : [`${sign} ${itemText(first, Infinity)}${count > first.length ? ', …' : ''}`];
  const parts = [
    ...some('+', added, sample.slice(0, added)),
    ...some('−', removed, sample.slice(added)),
  ];
  const counts = noBreak(`+${String(added)} −${String(removed)} keys`);
  return [span(`${fieldLabel(path)}:`, 'strong'), span(` ${counts}: ${parts.join('; ')}`)];
}

/** Two values that a spec writes alike still differ on the service: then both are shown as the service has them. */
function memberLines({ path, before, after }: MemberChange): readonly FieldLine[] {
  const field: FieldChange = {
    path,
    reason: 'commit',
    before: inWordsOfSpecs(path, before),
    after: inWordsOfSpecs(path, after),
  };
  const isSame = isDeepStrictEqual(field.before, field.after);
  return fieldLines(isSame ? { ...field, before, after } : field, CONTEXT);
}

const EMPTY = {
  killed: false,
  treatments: [],
  defaultTreatment: '',
  baselineTreatment: '',
  trafficAllocation: 0,
  rules: [],
  defaultRule: [],
};

/** A value of the interface as specs have it; the value itself where specs have no form of their own. */
function inWordsOfSpecs(path: string, value: unknown): unknown {
  const name = path.slice(1);
  if (name === 'tags' && Array.isArray(value)) {
    return value.map((tag: unknown) => (isRecord(tag) ? tag['name'] : tag));
  }
  if (name === 'rolloutStatus' && isRecord(value)) return value['name'];
  if (!Array.isArray(value) || !['treatments', 'rules', 'defaultRule'].includes(name)) return value;
  return definitionFromWire({ ...EMPTY, [name]: value })[name as 'rules'];
}
