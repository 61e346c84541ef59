import { request as send, type IncomingMessage, type ServerResponse } from 'node:http';

/** An answer as a service gave it. */
export interface HeldAnswer {
  readonly status: number;
  readonly text: string;
}

/** Holds an answer until it is whole. @param tell sends it, or another one; its headers but the length are set. */
export function holdAnswer(response: ServerResponse, tell: (answer: HeldAnswer) => void): void {
  const sending = {
    writeHead: response.writeHead.bind(response),
    write: response.write.bind(response),
    end: response.end.bind(response),
  };
  const chunks: Buffer[] = [];
  const keep = (chunk: unknown): void => {
    if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) chunks.push(Buffer.from(chunk));
  };
  Object.assign(response, {
    writeHead: (status: number, ...rest: unknown[]) => {
      response.statusCode = status;
      const headers = rest.find((each) => typeof each === 'object' && each !== null) ?? {};
      for (const [name, value] of Object.entries(headers)) {
        response.setHeader(name, value as string);
      }
      return response;
    },
    write: (chunk: unknown) => {
      keep(chunk);
      return true;
    },
    end: (chunk: unknown) => {
      keep(chunk);
      Object.assign(response, sending);
      response.removeHeader('content-length');
      tell({ status: response.statusCode, text: Buffer.concat(chunks).toString() });
      return response;
    },
  });
}

/** Sends what `change` makes of the text of an answer. */
export function changeAnswer(response: ServerResponse, change: (text: string) => string): void {
  holdAnswer(response, ({ text }) => response.end(change(text)));
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Refuses in the form of the service. */
export function refuse(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, { code: status, message, details: '', transactionId: null });
}

/** Sends a request on to another server, and its answer back. @param told the status of that answer. */
export function passOn(
  origin: string,
  request: IncomingMessage,
  response: ServerResponse,
  told: (status: number) => void = () => undefined,
): void {
  const { method, headers, url = '/' } = request;
  const onward = send(new URL(url, origin), { method, headers }, (answer) => {
    const { statusCode: status = 502 } = answer;
    told(status);
    response.writeHead(status, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  request.pipe(onward);
}
