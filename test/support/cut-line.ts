import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A line to a server on loopback that can be cut, as if that server were gone, silenced, and mended again. */
export class CutLine {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #isCut = false;
  #isSilent = false;

  private constructor(port: number) {
    this.#server = createServer((socket) => {
      if (this.#isCut) {
        socket.destroy();
        return;
      }
      const onward = connect(port, '127.0.0.1');
      for (const [from, to] of [
        [socket, onward],
        [onward, socket],
      ] as const) {
        const pair = [from, to] as const;
        this.#sockets.add(from);
        this.#pairs.add(pair);
        if (!this.#isSilent) from.pipe(to);
        from.on('error', () => to.destroy());
        from.on('close', () => {
          this.#sockets.delete(from);
          this.#pairs.delete(pair);
          to.destroy();
        });
      }
    });
  }

  /** @param port of the server that it goes to. */
  static async open(port: number): Promise<CutLine> {
    const line = new CutLine(port);
    await new Promise<void>((resolve) => line.#server.listen(0, '127.0.0.1', resolve));
    return line;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends all that is under way, and takes nothing more. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Takes connections and all that is sent, and passes nothing on. */
  silence(): void {
    this.#isSilent = true;
    for (const [from, to] of this.#pairs) from.unpipe(to).pause();
  }

  mend(): void {
    this.#isCut = false;
    this.#isSilent = false;
    for (const [from, to] of this.#pairs) from.unpipe(to).pipe(to);
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
