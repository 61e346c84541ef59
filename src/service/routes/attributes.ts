/**
 * Endpoints of the attributes of a traffic type. Attributes only describe: identities and rules may name attributes
 * that are not listed here, and keep them when one is deleted.
 */

import { actionBetween, recordChange, differenceOf } from '../change-log.js';
import type { ApiRequest, Endpoints } from '../http/endpoint.js';
import { at, SHARED, type Work } from '../http/place.js';
import { badRequest } from '../http/problem.js';
import { isSameJson } from '../rules/json.js';
import { closed, type Schema } from '../rules/shape.js';
import {
  WORDS_MEMBERS,
  givenText,
  wholeNumber,
  NUMBER_PARAMETER,
  textParameter,
  type QuerySchema,
} from '../rules/members.js';
import {
  deleteAttribute,
  findAttribute,
  listAttributes,
  saveAttribute,
} from '../store/identities.js';
import type { AttributeRow } from '../store/tables.js';
import { answer, answerList, DATA_TYPE } from './answer-schemas.js';
import { ATTRIBUTE_NAME } from './identities.js';

const PATH = '/schema/ws/:ws/trafficTypes/:trafficType';

const ID: Schema = { type: 'string', pattern: ATTRIBUTE_NAME };
const TEXT: Schema = { type: ['string', 'null'], maxLength: 10_000 };

/** The members that a client may send, with those that it only sends back after reading them. */
const MEMBERS: Readonly<Record<string, Schema>> = {
  displayName: TEXT,
  description: TEXT,
  dataType: DATA_TYPE,
  isSearchable: { type: ['boolean', 'null'] },
  suggestedValues: {
    type: ['array', 'null'],
    maxItems: 1_000,
    items: { type: 'string', maxLength: 1_000 },
  },
  trafficTypeId: { ...TEXT, description: 'Id or name of the traffic type of the path.' },
  organizationId: TEXT,
};

const CHANGED: Schema = closed({ id: ID, ...MEMBERS, ...WORDS_MEMBERS });
const ATTRIBUTE: Schema = { ...CHANGED, required: ['id'] };

const ATTRIBUTE_QUERY: QuerySchema = {
  paginate: textParameter('`true`: one page. Otherwise all attributes as a bare list.'),
  searchPrefix: textParameter('How their ids begin, in any case.'),
  afterMarker: textParameter('`nextMarker` of the page before.'),
  beforeMarker: textParameter('`previousMarker` of the page after.'),
  markerLimit: {
    ...NUMBER_PARAMETER,
    minimum: 0,
    default: 50,
    description: 'Size of the page. One above 200 is cut, and the answer says so.',
  },
};

export const ATTRIBUTE_ENDPOINTS: Endpoints = {
  [`GET ${PATH}`]: {
    summary: 'List the attributes of a traffic type, in the order of their ids',
    answer: { anyOf: [answerList('Attribute'), answer('AttributePage')] },
    query: ATTRIBUTE_QUERY,
    read: at('trafficType', {}, async ({ db, trafficType, query }) => {
      const limit = Math.min(wholeNumber('markerLimit', query['markerLimit'], 50) || 50, 200);
      const prefix = (givenText(query['searchPrefix']) ?? '').toLowerCase();
      const all = (await listAttributes(db, trafficType.id))
        .map(wireAttribute)
        .filter((each) => each.id.toLowerCase().startsWith(prefix));
      const isPaged = givenText(query['paginate'])?.toLowerCase() === 'true';
      return isPaged ? markedPage(all, query, limit) : all;
    }),
  },
  [`POST,PUT ${PATH}`]: {
    summary: 'Create an attribute, or replace all that is known of it',
    answer: answer('Attribute'),
    body: ATTRIBUTE,
    write: at('trafficType', SHARED, async (work) => save(work, work.body as GivenAttribute)),
  },
  [`POST ${PATH}/attribute:bulk`]: {
    summary: 'The same of many',
    answer: answerList('Attribute'),
    body: { type: 'array', maxItems: 1_000, items: ATTRIBUTE },
    write: at('trafficType', SHARED, async (work) => {
      const saved: WireAttribute[] = [];
      for (const given of work.body as readonly GivenAttribute[]) {
        saved.push(await save(work, given));
      }
      return saved;
    }),
  },
  [`PATCH ${PATH}/:attribute`]: {
    summary: 'Change some of what is known of an attribute',
    answer: answer('Attribute'),
    body: CHANGED,
    write: at('attribute', SHARED, async (work) => {
      const { attribute: row } = work;
      const given = work.body as Partial<GivenAttribute>;
      if ((given.id ?? row.id) !== row.id) throw badRequest('id is not that of the path');
      const changed = Object.entries(given).filter(([, value]) => value !== null);
      return save(work, { ...wireAttribute(row), ...Object.fromEntries(changed) });
    }),
  },
  [`DELETE ${PATH}/:attribute`]: {
    summary: 'Forget an attribute; identities keep their values of it',
    answer: answer('True'),
    write: at('attribute', SHARED, async (work) => {
      const { attribute: row } = work;
      await deleteAttribute(work.db, row.traffic_type_id, row.id);
      await record(work, wireAttribute(row), null);
      return true;
    }),
  },
};

