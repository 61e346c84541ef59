import type { RequestListener, ServerResponse } from 'node:http';

/** A service that shows no seeds, like the vendor's, so that plans say the same whatever seeds it drew. */
export function withoutSeeds(next: RequestListener): RequestListener {
  return (request, response) => {
    changeAnswer(response, (text) => text.replace(/,"seed":\d+,"trafficAllocationSeed":\d+/g, ''));
    next(request, response);
  };
}

/** Holds an answer until it is whole, and sends what `change` makes of its text. */
export function changeAnswer(response: ServerResponse, change: (text: string) => string): void {
  const chunks: Buffer[] = [];
  const writeHead = response.writeHead.bind(response);
  const end = response.end.bind(response);
  let head: (() => void) | undefined;
  const heldHead = (status: number, ...rest: unknown[]): ServerResponse => {
    const headers = rest.find((each) => typeof each === 'object' && each !== null);
    head = () => {
      for (const [name, value] of Object.entries((headers ?? {}) as Record<string, string>)) {
        response.setHeader(name, value);
      }
      response.removeHeader('content-length');
      writeHead(status);
    };
    return response;
  };
  const heldEnd = (chunk?: unknown): ServerResponse => {
    if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) chunks.push(Buffer.from(chunk));
    const text = Buffer.concat(chunks).toString();
    head?.();
    if (head === undefined) response.removeHeader('content-length');
    return end(change(text));
  };
  Object.assign(response, { writeHead: heldHead, end: heldEnd });
}
