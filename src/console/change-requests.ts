import { html, type Html } from '../platform/html.js';
import { clean } from '../report/sanitize.js';
import { plural } from '../report/values.js';
import { differenceLines } from '../service/change-text.js';
import {
  definitionDifference,
  differenceOf,
  keysDifference,
  type KeysChange,
  type MemberChange,
} from '../service/rules/difference.js';
import type { DefinitionContent } from '../service/rules/definition.js';
import { wireChangeRequest, type StoredChangeRequest } from '../service/store/change-requests.js';
import type { StoredDefinition } from '../service/store/definitions.js';
import type { ChangeRequestKind, ChangeRequestOperation } from '../service/store/tables.js';
import { consolePage, linkTo, pager, type Place } from './layout.js';

/** Status → its words for people. */
const STATUSES: Readonly<Record<string, string>> = {
  REQUESTED: 'waits for a decision',
  PUBLISHED: 'approved and made',
  REJECTED: 'rejected',
  WITHDRAWN: 'withdrawn',
};

/** The requested change in words, by kind and operation. */
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

/** Change requests, the newest first. @param older position of the last one shown; null if it has none before it. */
export function requestsPage(
  place: Place,
  requests: readonly StoredChangeRequest[],
  older: number | null,
): string {
  const ws = place.workspace.id;
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
  const next = older === null ? null : linkTo('/console/requests', { ws, before: older });
  return consolePage(place, 'Change requests', html`${list} ${pager({ Older: next })}`);
}

/** Time, author, title and comment of a request. */
function factsOf(request: StoredChangeRequest): Html {
  const words = [request.title, request.comment].filter((text) => text !== null).join(': ');
  return html`<p class="soft">
      ${timeOf(request.creation_time)} by <bdi>${clean(request.author_name)}</bdi>
    </p>
    ${words === '' ? [] : html`<p>${clean(words)}</p>`}`;
}

function timeOf(milliseconds: number): Html {
  const time = new Date(milliseconds).toISOString();
  return html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/**
 * One change request, with the effect that it would have now. For a decided request it refers to the log, because the
 * object may have changed since.
 *
 * @param stored the current definition of the flag, for a request about a flag.
 */
export function requestPage(
  place: Place,
  request: StoredChangeRequest,
  stored: StoredDefinition | undefined,
): string {
  const ws = place.workspace.id;
  const { comments, approvers } = wireChangeRequest(request);
  const log = linkTo('/console/log', { ws, object: `${request.kind}/${request.name}` });
  return consolePage(
    place,
    titleOf(request),
    html`<div class="sheet">
      <p><strong>${STATUSES[request.status] ?? request.status}</strong></p>
      ${factsOf(request)}
      ${approvers.length === 0 ? [] : html`<p>Decided by ${approvers.map(clean).join(', ')} alone.</p>`}
      ${request.status === 'REQUESTED' ? changesPart(request, stored) : []}
      <h2>What was said</h2>
      <ul>
        ${comments.map(
          ({ user, role, timestamp, comment }) =>
            html`<li>
              ${timeOf(timestamp)} <bdi>${clean(user)}</bdi>
              <span class="soft">${role === 'SUBMITTER' ? 'for the author' : 'as approver'}</span>
              ${clean(comment ?? '')}
            </li>`,
        )}
      </ul>
      <p><a href="${log}">Log of ${clean(request.name)}</a></p>
    </div>`,
  );
}

function changesPart(request: StoredChangeRequest, stored: StoredDefinition | undefined): Html {
  const lines = differenceLines(CHANGES[request.kind](request, stored));
  return html`<h2>What it would change</h2>
    <p class="soft">${plural(lines.length, 'difference')}</p>
    <ul class="diff">
      ${lines.map((line) => html`<li>${clean(line)}</li>`)}
    </ul>`;
}

type Differences = readonly (MemberChange | KeysChange)[];

/**
 * The difference that approving a request would make now, by the kind of its object. @param stored the current
 * definition of the flag.
 */
const CHANGES: Readonly<
  Record<
    ChangeRequestKind,
    (request: StoredChangeRequest, stored: StoredDefinition | undefined) => Differences
  >
> = {
  flag: ({ operation, content_json }, stored) =>
    FLAG_CHANGES[operation](
      stored === undefined ? null : contentOf(stored),
      JSON.parse(content_json) as DefinitionContent,
    ),
  segment: ({ operation, content_json }) => {
    const keys = JSON.parse(content_json) as string[];
    return [operation === 'ARCHIVE' ? keysDifference([], keys) : keysDifference(keys, [])];
  },
};

/** The members of a definition that a client may set. */
type Content = { readonly killed: boolean } & DefinitionContent['body'];

function contentOf({ killed, body_json }: StoredDefinition): Content {
  return contentWith(JSON.parse(body_json) as DefinitionContent['body'], killed === 1);
}

function contentWith(body: DefinitionContent['body'], killed: boolean): Content {
  return { ...body, killed };
}

const killing =
  (killed: boolean) =>
  (before: Content | null): readonly MemberChange[] =>
    differenceOf({ killed: before?.killed ?? !killed }, { killed });

const FLAG_CHANGES: Readonly<
  Record<ChangeRequestOperation, (before: Content | null, wanted: DefinitionContent) => Differences>
> = {
  CREATE: (before, { killed, body }) => definitionDifference(before, contentWith(body, killed)),
  // A replacement does not change `killed`.
  UPDATE: (before, { body }) =>
    definitionDifference(before, contentWith(body, before?.killed ?? false)),
  KILL: killing(true),
  RESTORE: killing(false),
  ARCHIVE: (before) => definitionDifference(before, null),
};
