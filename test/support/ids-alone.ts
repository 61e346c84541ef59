import type { RequestListener } from 'node:http';

const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
const DEFINITION = /^\/internal\/api\/v2\/splits\/ws\/[^/]+\/([^/]+)\/environments\/[^/]+$/;

/** Name of the flag whose definition is asked for by that name; undefined: nothing of the kind is asked for. */
export function definitionAskedByName({
  method,
  url = '',
}: {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}): string | undefined {
  const [path = ''] = url.split('?');
  const flag = method === 'GET' ? DEFINITION.exec(path)?.[1] : undefined;
  return flag === undefined || ID.test(flag) ? undefined : flag;
}

/** The service as one that finds definitions by the id of their flag alone. */
export function withIdsAlone(next: RequestListener): RequestListener {
  return (request, response) => {
    const flag = definitionAskedByName(request);
    if (flag === undefined) {
      next(request, response);
      return;
    }
    const message = `Could not find splitmetadata ${flag}`;
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ code: 404, message, details: '', transactionId: null }));
  };
}
