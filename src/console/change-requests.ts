import { isDeepStrictEqual } from 'node:util';
import { ownMember } from '../model/collections.js';
import type { Definition } from '../model/flag/flag.js';
import { definitionFromWire } from '../model/flag/wire.js';
import type { FieldChange } from '../model/plan.js';
import { pointerOf } from '../model/json.js';
import { keyDifference, keyList } from '../model/segment-keys.js';
import { html, type Html } from '../platform/html.js';
import { foldedHtml } from '../report/html/parts.js';
import { keysText } from '../report/values.js';
import { clean } from '../report/sanitize.js';
import { span, type FieldLine } from '../report/text/layout.js';
import { fieldLines, wholeLines } from '../report/view/field.js';
import { find } from '../service/http/place.js';
import { notFound, Problem } from '../service/http/problem.js';
import type { DefinitionContent } from '../service/rules/definition.js';
import {
  listChangeRequests,
  wireChangeRequest,
  type StoredChangeRequest,
} from '../service/store/change-requests.js';
import { findDefinition } from '../service/store/definitions.js';
import { findFlag } from '../service/store/flags.js';
import { allKeys } from '../service/store/keys.js';
import { findActivation } from '../service/store/segments.js';
import type { ChangeRequestOperation, Db } from '../service/store/tables.js';
import { listRolloutStatuses } from '../service/store/workspaces.js';
import { checkMayDecide, type DecisionName } from '../service/routes/decisions.js';
import {
  consolePage,
  linesOfText,
  linkTo,
  pager,
  timeText,
  wordsOf,
  numberGiven,
  hiddenFields,
  type Visit,
} from './layout.js';

const STATUSES: Readonly<Record<string, string>> = {
  REQUESTED: 'waits for a decision',
  PUBLISHED: 'approved and made',
  REJECTED: 'rejected',
  WITHDRAWN: 'withdrawn',
};

const WORDS: Readonly<Record<string, string>> = {
  'flag CREATE': 'Create the definition of',
  'flag UPDATE': 'Change',
  'flag KILL': 'Kill',
  'flag RESTORE': 'Restore',
  'flag ARCHIVE': 'Delete the definition of',
  'segment CREATE': 'Add keys to',
  'segment ARCHIVE': 'Remove keys from',
};

function titleOf({ kind, operation, name, environment_name }: StoredChangeRequest): string {
  return `${WORDS[`${kind} ${operation}`] ?? operation} ${clean(name)} in ${clean(environment_name)}`;
}

const REQUESTS_AT_ONCE = 50;

export async function showRequests(visit: Visit): Promise<string> {
  const { db, request, workspace } = visit;
  const ws = workspace.id;
  const before = numberGiven(visit, 'before');
  const { environments } = request.caller.scope;
  const filter = { workspaces: [ws], environments, ...(before > 0 && { before }) };
  const found = await listChangeRequests(db, filter, REQUESTS_AT_ONCE + 1);
  const requests = found.slice(0, REQUESTS_AT_ONCE);
  const older = found.length > REQUESTS_AT_ONCE ? requests.at(-1)?.position : undefined;
  const items = requests.map(
    (each) =>
      html`<li>
        <p>
          <a href="${linkTo('/console/request', { ws, id: each.id })}">${titleOf(each)}</a>
          <span class="soft">${STATUSES[each.status] ?? each.status}</span>
        </p>
        ${factsOf(each)}
      </li>`,
  );
  const list =
    items.length === 0
      ? html`<p>Nothing was asked for.</p>`
      : html`<ol class="log sheet" aria-label="Change requests">
          ${items}
        </ol>`;
  const next = older === undefined ? null : linkTo('/console/requests', { ws, before: older });
  return consolePage(visit, 'Change requests', html`${list} ${pager({ Older: next })}`);
}

function factsOf(request: StoredChangeRequest): Html {
  return html`<p class="soft">
      ${timeText(request.creation_time)} by <bdi>${clean(request.author_name)}</bdi>
    </p>
    ${wordsOf(request)}`;
}

export const DECISIONS = {
  APPROVED: 'Approve and publish',
  REJECTED: 'Reject',
  WITHDRAWN: 'Withdraw',
} as const;

/**
 * With the effect that it would have now. For a decided request it refers to the log, because the object may have
 * changed since.
 */
export async function showRequest(visit: Visit): Promise<string> {
  const { db, workspace } = visit;
  const ws = workspace.id;
  const { changeRequest: request } = await find('changeRequest', db, visit.request);
  if (request.workspace_id !== ws) throw notFound('change request', request.id);
  const { comments, approvers } = wireChangeRequest(request);
  const log = linkTo('/console/log', { ws, object: `${request.kind}/${request.name}` });
  return consolePage(
    visit,
    titleOf(request),
    html`<div class="sheet">
        <p><strong>${STATUSES[request.status] ?? request.status}</strong></p>
        ${factsOf(request)}
        ${approvers.length === 0 ? [] : html`<p>Decided by ${approvers.map(clean).join(', ')} alone.</p>`}
        ${request.status === 'REQUESTED' ? changesPart(await linesOf(db, request)) : []}
        <h2>What was said</h2>
        <ul>
          ${comments.map(
            ({ user, role, timestamp, comment }) =>
              html`<li>
                ${timeText(timestamp)} <bdi>${clean(user)}</bdi>
                <span class="soft">${role === 'SUBMITTER' ? 'for the author' : 'as approver'}</span>
                ${linesOfText(comment ?? '')}
              </li>`,
          )}
        </ul>
        <p><a href="${log}">Log of ${clean(request.name)}</a></p>
      </div>
      ${request.status === 'REQUESTED' ? decisionForm(visit, request) : []}`,
  );
}

