import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FlagkeelError, messageOf } from '../errors.js';

interface HttpApp {
  readonly server: Server;
  listen(at: { readonly port: number; readonly host: string }): Promise<unknown>;
  close(): Promise<unknown>;
}

/** Port 0 picks a free one. @returns `http://HOST:PORT` @throws FlagkeelError `IN_USE`, `USAGE` */
export async function listenOn(app: HttpApp, host: string, port: number): Promise<string> {
  try {
    await app.listen({ port, host });
  } catch (cause) {
    await app.close();
    const message = `cannot listen on ${host}:${port}: ${messageOf(cause)}`;
    const { code } = cause as NodeJS.ErrnoException;
    throw new FlagkeelError(code === 'EADDRINUSE' ? 'IN_USE' : 'USAGE', message, { cause });
  }
  const bound = app.server.address() as AddressInfo;
  const name = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  return `http://${name}:${bound.port}`;
}

/**
 * Closes the server after answering open requests for at most `withinMs`. Without the limit, a client with a busy or
 * spare connection, as browsers open them, could keep the server from closing.
 */
export async function closeApp(app: HttpApp, withinMs: number): Promise<void> {
  const timer = setTimeout(() => {
    app.server.closeAllConnections();
  }, withinMs);
  await app.close().finally(() => {
    clearTimeout(timer);
  });
}
