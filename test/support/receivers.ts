import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from './wait.ts';

/** A request that a receiver got. */
export interface Received {
  id: string;
  headers: IncomingHttpHeaders;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read parts of any event
  event: any;
}

/** How a receiver reacts to a request. */
export type Reaction = (received: Received, response: ServerResponse, request: IncomingMessage) => void;

export interface Receiver extends AsyncDisposable {
  url: string;
  /** Every request so far. */
  requests: Received[];
  /** The events that were accepted, by their `webhook-id`. */
  accepted: Map<string, Received>;
  /** Sets how it reacts from now on; by default it accepts. */
  react(reaction: Reaction): void;
  /** Waits until it has accepted this number of events. */
  waitForEvents(count: number): Promise<void>;
  /** Closes its port and all connections. */
  stop(): Promise<void>;
  /** Listens on the same port again. */
  restart(): Promise<void>;
}

export const accept: Reaction = (_, response) => {
  response.writeHead(204).end();
};

export const refuse =
  (status: number, headers: Record<string, string> = {}, body = ''): Reaction =>
  (_, response) => {
    response.writeHead(status, headers).end(body);
  };

/** Never replies. */
export const hang: Reaction = () => undefined;

/** Closes the connection without a reply. */
export const reset: Reaction = (_, __, request) => {
  request.socket.resetAndDestroy();
};

/** Replies with bytes that are not HTTP. */
export const sendGarbage: Reaction = (_, __, request) => {
  request.socket.end('\u0000\u0001 not HTTP\r\n\r\n');
};

/** Accepts with 10 MB. */
export const sendMuch: Reaction = (_, response) => {
  response
    .on('error', () => undefined)
    .writeHead(200)
    .end(Buffer.alloc(10_000_000, 'x'));
};

/** Starts a receiver of webhooks on 127.0.0.1. */
export async function createReceiver(): Promise<Receiver> {
  const requests: Received[] = [];
  const accepted = new Map<string, Received>();
  let reaction = accept;
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray().catch(() => [])).toString();
    if (body === '') return; // the sender was killed
    const id = String(request.headers['webhook-id']);
    const received = { id, headers: request.headers, body, event: JSON.parse(body) };
    requests.push(received);
    response.on('close', () => {
      if (response.headersSent && response.statusCode < 300) accepted.set(id, received);
    });
    reaction(received, response, request);
  });
  const listen = (port: number) => new Promise<void>(listening => server.listen(port, '127.0.0.1', listening));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise(closed => server.close(closed));
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    requests,
    accepted,
    react(next) {
      reaction = next;
    },
    waitForEvents: async count => {
      await waitFor(() => accepted.size >= count);
    },
    stop,
    restart: () => listen(port),
    async [Symbol.asyncDispose]() {
      if (server.listening) await stop();
    },
  };
}
