import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createFront, type Socket } from 'node:net';
import { createServer as createWrongServer, TLSSocket } from 'node:tls';
import type { Certificate } from './certificates.ts';
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

/** Receives a new connection, and passes it on with `serve`, or not. */
export type ConnectionReaction = (socket: Socket, serve: () => void) => void;

export interface Receiver extends AsyncDisposable {
  url: string;
  /** Every request so far. */
  requests: Received[];
  /** The events that were accepted, by their `webhook-id`. */
  accepted: Map<string, Received>;
  /** Sets how it reacts from now on; by default it accepts. */
  react(reaction: Reaction): void;
  /** Sets how it reacts to connections from now on; by default it serves them. */
  reactToConnections(reaction: ConnectionReaction): void;
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

/** Replies byte by byte, one a second, without an end. */
export const trickle: Reaction = (_, __, { socket }) => {
  const timer = setInterval(() => socket.write('H'), 1000);
  socket.on('close', () => clearInterval(timer)).write('HTTP/1.1 200 OK\r\n');
};

/** Closes the connection without a reply. */
export const reset: Reaction = (_, __, { socket }) => {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
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

/** Closes the connection within the handshake. */
export const leaveHandshake: ConnectionReaction = socket => {
  socket.once('data', () => socket.destroy());
};

/** Replies to the handshake with bytes that are not TLS. */
export const breakHandshake: ConnectionReaction = socket => {
  socket.once('data', () => socket.end('not TLS'));
};

/** Shows another certificate. */
export const showCertificate =
  (certificate: Certificate): ConnectionReaction =>
  socket => {
    const server = createWrongServer({ key: certificate.key, cert: certificate.cert });
    server.on('tlsClientError', () => undefined).emit('connection', socket);
  };

const serveConnection: ConnectionReaction = (_, serve) => serve();

/** Starts a receiver of webhooks on 127.0.0.1, by HTTPS with a certificate. */
export async function createReceiver(certificate?: Certificate): Promise<Receiver> {
  const requests: Received[] = [];
  const accepted = new Map<string, Received>();
  let reaction = accept;
  let connectionReaction = serveConnection;
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray().catch(() => [])).toString();
    if (body === '') return; // the sender was killed
    const id = String(request.headers['webhook-id']);
    const received = { id, headers: request.headers, body, event: JSON.parse(body) };
    requests.push(received);
    response.on('close', () => {
      if (response.headersSent && response.statusCode < 300) accepted.set(id, received);
    });
    reaction(received, response, request);
  };
  const server = certificate
    ? createTlsServer({ key: certificate.key, cert: certificate.cert }, receive)
    : createServer(receive);
  const sockets = new Set<Socket>();
  const front = createFront(socket => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    connectionReaction(socket, () => server.emit('connection', socket));
  });
  const listen = (port: number) => new Promise<void>(listening => front.listen(port, '127.0.0.1', listening));
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise(closed => front.close(closed));
  };
  await listen(0);
  const { port } = front.address() as AddressInfo;
  return {
    url: `${certificate ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    requests,
    accepted,
    react(next) {
      reaction = next;
    },
    reactToConnections(next) {
      connectionReaction = next;
    },
    waitForEvents: async count => {
      await waitFor(() => accepted.size >= count);
    },
    stop,
    restart: () => listen(port),
    async [Symbol.asyncDispose]() {
      if (front.listening) await stop();
    },
  };
}
