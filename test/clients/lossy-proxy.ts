import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Hop-by-hop headers. */
const OF_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host'];

const passedOn = (headers: Iterable<[string, unknown]>): Record<string, string> =>
  Object.fromEntries(
    [...headers].filter(([name]) => !OF_CONNECTION.includes(name)).map(([name, value]) => [name, String(value)]),
  );

export interface LossyProxy extends AsyncDisposable {
  url: string;
  /** The number of lost replies. */
  lost(): number;
}

/** A proxy that drops a share of the replies, each after the server has handled the request. */
export async function createLossyProxy(target: string, share: number): Promise<LossyProxy> {
  let lost = 0;
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const hasBody = !['GET', 'HEAD'].includes(request.method ?? '');
    const reply = await fetch(`${target}${request.url}`, {
      method: request.method ?? 'GET',
      headers: passedOn(Object.entries(request.headers)),
      redirect: 'manual',
      ...(hasBody ? { body: await buffer(request) } : {}),
    });
    const body = Buffer.from(await reply.arrayBuffer());
    if (Math.random() < share) {
      lost++;
      request.socket.destroy();
    } else response.writeHead(reply.status, passedOn(reply.headers)).end(body);
  }
  const server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy()); // the client was killed, or the server has ended
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lost: () => lost,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
