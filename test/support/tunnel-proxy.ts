import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listen } from './loopback.js';

/** A proxy that knows CONNECT alone, and leads every name to one port of this machine: no test has a network. */
export interface TunnelProxy {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** `HOST:PORT` of each CONNECT, in the order in which they came. */
  readonly asked: readonly string[];
  /** Value of `proxy-authorization` of each. */
  readonly credentials: readonly (string | undefined)[];
  readonly close: () => Promise<void>;
}

interface TunnelProxyOptions {
  /** Where all tunnels end. */
  readonly port: number;
  /** Status with which each CONNECT is refused. Default: none is. */
  readonly refuses?: number;
}

export async function startTunnelProxy({
  port,
  refuses,
}: TunnelProxyOptions): Promise<TunnelProxy> {
  const asked: string[] = [];
  const credentials: (string | undefined)[] = [];
  const open = new Set<Socket>();
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
  };
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connection', keep);
  server.on('connect', (request, client: Socket) => {
    asked.push(request.url ?? '');
    credentials.push(request.headers['proxy-authorization']);
    if (refuses !== undefined) {
      client.end(`HTTP/1.1 ${refuses} Refused\r\n\r\n`);
      return;
    }
    const target = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    keep(target);
  });
  const { url, close } = await listen(server);
  return {
    ...{ url, asked, credentials },
    close: async () => {
      for (const socket of open) socket.destroy();
      await close();
    },
  };
}

export function portOf(url: string): number {
  return Number(new URL(url).port);
}
