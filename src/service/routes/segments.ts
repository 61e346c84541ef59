/**
 * Endpoints of segments: at the level of the workspace, and their activation in environments. The contract says that a
 * deactivate endpoint exists but not its path; here it is the DELETE of the activation's path.
 */

import { randomUUID } from 'node:crypto';
import type { WirePage, WireSegment, WireSegmentInEnvironment } from '../../admin-api/wire.js';
import {
  recordChange,
  recordObject,
  written,
  differenceOf,
  keysDifference,
} from '../change-log.js';
import type { Endpoints } from '../http/endpoint.js';
import { at, type Work } from '../http/place.js';
import { conflict } from '../http/problem.js';
import { sorted, insert } from '../store/statement.js';
import {
  CONTRACT_NEW_OBJECT_BODY,
  PAGE_SIZES,
  pageFrom,
  PAGE_QUERY,
  WORDS_BODY,
  WORDS_MEMBERS,
} from '../rules/members.js';
import { allKeys, noteKeyChange } from '../store/keys.js';
import {
  deleteActivation,
  deleteSegment,
  findActivation,
  findSegment,
  insertActivation,
  listActivations,
  listSegments,
  wireActivation,
  wireSegment,
} from '../store/segments.js';
import { listEnvironments } from '../store/workspaces.js';
import { answer, answerPage } from './answer-schemas.js';
import { checkUnused } from './checked-definition.js';

/**
 * The contract's four first. Activation needs no body. A JSON body may hold title and comment; other text is ignored.
 */
export const SEGMENT_ENDPOINTS: Endpoints = {
  'POST /segments/ws/:ws/trafficTypes/:trafficType': {
    contract: { body: CONTRACT_NEW_OBJECT_BODY },
    summary: 'Create a segment',
    answer: answer('Segment'),
    body: {
      ...CONTRACT_NEW_OBJECT_BODY,
      properties: { ...CONTRACT_NEW_OBJECT_BODY.properties, ...WORDS_MEMBERS },
    },
    write: at('trafficType', { reach: 'workspace' }, createSegment),
  },
  'GET /segments/ws/:ws': {
    contract: { query: PAGE_QUERY },
    summary: 'List segments',
    answer: answerPage('Segment'),
    query: PAGE_QUERY,
    read: at('workspace', {}, readSegments),
  },
  'DELETE /segments/ws/:ws/:segment': {
    contract: {},
    summary: 'Delete a segment with its keys in all environments',
    answer: answer('True'),
    write: at(
      'segmentEverywhere',
      { reach: 'workspace', note: 'both', approval: true },
      removeSegment,
    ),
  },
  'POST /segments/:env/:segment': {
    contract: {},
    summary: 'Activate a segment in an environment',
    answer: answer('SegmentInEnvironment'),
    body: WORDS_BODY,
    takesText: true,
    write: at('newActivation', { note: 'both' }, activate),
  },
  'GET /segments/ws/:ws/:segment': {
    summary: 'Get a segment',
    answer: answer('Segment'),
    read: at('segment', {}, async ({ segment }) => Promise.resolve(wireSegment(segment))),
  },
  'GET /segments/ws/:ws/environments/:env': {
    summary: 'List the segments that are active in an environment',
    answer: answerPage('SegmentInEnvironment'),
    query: PAGE_QUERY,
    read: at('environment', {}, readActivations),
  },
  'DELETE /segments/:env/:segment': {
    summary: 'Deactivate an empty segment in an environment',
    answer: answer('True'),
    write: at('activation', { note: 'both', unrequested: true }, deactivate),
  },
};

async function createSegment(work: Work<'trafficType'>): Promise<WireSegment> {
  const { db, workspace, trafficType } = work;
  const { name, description } = work.body as { name: string; description?: string };
  if (await findSegment(db, workspace.id, name)) throw conflict(`Segment ${name} already exists`);
  const row = {
    id: randomUUID(),
    workspace_id: workspace.id,
    name,
    description: description ?? '',
    traffic_type_id: trafficType.id,
    creation_time: work.caller.now,
    tags_json: '[]',
  };
  await insert(db, 'segments', [sorted(row)]);
  const created = written(await findSegment(db, workspace.id, name));
  return recordObject(work, 'segment', null, wireSegment(created));
}

async function readSegments(work: Work<'workspace'>): Promise<WirePage<WireSegment>> {
  const { db, workspace, query } = work;
  const page = pageFrom(query, PAGE_SIZES.objects);
  const { segments, totalCount } = await listSegments(db, workspace.id, page);
  return { objects: segments.map(wireSegment), ...page, totalCount };
}

async function readActivations(
  work: Work<'environment'>,
): Promise<WirePage<WireSegmentInEnvironment>> {
  const { db, environment, query } = work;
  const page = pageFrom(query, PAGE_SIZES.objects);
  const { activations, totalCount } = await listActivations(db, environment.id, page);
  return { objects: activations.map(wireActivation), ...page, totalCount };
}

async function removeSegment(work: Work<'segmentEverywhere'>): Promise<true> {
  const { db, workspace, segment } = work;
  const { name } = segment;
  await checkUnused(db, { kind: 'segment', name, workspaceId: workspace.id });
  for (const environment of await listEnvironments(db, workspace.id)) {
    const activation = await findActivation(db, environment.id, name);
    if (activation === undefined) continue;
    const removed = await allKeys(db, activation.activation_id);
    const gone = differenceOf(wireActivation(activation), null);
    const difference = removed.length === 0 ? gone : [...gone, keysDifference([], removed)];
    const change = { kind: 'segment', name, action: 'delete', difference } as const;
    await recordChange({ ...work, environment }, change);
    // Applications learn that the segment holds none of its keys any more.
    if (removed.length > 0) {
      await noteKeyChange(db, [environment.id, name], { added: [], removed });
    }
  }
  await deleteSegment(db, segment.id);
  await recordObject(work, 'segment', wireSegment(segment), null);
  return true;
}

/** An activation may be repeated. It needs no approval, because an active segment without keys affects no user. */
async function activate(work: Work<'newActivation'>): Promise<WireSegmentInEnvironment> {
  const { db, environment, segment } = work;
  const before = await findActivation(db, environment.id, segment.name);
  if (before !== undefined) return wireActivation(before);
  await insertActivation(db, segment.id, environment.id, work.caller.now);
  const active = written(await findActivation(db, environment.id, segment.name));
  return recordObject(work, 'segment', null, wireActivation(active), 'activate');
}

async function deactivate(work: Work<'activation'>): Promise<true> {
  const { db, workspace, environment, activation } = work;
  const { name, key_count: count } = activation;
  if (count > 0) {
    throw conflict(`Segment ${name} has ${count} keys in ${environment.name}: remove them first`);
  }
  const place = { workspaceId: workspace.id, environmentId: environment.id };
  await checkUnused(db, { kind: 'segment', name, ...place });
  await deleteActivation(db, activation.activation_id);
  await recordObject(work, 'segment', wireActivation(activation), null, 'deactivate');
  return true;
}
