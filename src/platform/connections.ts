import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './addresses.ts';
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

/** Why a connection was closed or refused. */
type Reason = 'full' | 'address-share' | 'memory' | 'open-files';
/** The closed connection: idle, blocked by its client, or new because no other could be closed. */
type Closed = 'idle' | 'slow' | 'new';

interface Connection {
  socket: Socket;
  groups: Group[];
  /** Requests in progress; more than one if a client pipelines. */
  requests: number;
  request: IncomingMessage | undefined;
  response: ServerResponse | undefined;
  /** When its last request started or ended, or it was opened. */
  since: number;
  rest(): void;
}

/** Connections with a common limit: all of them, or those of one address. */
interface Group {
  most: number;
  reason: Reason;
  key: string | undefined;
  members: Set<Connection>;
  /** The connections to close next, in reverse order, as of the last search. */
  candidates: { connection: Connection; since: number }[];
  searchedAt: number;
}

/** Connections found by one search, so that searches are rare while many connections arrive at a full server. */
const CANDIDATES = 512;
/** Pause after a search without result. */
const SEARCH_PAUSE_MS = 100;
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

/** Whether a connection is idle or waits for its client; undefined while the server is working on it. */
function closableAs({ requests, request, response }: Connection): Closed | undefined {
  if (requests === 0) return 'idle';
  return request?.complete === false || response?.writableEnded ? 'slow' : undefined;
}

/** Bytes buffered for a client that sends or reads too slowly. */
function bufferedBytes({ socket, request }: Connection): number {
  return socket.writableLength + (request?.complete === false ? Math.min(socket.bytesRead, MAX_BODY_BYTES) : 0);
}

/**
 * Bounds the connections of a server. When it is full, a new connection replaces the one that was idle longest, or else
 * the one whose client has blocked the server longest, with an incomplete request or an unread response. A new
 * connection is refused only while the server is working on all others.
 *
 * `server.maxConnections` is not used, since it refuses all new connections. A request costs two writes; the search
 * runs only when the server is full.
 */
export function boundConnections(server: Server, options: ConnectionOptions): Connections {
  const { door, perAddress, log, metrics, files, maxBufferedBytes = MAX_BUFFERED_BYTES } = options;
  const known = new WeakMap<Socket, Connection>();
  const byAddress = new Map<string, Group>();
  const tally = { idle: 0, slow: 0, new: 0 };
  const reasons = new Set<Reason>();

  const createGroup = (most: number, reason: Reason, key?: string): Group => ({
    most,
    reason,
    key,
    members: new Set(),
    candidates: [],
    searchedAt: Number.NEGATIVE_INFINITY,
  });
  const all = createGroup(options.most, 'full');

  const count = (reason: Reason, closed: Closed) => {
    metrics.connectionsClosed.inc({ door, reason, closed });
    tally[closed]++;
    reasons.add(reason);
  };

  const leave = (connection: Connection) => {
    for (const group of connection.groups) {
      group.members.delete(connection);
      if (group.key !== undefined && group.members.size === 0) byAddress.delete(group.key);
    }
    connection.groups = [];
  };

  /** Closes an idle or blocked connection. Its slot is free at once. */
  const close = (connection: Connection, reason: Reason, closed: Closed) => {
    count(reason, closed);
    leave(connection);
    connection.socket.destroy();
  };

  const search = (group: Group) => {
    const now = performance.now();
    if (now - group.searchedAt < SEARCH_PAUSE_MS) return;
    const closable = [...group.members].filter(member => closableAs(member) !== undefined);
    const isSlow = (connection: Connection) => (closableAs(connection) === 'slow' ? 1 : 0);
    closable.sort((a, b) => isSlow(a) - isSlow(b) || a.since - b.since);
    group.candidates = closable
      .slice(0, CANDIDATES)
      .map(connection => ({ connection, since: connection.since }))
      .reverse();
    group.searchedAt = closable.length === 0 ? now : Number.NEGATIVE_INFINITY;
  };

  /** Closes the best candidate of a group. False when the server is working on all of them. */
  const closeOne = (group: Group, reason: Reason): boolean => {
    for (const isLast of [false, true]) {
      for (let next = group.candidates.pop(); next; next = group.candidates.pop()) {
        const { connection, since } = next;
        const closed = closableAs(connection);
        if (!closed || connection.since !== since || !group.members.has(connection)) continue;
        close(connection, reason, closed);
        return true;
      }
      if (!isLast) search(group);
    }
    return false;
  };

  const groupsOf = (socket: Socket): Group[] => {
    if (!perAddress) return [all];
    const key = networkOf(socket.remoteAddress ?? '');
    const group = byAddress.get(key) ?? createGroup(Math.ceil(options.most / 2), 'address-share', key);
    return [group, all];
  };

  const enter = (socket: Socket) => {
    const groups = groupsOf(socket);
    for (const group of groups)
      if (group.members.size >= group.most && !closeOne(group, group.reason)) {
        count(group.reason, 'new');
        socket.destroy();
        return;
      }
    const connection: Connection = {
      socket,
      groups,
      requests: 0,
      request: undefined,
      response: undefined,
      since: performance.now(),
      rest() {
        connection.requests--;
        connection.since = performance.now();
        if (connection.requests > 0) return;
        connection.request = undefined; // releases the memory of the last request
        connection.response = undefined;
      },
    };
    known.set(socket, connection);
    for (const group of groups) {
      group.members.add(connection);
      if (group.key !== undefined) byAddress.set(group.key, group);
    }
    socket.once('close', () => leave(connection));
  };

  /** Closes the connections that have blocked the server longest, until the buffered bytes are within the limit. */
  const boundMemory = () => {
    let held = 0;
    const holders: Connection[] = [];
    for (const connection of all.members) {
      if (connection.requests === 0) continue;
      const bytes = bufferedBytes(connection);
      held += bytes;
      if (bytes > 0 && closableAs(connection) === 'slow') holders.push(connection);
    }
    if (held <= maxBufferedBytes) return;
    for (const connection of holders.sort((a, b) => a.since - b.since)) {
      held -= bufferedBytes(connection);
      close(connection, 'memory', 'slow');
      if (held <= maxBufferedBytes) return;
    }
  };

  /** Releases file descriptors while they run out, and then slowly raises the limit again. */
  const boundFiles = () => {
    if (!files?.areExhausted()) {
      all.most = Math.min(options.most, all.most + REGROW_BY);
      return;
    }
    all.most = Math.max(1, Math.floor(all.members.size * (1 - SHED_PART)));
    while (all.members.size > all.most && closeOne(all, 'open-files'));
  };

  let reportedAt = Number.NEGATIVE_INFINITY;
  const report = () => {
    if (reasons.size === 0 || performance.now() - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = performance.now();
    const { idle, slow, new: refused } = tally;
    const fields = { door, reasons: [...reasons], open: all.members.size, most: all.most, idle, slow, refused };
    log.warn(fields, 'out of connections: some were closed or refused');
    Object.assign(tally, { idle: 0, slow: 0, new: 0 });
    reasons.clear();
  };

  const sweep = setInterval(() => {
    boundFiles();
    boundMemory();
    report();
  }, SWEEP_EVERY_MS);
  sweep.unref();
  metrics.onScrape(async () => metrics.openConnections.set({ door }, all.members.size));
  server.on('connection', enter);
  return {
    count: () => all.members.size,
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
