import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../model/json.js';
import { definitionFromWire } from '../../model/flag/wire.js';
import type { FieldChange } from '../../model/plan.js';
import { noBreak, span, type FieldLine } from '../text/layout.js';
import { itemText } from '../values.js';
import { fieldLabel, fieldLines } from './field.js';

/** One member that a change on the service touched, in the shape of the interface; a side without a value is absent. */
interface ServiceMemberChange {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** A list of keys that a change on the service touched: the numbers, and the first added keys before the removed ones. */
interface ServiceKeysChange {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly sample: readonly string[];
}

/** Everything is shown in full: the log is where people look for what a review has cut. */
const CONTEXT = { showKeys: true, inFull: true } as const;

/** A change that the service recorded, in the words in which a plan has it; one or more lines for each difference. */
export function serviceChangeLines(
  difference: readonly (ServiceMemberChange | ServiceKeysChange)[],
): FieldLine[] {
  return difference.flatMap((each) => ('sample' in each ? [keysLine(each)] : memberLines(each)));
}

function keysLine({ path, added, removed, sample }: ServiceKeysChange): FieldLine {
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
function memberLines({ path, before, after }: ServiceMemberChange): readonly FieldLine[] {
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