type WireAttribute = ReturnType<typeof wireAttribute>;

/** An attribute as a client sends it; null counts as not given. */
type GivenAttribute = {
  readonly [Name in keyof Omit<WireAttribute, 'id'>]?: WireAttribute[Name] | null;
} & { readonly id: string };

function wireAttribute(row: AttributeRow) {
  return {
    id: row.id,
    trafficTypeId: row.traffic_type_id,
    displayName: row.display_name,
    description: row.description,
    dataType: row.data_type,
    isSearchable: row.is_searchable === 1,
    suggestedValues: JSON.parse(row.suggested_values_json) as string[],
  };
}

/** A marker is the id of an attribute: the last one before the page, or the last one on it. */
function markedPage(all: readonly WireAttribute[], query: ApiRequest['query'], limit: number) {
  const after = givenText(query['afterMarker']) ?? '';
  const before = givenText(query['beforeMarker']);
  const objects =
    before === undefined
      ? all.filter(({ id }) => id > after).slice(0, limit)
      : all.filter(({ id }) => id <= before).slice(-limit);
  const first = objects[0]?.id ?? after;
  const last = objects.at(-1)?.id;
  return {
    objects,
    nextMarker: last !== undefined && all.some(({ id }) => id > last) ? last : null,
    previousMarker: all.findLast(({ id }) => id < first)?.id ?? null,
    limit,
    count: objects.length,
  };
}

async function save(work: Work<'trafficType'>, given: GivenAttribute): Promise<WireAttribute> {
  const { db, trafficType } = work;
  if (![trafficType.id, trafficType.name].includes(given.trafficTypeId ?? trafficType.id)) {
    throw badRequest('trafficTypeId is not that of the path');
  }
  const row: AttributeRow = {
    traffic_type_id: trafficType.id,
    id: given.id,
    display_name: given.displayName ?? '',
    description: given.description ?? '',
    data_type: given.dataType ?? null,
    is_searchable: Number(given.isSearchable ?? false),
    suggested_values_json: JSON.stringify(given.suggestedValues ?? []),
  };
  const stored = await findAttribute(db, trafficType.id, given.id);
  const [before, after] = [stored ? wireAttribute(stored) : null, wireAttribute(row)];
  if (!isSameJson(before, after)) await saveAttribute(db, row);
  return record(work, before, after);
}

async function record<After extends WireAttribute | null>(
  work: Work<'trafficType'>,
  before: WireAttribute | null,
  after: After,
): Promise<After> {
  await recordChange(work, {
    kind: 'attribute',
    name: `${work.trafficType.name}/${(after ?? before)?.id ?? ''}`,
    action: actionBetween(before, after),
    difference: differenceOf(before, after),
  });
  return after;
}
