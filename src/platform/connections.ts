import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

export interface ConnectionOptions {
  /** The server's name in metrics and logs. */
  door: 'api' | 'metrics';
  /** Maximum number of open connections. */
  most: number;
  /** Bytes that may be buffered for clients that send or read too slowly. */
  maxBufferedBytes?: number;
  log: Log;
  metrics: Pick<Metrics, 'connectionsClosed' | 'openConnections' | 'onScrape'>;
}

/** The bounded connections of an HTTP server. */
export interface Connections {
  /** The number of open connections. */
  count(): number;
  /** Marks a connection as busy until the response is over. Call it for each `request` of the server. */
  serve(request: IncomingMessage, response: ServerResponse): void;
  close(): void;
}

interface Connection {
  socket: Socket;
  /** The set of its state. */
  set: Set<Connection>;
  /** Requests in progress; more than one if a client pipelines. */
  requests: number;
  /** The latest request in progress, and its response. */
  request: IncomingMessage | undefined;
  response: ServerResponse | undefined;
}

/** Unread replies can fill the memory of a small container within a second. */
const SWEEP_EVERY_MS = 250;
const REPORT_EVERY_MS = 1000;
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;
/** Maximum buffer of one unfinished request body: the largest body of any operation. */
const MAX_BODY_BYTES = 256 * 1024;
/** Descriptors reserved for stores, listeners, files and probes. PostgreSQL connections are added. */
const RESERVED_FILES = 256;
const MOST_CONNECTIONS = 10_000;

/** Returns the maximum number of file descriptors of this process; undefined where it is unknown (not Linux). */
export function fileLimit(): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return found === undefined ? undefined : Number(found);
  } catch {
    return undefined; // not Linux
  }
}

/**
 * Returns how many client connections fit: 10,000, or as many as leave descriptors for everything else, but at least
 * half.
 */
export function maxConnectionsFor(files: number | undefined, databasePool: number): number {
  if (files === undefined) return MOST_CONNECTIONS;
  const reserved = Math.min(RESERVED_FILES + databasePool, Math.floor(files / 2));
  return Math.max(1, Math.min(MOST_CONNECTIONS, files - reserved));
}

const isComplete = ({ request }: Connection): boolean => request?.complete === true;

/** Returns whether the server has replied and the client has not read it all. */
const isUnread = ({ response }: Connection): boolean => response?.writableEnded === true;

/** Bytes buffered for a client that sends or reads too slowly. */
const bufferedBytes = ({ socket, request }: Connection): number =>
  socket.writableLength + (request?.complete === false ? Math.min(socket.bytesRead, MAX_BODY_BYTES) : 0);

/** Counts closed connections, and logs them at most once per second. */
function createCloseReport({ door, log, metrics }: ConnectionOptions) {
  const tally = { idle: 0, slow: 0, new: 0 };
  const reasons = new Set<string>();
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    count(reason: 'full' | 'memory', closed: keyof typeof tally): void {
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

/** Moves a connection to the end of a set, or out of all sets if it has ended. */
function move(connection: Connection, set: Set<Connection>): void {
  connection.set.delete(connection);
  if (!connection.socket.destroyed) connection.set = set.add(connection);
}

/**
 * The connections by state, each set in the order of the last change: its first has been in the state longest.
 *
 * An incomplete request counts from its beginning. If it counted from its last byte, a stranger who sends one byte in
 * turn on each of many connections would outlast clients that have just connected.
 */
function createSets(most: number) {
  /** Before a request, or from the beginning of one. A complete one is moved when it is the first. */
  const silent = new Set<Connection>();
  /** Between requests. */
  const idle = new Set<Connection>();
  /** During a complete request, until its reply is sent. */
  const busy = new Set<Connection>();
  return {
    silent,
    idle,
    busy,
    count: () => silent.size + idle.size + busy.size,
    /**
     * Returns the connection to close next: the longest silent one while more than half are silent, otherwise the
     * longest idle one, or else one whose client does not read its reply. If silent ones always came first, clients
     * that have just connected would replace each other before their first byte while a stranger holds all others.
     */
    findClosable(): Connection | undefined {
      for (const connection of silent) {
        if (!isComplete(connection)) break;
        move(connection, busy);
      }
      const [longestSilent] = silent;
      const [longestIdle] = idle;
      if (silent.size > most / 2) return longestSilent;
      return longestIdle ?? busy.values().find(isUnread) ?? longestSilent;
    },
  };
}

/**
 * Bounds the connections of a server. When it is full, a new connection replaces one whose client keeps it waiting
 * (see `findClosable`), and is refused only while the server is working on all others.
 *
 * `server.maxConnections` is not used, since it refuses all new connections. `server.closeIdleConnections` leaves those
 * open that have sent no request or half of one.
 */
export function boundConnections(server: Server, options: ConnectionOptions): Connections {
  const { door, most, metrics, maxBufferedBytes = MAX_BUFFERED_BYTES } = options;
  const known = new WeakMap<Socket, Connection>();
  const report = createCloseReport(options);
  const { silent, idle, busy, count, findClosable } = createSets(most);

  const close = (connection: Connection, reason: 'full' | 'memory') => {
    report.count(reason, connection.requests === 0 ? 'idle' : 'slow');
    connection.set.delete(connection);
    connection.socket.destroy();
  };

  const enter = (socket: Socket) => {
    const closable = count() < most ? undefined : findClosable();
    if (closable) close(closable, 'full');
    if (count() >= most) {
      report.count('full', 'new');
      socket.destroy();
      return;
    }
    const connection = { socket, set: silent, requests: 0, request: undefined, response: undefined };
    silent.add(connection);
    known.set(socket, connection);
    socket.once('close', () => connection.set.delete(connection));
  };

  /** Closes incomplete requests and unread replies, longest first, while they hold too much memory. */
  const boundMemory = () => {
    const connections = [...busy, ...silent];
    let held = connections.reduce((sum, connection) => sum + bufferedBytes(connection), 0);
    for (const connection of connections) {
      if (held <= maxBufferedBytes) return;
      const bytes = bufferedBytes(connection);
      if (bytes === 0 || (isComplete(connection) && !isUnread(connection))) continue;
      held -= bytes;
      close(connection, 'memory');
    }
  };

  const sweep = setInterval(() => {
    boundMemory();
    report.log(count(), most);
  }, SWEEP_EVERY_MS);
  sweep.unref();
  metrics.onScrape(async () => metrics.openConnections.set({ door }, count()));
  server.on('connection', enter);
  return {
    count,
    serve(request, response) {
      const connection = known.get(request.socket);
      if (!connection) return;
      connection.requests++;
      connection.request = request;
      connection.response = response;
      move(connection, silent); // Node reports a request before it has parsed the body
      response.on('close', () => {
        connection.requests--;
        if (connection.requests > 0) return;
        connection.request = undefined; // releases the memory of the last request
        connection.response = undefined;
        move(connection, idle);
      });
    },
    close: () => clearInterval(sweep),
  };
}
