import type { WirePage } from '../../api/wire.js';
import type { ApiRequest, Endpoint } from '../endpoint.js';
import { checkMayChangeWorkspace, checkUnrestricted, workspaceAt } from '../places.js';
import { PAGE_SIZES, pageFrom } from '../rules/paging.js';
import { listAudit, type AuditEntry, type AuditFilter } from '../store/audit.js';
import type { Db } from '../store/tables.js';
import { answerPage } from './answer-schemas.js';
import { AUDIT_QUERY } from './query-schemas.js';

export const AUDIT_ENDPOINTS: readonly Endpoint[] = [
  {
    methods: ['GET'],
    path: '/auditLog/ws/:ws',
    inContract: false,
    summary: 'List the changes that were made, the newest first',
    answer: answerPage('AuditEntry'),
    query: AUDIT_QUERY,
    read: async (db, request) => {
      const workspace = await workspaceAt(db, request);
      checkMayChangeWorkspace(request);
      return readAudit(db, request, { workspaceId: workspace.id });
    },
  },
  {
    methods: ['GET'],
    path: '/auditLog',
    inContract: false,
    summary: 'List the changes that were made anywhere, the newest first',
    answer: answerPage('AuditEntry'),
    query: AUDIT_QUERY,
    read: async (db, request) => {
      checkUnrestricted(request);
      return readAudit(db, request, {});
    },
  },
];

async function readAudit(
  db: Db,
  { query }: ApiRequest,
  filter: AuditFilter,
): Promise<WirePage<AuditEntry>> {
  const page = pageFrom(query, PAGE_SIZES.keys);
  const { entries, totalCount } = await listAudit(db, { ...filter, ...filterFrom(query) }, page);
  return { objects: entries, ...page, totalCount };
}

/** `object` is `KIND/NAME`, or a name alone. */
function filterFrom({ object, environment }: ApiRequest['query']): AuditFilter {
  const [first, rest] = typeof object === 'string' ? splitOnce(object) : [];
  return {
    ...(typeof environment === 'string' && environment !== '' ? { environment } : {}),
    ...(first === undefined || rest === undefined ? {} : { kind: first }),
    ...(first === undefined || first === '' ? {} : { name: rest ?? first }),
  };
}

function splitOnce(text: string): [string, string?] {
  const slash = text.indexOf('/');
  return slash === -1 ? [text] : [text.slice(0, slash), text.slice(slash + 1)];
}
