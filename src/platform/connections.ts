import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf, parseAddress } from './addresses.ts';
import { type Closed, createConnectionGroups, type Member, type Reason } from './connection-groups.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { OpenFiles } from './open-files.ts';

export interface ConnectionOptions {
  /** The server's name in metrics and logs. */
  door: 'api' | 'metrics';
  /** Maximum number of open connections. */
  most: number;
  /**
   * Whether one address (in IPv6 one /64) may hold at most half of them. Off behind a proxy, whose address all clients
   * share.
   */
  perAddress: boolean;
  /** Bytes that may be buffered for clients that send or read too slowly. */
  maxBufferedBytes?: number;
  log: Log;
  metrics: Pick<Metrics, 'connectionsClosed' | 'openConnections' | 'onScrape'>;
  files?: OpenFiles | undefined;
}

/** The bounded connections of an HTTP server. */
export interface Connections {
  /** The number of open connections. */
  count(): number;
  /** Marks a connection as busy until the response is over. Call it for each `request` of the server. */
  serve(request: IncomingMessage, response: ServerResponse): void;
  close(): void;
}

interface Connection extends Member {
  socket: Socket;
  /** Requests in progress; more than one if a client pipelines. */
  requests: number;
  request: IncomingMessage | undefined;
  response: ServerResponse | undefined;
  rest(): void;
}

/** Unread replies can fill the memory of a small container within a second. */
const SWEEP_EVERY_MS = 250;
const REPORT_EVERY_MS = 1000;
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;
/** Maximum buffer of one unfinished request body: the largest body of any operation. */
const MAX_BODY_BYTES = 256 * 1024;
/** The fraction of connections closed per sweep while file descriptors run out. */
const SHED_PART = 1 / 16;
/** Connections allowed again per sweep: fewer than the spare descriptors between two checks. */
const REGROW_BY = 2;

function createConnection(socket: Socket): Connection {
  const connection: Connection = {
    socket,
    requests: 0,
    request: undefined,
    response: undefined,
    since: performance.now(),
    closableAs() {
      if (connection.requests === 0) return 'idle';
      return connection.request?.complete === false || connection.response?.writableEnded ? 'slow' : undefined;
    },
    rest() {
      connection.requests--;
      connection.since = performance.now();
      if (connection.requests > 0) return;
      connection.request = undefined; // releases the memory of the last request
      connection.response = undefined;
    },
  };
  return connection;
}

/** Bytes buffered for a client that sends or reads too slowly. */
function bufferedBytes({ socket, request }: Connection): number {
  return socket.writableLength + (request?.complete === false ? Math.min(socket.bytesRead, MAX_BODY_BYTES) : 0);
}

/** Returns the connections to close so that the buffered bytes are within the limit: those blocked longest. */
function findOverBuffered(connections: Iterable<Connection>, maxBytes: number): Connection[] {
  let held = 0;
  const holders: Connection[] = [];
  for (const connection of connections) {
    if (connection.requests === 0) continue;
    const bytes = bufferedBytes(connection);
    held += bytes;
    if (bytes > 0 && connection.closableAs() === 'slow') holders.push(connection);
  }
  const found: Connection[] = [];
  for (const connection of held > maxBytes ? holders.sort((a, b) => a.since - b.since) : []) {
    if (held <= maxBytes) break;
    held -= bufferedBytes(connection);
    found.push(connection);
  }
  return found;
}

/** Counts closed connections, and logs them at most once per second. */
function createCloseReport({ door, log, metrics }: Pick<ConnectionOptions, 'door' | 'log' | 'metrics'>) {
  const tally = { idle: 0, slow: 0, new: 0 };
  const reasons = new Set<Reason>();
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    count(reason: Reason, closed: Closed): void {
      metrics.connectionsClosed.inc({ door, reason, closed });
      tally[closed]++;
      reasons.add(reason);
    },
    log(open: number, most: number): void {
      if (reasons.size === 0 || performance.now() - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = performance.now();
      const { idle, slow, new: refused } = tally;
      const fields = { door, reasons: [...reasons], open, most, idle, slow, refused };
      log.warn(fields, 'out of connections: some were closed or refused');
      Object.assign(tally, { idle: 0, slow: 0, new: 0 });
      reasons.clear();
    },
  };
}

/**
 * Bounds the connections of a server. When it is full, a new connection replaces the one that was idle longest, or else
 * the one whose client has blocked the server longest, with an incomplete request or an unread response. A new
 * connection is refused only while the server is working on all others (`connection-groups.ts`).
 *
 * `server.maxConnections` is not used, since it refuses all new connections. A request costs two writes; the search
 * runs only when the server is full.
 */
export function boundConnections(server: Server, options: ConnectionOptions): Connections {
  const { door, most, perAddress, metrics, files, maxBufferedBytes = MAX_BUFFERED_BYTES } = options;
  const known = new WeakMap<Socket, Connection>();
  const report = createCloseReport(options);
  const mostPerAddress = perAddress ? Math.ceil(most / 2) : undefined;
  const groups = createConnectionGroups<Connection>(
    { most, mostPerAddress, now: () => performance.now() },
    ({ member, reason, closed }) => {
      report.count(reason, closed);
      member.socket.destroy();
    },
  );

  const enter = (socket: Socket) => {
    const connection = createConnection(socket);
    const refusal = groups.enter(connection, perAddress ? networkOf(parseAddress(socket.remoteAddress ?? '')) : '');
    if (refusal) {
      report.count(refusal, 'new');
      socket.destroy();
      return;
    }
    known.set(socket, connection);
    socket.once('close', () => groups.leave(connection));
  };

  const boundMemory = () => {
    for (const connection of findOverBuffered(groups.members(), maxBufferedBytes)) {
      report.count('memory', 'slow');
      groups.leave(connection);
      connection.socket.destroy();
    }
  };

  /** Releases file descriptors while they run out, and then slowly raises the limit again. */
  const boundFiles = () => {
    if (!files?.areExhausted()) return groups.setMost(Math.min(most, groups.most() + REGROW_BY));
    groups.setMost(Math.max(1, Math.floor(groups.size() * (1 - SHED_PART))));
    groups.evictExcess();
  };

  const sweep = setInterval(() => {
    boundFiles();
    boundMemory();
    report.log(groups.size(), groups.most());
  }, SWEEP_EVERY_MS);
  sweep.unref();
  metrics.onScrape(async () => metrics.openConnections.set({ door }, groups.size()));
  server.on('connection', enter);
  return {
    count: () => groups.size(),
    serve(request, response) {
      const connection = known.get(request.socket);
      if (!connection) return;
      connection.requests++;
      connection.since = performance.now();
      connection.request = request;
      connection.response = response;
      response.on('close', connection.rest);
    },
    close: () => clearInterval(sweep),
  };
}
