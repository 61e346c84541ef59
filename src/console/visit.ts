import type { ApiRequest } from '../service/http/endpoint.js';
import { isVisible, workspaceAt } from '../service/http/path-lookup.js';
import { notFound } from '../service/http/problem.js';
import type { Db, EnvironmentRow } from '../service/store/tables.js';
import { listEnvironments, listWorkspaces } from '../service/store/workspaces.js';
import type { Place } from './layout.js';
import type { Session } from './sign-in.js';

/** Parameters of the address or of a form. If a name occurs twice, the first value counts. */
export type Given = URLSearchParams;

/** One request for a page, which reads one consistent state of the store. */
export interface Visit extends Place {
  readonly db: Db;
  readonly given: Given;
  /** The request in the form that the rules of the service check. */
  readonly request: ApiRequest;
}

/** In the workspace of the address, or the first that the key sees. */
export async function visitOf(
  db: Db,
  session: Session,
  given: Given,
  { request, page }: Pick<Visit, 'request' | 'page'>,
): Promise<Visit> {
  const workspaces = await listWorkspaces(db, request.caller.scope.workspaces);
  const [first] = workspaces;
  if (first === undefined) throw notFound('workspace', 'of this key');
  const workspace = given.get('ws') ? await workspaceAt(db, request) : first;
  return { db, session, given, request, page, workspaces, workspace };
}

/** The environments that the key sees: production first, and of the others the newest. */
export async function environmentsOf({
  db,
  request,
  workspace,
}: Visit): Promise<readonly EnvironmentRow[]> {
  const { environments } = request.caller.scope;
  return (await listEnvironments(db, workspace.id))
    .filter(({ id }) => isVisible(environments, id))
    .toReversed()
    .toSorted((a, b) => b.production - a.production);
}

/** A whole number from 0 on; anything else counts as 0. */
export function numberGiven({ given }: Visit, name: string): number {
  const text = given.get(name) ?? '';
  return /^\d{1,12}$/.test(text) ? Number(text) : 0;
}
