import type { WirePage } from '../../api/wire.js';
import type { ApiRequest, Endpoint } from '../endpoint.js';
import { checkMayChangeWorkspace, workspaceAt } from '../places.js';
import { PAGE_SIZES, pageFrom } from '../rules/paging.js';
import { listAudit, type AuditEntry, type AuditFilter } from '../store/audit.js';
import type { Db } from '../store/tables.js';

export const AUDIT_ENDPOINTS: readonly Endpoint[] = [
  {
    methods: ['GET'],
    path: '/auditLog/ws/:ws',
    inContract: false,
    summary: 'List the changes that were made, the newest first',
    read: readAudit,
  },
];

async function readAudit(db: Db, request: ApiRequest): Promise<WirePage<AuditEntry>> {
  const workspace = await workspaceAt(db, request);
  checkMayChangeWorkspace(request);
  const page = pageFrom(request.query, PAGE_SIZES.keys);
  const { entries, totalCount } = await listAudit(db, filterFrom(workspace.id, request), page);
  return { objects: entries, ...page, totalCount };
}

/** `object` is `KIND/NAME`, or a name alone. */
function filterFrom(workspaceId: string, { query }: ApiRequest): AuditFilter {
  const { object, environment } = query;
  const [first, rest] = typeof object === 'string' ? splitOnce(object) : [];
  return {
    workspaceId,
    ...(typeof environment === 'string' && environment !== '' ? { environment } : {}),
    ...(first === undefined || rest === undefined ? {} : { kind: first }),
    ...(first === undefined || first === '' ? {} : { name: rest ?? first }),
  };
}

function splitOnce(text: string): [string, string?] {
  const slash = text.indexOf('/');
  return slash === -1 ? [text] : [text.slice(0, slash), text.slice(slash + 1)];
}