function decisionForm(
  { session, workspace, request: { caller } }: Visit,
  request: StoredChangeRequest,
): Html {
  let refusal = '';
  const buttons = Object.entries(DECISIONS).flatMap(([status, words]) => {
    try {
      checkMayDecide(request, caller, status as DecisionName);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refusal = refusal || error.message;
      return [];
    }
    return [html`<button name="status" value="${status}">${words}</button>`];
  });
  if (buttons.length === 0) return html`<p class="soft">${clean(refusal)}</p>`;
  return html`<form method="post" action="/console/decide" class="sheet">
    <h2>Decide</h2>
    ${hiddenFields({ token: session.formToken, ws: workspace.id, id: request.id })}
    <label for="reason">Reason, for the request and the audit log</label>
    <textarea id="reason" name="reason" required maxlength="2000"></textarea>
    <p class="decisions">${buttons}</p>
  </form>`;
}

function changesPart(lines: readonly FieldLine[]): Html {
  const items = lines.map((line) => html`<li>${foldedHtml(line)}</li>`);
  return html`<h2>What it would change</h2>
    ${
      items.length === 0
        ? html`<p>Nothing, as things are now.</p>`
        : html`<ul class="diff">
            ${items}
          </ul>`
    }`;
}

/** The fields of a definition in canonical form, and its members that git does not manage. */
type Fields = Readonly<Record<string, unknown>> & Pick<Definition, 'killed' | 'targets'>;

/** The difference that approving a request would make now, in the words in which git's reviews have it. */
async function linesOf(db: Db, request: StoredChangeRequest): Promise<readonly FieldLine[]> {
  return request.kind === 'segment'
    ? keyLines(db, request)
    : [...(await definitionLines(db, request)), ...(await rolloutStatusLines(db, request))];
}

const CONTEXT = { showKeys: true, inFull: true };

async function keyLines(
  db: Db,
  { environment_id, name, operation, content_json }: StoredChangeRequest,
): Promise<readonly FieldLine[]> {
  const activation = await findActivation(db, environment_id, name);
  const held = new Set(activation && (await allKeys(db, activation.activation_id)));
  const keys = JSON.parse(content_json) as string[];
  const removed = operation === 'ARCHIVE' ? keys.filter((key) => held.has(key)) : [];
  const added = operation === 'ARCHIVE' ? [] : keys.filter((key) => !held.has(key));
  return added.length + removed.length === 0 ? [] : [[span(keysText({ added, removed }, CONTEXT))]];
}

async function definitionLines(
  db: Db,
  { environment_id, name, operation, content_json }: StoredChangeRequest,
): Promise<readonly FieldLine[]> {
  const stored = await findDefinition(db, environment_id, name);
  const before =
    stored &&
    fieldsOf(stored.killed === 1, JSON.parse(stored.body_json) as DefinitionContent['body']);
  const after = AFTER[operation](before, JSON.parse(content_json) as DefinitionContent);
  const fields = changedFields(before, after);
  if (before === undefined) return wholeLines({ fields }, 'after', CONTEXT);
  if (after === undefined) return wholeLines({ fields }, 'before', CONTEXT);
  return fields.flatMap((field) => fieldLines(field, CONTEXT));
}

async function rolloutStatusLines(
  db: Db,
  { workspace_id, name, rollout_status_id }: StoredChangeRequest,
): Promise<readonly FieldLine[]> {
  if (rollout_status_id === null) return [];
  const statuses = await listRolloutStatuses(db, workspace_id);
  const after = statuses.find(({ id }) => id === rollout_status_id)?.name;
  const before = (await findFlag(db, workspace_id, name))?.rollout_status_name;
  if (before === after) return [];
  return fieldLines({ path: '/rolloutStatus', reason: 'commit', before, after }, CONTEXT);
}

const AFTER: Readonly<
  Record<
    ChangeRequestOperation,
    (before: Fields | undefined, wanted: DefinitionContent) => Fields | undefined
  >
> = {
  CREATE: (_, { killed, body }) => fieldsOf(killed, body),
  // A replacement does not change `killed`.
  UPDATE: (before, { body }) => fieldsOf(before?.killed ?? false, body),
  KILL: (before) => ({ ...before, killed: true }),
  RESTORE: (before) => ({ ...before, killed: false }),
  ARCHIVE: () => undefined,
};

function fieldsOf(killed: boolean, body: DefinitionContent['body']): Fields {
  return { ...body, ...definitionFromWire({ ...body, killed }) };
}

function changedFields(before: Fields = {}, after: Fields = {}): FieldChange[] {
  const reason = 'commit';
  const names = new Set([...Object.keys(after), ...Object.keys(before)]);
  names.delete('targets');
  const fields = [...names].map((name): FieldChange => {
    return { path: pointerOf([name]), reason, before: before[name], after: after[name] };
  });
  const [held, wanted] = [before.targets ?? {}, after.targets ?? {}];
  const targets = [...new Set([...Object.keys(wanted), ...Object.keys(held)])].map(
    (name): FieldChange => {
      const keys = ownMember(wanted, name) ?? [];
      const difference = keyDifference(keys, ownMember(held, name) ?? []);
      const { sha256 } = keyList(keys).digest;
      return { path: pointerOf(['targets', name]), reason, keys: { ...difference, sha256 } };
    },
  );
  return [
    ...fields.filter((field) => !isDeepStrictEqual(field.before, field.after)),
    ...targets.filter(({ keys }) => keys && keys.added.length + keys.removed.length > 0),
  ];
}
