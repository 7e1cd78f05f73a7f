import { connect, createServer, type Socket } from 'node:net';

export interface TestProxy extends AsyncDisposable {
  /** The address of the store as reached through the proxy. */
  through(url: string): string;
  /** Passes nothing on any more, in either direction, and closes nothing: a network that swallows packets. */
  freeze(): void;
  /** Passes everything on again, what was held back first. */
  thaw(): void;
  /** Breaks every connection and refuses new ones. */
  cut(): void;
  /** Takes connections again. */
  mend(): void;
}

/** A TCP proxy in front of a store, with which its network fails on demand. */
export async function createProxy(target: string): Promise<TestProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let frozen = false;
  let refusing = false;
  const server = createServer(client => {
    if (refusing) return void client.resetAndDestroy();
    const store = connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, store],
      [store, client],
    ] as const) {
      sockets.add(socket);
      socket.on('data', chunk => other.write(chunk));
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      if (frozen) socket.pause();
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const listening = (server.address() as { port: number }).port;
  const cut = () => {
    refusing = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    through(url) {
      const proxied = new URL(url);
      proxied.hostname = '127.0.0.1';
      proxied.port = String(listening);
      return proxied.href;
    },
    freeze() {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      frozen = false;
      for (const socket of sockets) socket.resume();
    },
    cut,
    mend() {
      refusing = false;
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
