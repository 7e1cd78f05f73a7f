import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './addresses.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { OpenFiles } from './open-files.ts';

export interface ConnectionOptions {
  /** The server's name in metrics and logs. */
  door: 'api' | 'metrics';
  /** The most connections at once. */
  most: number;
  /** Whether one address (of IPv6: one /64) holds at most half of them; not behind a proxy, whose address all share. */
  perAddress: boolean;
  /** How many bytes may be held in memory for clients that do not send the rest, or do not read. */
  mostHeldBytes?: number;
  log: Log;
  metrics: Pick<Metrics, 'connectionsClosed' | 'openConnections' | 'onScrape'>;
  files?: OpenFiles | undefined;
}

/** The connections of an HTTP server, bounded. */
export interface Connections {
  /** How many are open. */
  count(): number;
  /** Enters a request, so that its connection is not idle until the response is over. For each `request` of the server. */
  serve(request: IncomingMessage, response: ServerResponse): void;
  close(): void;
}

/** Why a connection was closed or refused. */
type Reason = 'full' | 'address-share' | 'memory' | 'open-files';
/** What was closed: idle, kept waiting by its client, or new because no other could be closed. */
type Closed = 'idle' | 'slow' | 'new';

interface Connection {
  socket: Socket;
  groups: Group[];
  /** Requests whose responses are not over; more than one where a client pipelines. */
  requests: number;
  request: IncomingMessage | undefined;
  response: ServerResponse | undefined;
  /** When its last request began or ended, or it was opened. */
  since: number;
  rest(): void;
}

/** Connections that share a bound: all of them, or those of one address. */
interface Group {
  most: number;
  reason: Reason;
  key: string | undefined;
  members: Set<Connection>;
  /** Those to be closed next, the first last, as of the last search. */
  candidates: { connection: Connection; since: number }[];
  searchedAt: number;
}

/** How many connections one search finds, so that a search is rare while many arrive at a full server. */
const CANDIDATES = 512;
/** A search that found none is not repeated for so long. */
const SEARCH_PAUSE_MS = 100;
/** Replies that are not read can fill the memory of a small container within a second. */
const SWEEP_EVERY_MS = 250;
const REPORT_EVERY_MS = 1000;
const MOST_HELD_BYTES = 64 * 1024 * 1024;
/** What one unfinished request body may hold: the largest body that any operation takes. */
const MOST_BODY_BYTES = 256 * 1024;
/** While file descriptors run out, each sweep closes this part of the connections. */
const SHED_PART = 1 / 16;
/** How many more each sweep allows afterwards: fewer than are spare from one look at the descriptors to the next. */
const REGROW_BY = 2;

/** Whether a connection has no request, or waits for its client; undefined while the server has to act. */
function closableAs({ requests, request, response }: Connection): Closed | undefined {
  if (requests === 0) return 'idle';
  return request?.complete === false || response?.writableEnded ? 'slow' : undefined;
}

/** Bytes held for a client that does not send the rest of its body, or does not read. */
function heldBytes({ socket, request }: Connection): number {
  return socket.writableLength + (request?.complete === false ? Math.min(socket.bytesRead, MOST_BODY_BYTES) : 0);
}

/**
 * Bounds the connections of a server. When it is full, the connection that was idle longest is closed for a new one; then
 * the one whose client has kept the server waiting longest, with half a request or an unread response. A new connection is
 * refused only while the server is at work on all others.
 *
 * The bound is its own, not `server.maxConnections`, which refuses whoever is new. A request costs two writes; the search
 * for what to close runs only when the server is full.
 */
export function boundConnections(server: Server, options: ConnectionOptions): Connections {
  const { door, perAddress, log, metrics, files, mostHeldBytes = MOST_HELD_BYTES } = options;
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

  /** Closes a connection that its client keeps idle or waiting; its place is free at once. */
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

  /** Closes the connection of a group that can best be spared. False when the server is at work on all of them. */
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
        connection.request = undefined; // an idle connection keeps nothing of its last request in memory
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

  /** Closes the longest waiting of those that hold memory for their clients, until what is held is within its bound. */
  const boundMemory = () => {
    let held = 0;
    const holders: Connection[] = [];
    for (const connection of all.members) {
      if (connection.requests === 0) continue;
      const bytes = heldBytes(connection);
      held += bytes;
      if (bytes > 0 && closableAs(connection) === 'slow') holders.push(connection);
    }
    if (held <= mostHeldBytes) return;
    for (const connection of holders.sort((a, b) => a.since - b.since)) {
      held -= heldBytes(connection);
      close(connection, 'memory', 'slow');
      if (held <= mostHeldBytes) return;
    }
  };

  /** Gives file descriptors back while they run out, and then slowly allows as many connections as before. */
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
    const told = { door, reasons: [...reasons], open: all.members.size, most: all.most, idle, slow, refused };
    log.warn(told, 'out of connections: some were closed or refused');
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
