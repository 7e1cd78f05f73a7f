import { createServer, type Socket } from 'node:net';

const ACCEPTED = 'HTTP/1.1 204 No Content\r\n\r\n';
const END_OF_HEAD = '\r\n\r\n';

/** A receiver of webhooks on 127.0.0.1 that accepts everything or never replies, at less cost than an HTTP server. */
export interface Receiver extends AsyncDisposable {
  url: string;
  /** Number of requests so far. */
  count(): number;
  /** Sets the function called at each request. */
  onRequest(call: () => void): void;
}

export async function openReceiver({ replies = true } = {}): Promise<Receiver> {
  let count = 0;
  let call = (): void => undefined;
  const sockets = new Set<Socket>();
  const serve = (socket: Socket): void => {
    let text = '';
    sockets.add(socket);
    socket.setEncoding('latin1').setNoDelay();
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.on('data', chunk => {
      text += chunk;
      const head = text.indexOf(END_OF_HEAD);
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
      if (text.length < head + END_OF_HEAD.length + length) return;
      text = '';
      count++;
      call();
      if (replies) socket.write(ACCEPTED);
    });
  };
  const server = createServer(serve);
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/hook`,
    count: () => count,
    onRequest: next => {
      call = next;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise(closed => server.close(closed));
    },
  };
}
