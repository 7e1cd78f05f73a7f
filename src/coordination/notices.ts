import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { z } from 'zod';
import { createThrottle, type Log } from '../platform/log.ts';
import { SESSION_SETTINGS } from '../platform/postgres-session.ts';
import { openRedis } from '../platform/redis.ts';
import { type DatabaseUrl, directUrlOf, type RedisUrl } from '../platform/store-urls.ts';
import { withTimeout } from '../platform/timeouts.ts';

/** One changed row: table, tenant and id. Sent by database triggers. */
const Notice = z.object({ table: z.string(), tenant_id: z.uuid(), id: z.uuid() });
export type Notice = z.infer<typeof Notice>;

const CHANNEL = 'parley_changes';
/**
 * Carries digests of identities whose card records changed, separated by spaces. There is one per stored answer, too
 * many to relay.
 */
const RECORDS_CHANNEL = 'parley_records';
/**
 * Channel on which processes that receive PostgreSQL's notifications publish a heartbeat after each successful check.
 *
 * Redis pub/sub ignores the database number, so the channel name contains it: it separates installations that share a
 * store.
 */
const heartbeatsChannelOf = (redis: ReturnType<typeof openRedis>): string =>
  `parley_heartbeats_${redis.options.db ?? 0}`;
/** A regular heartbeat, and one sent after a gap: notices may have been missed or not relayed. */
const HEARTBEAT = 'ok';
const HEARTBEAT_AFTER_GAP = 'gap';
const HEARTBEAT_MS = 3000;
const REPLY_TIMEOUT_MS = 2000;

export interface Notices {
  /** Calls `listener` for each change of any process, within milliseconds of its commit. */
  onChange(listener: (notice: Notice) => void): void;
  /** Calls `listener` with the digests of identities whose card records a commit changed. */
  onRecords(listener: (digests: string[]) => void): void;
  /**
   * Whether this process receives PostgreSQL's notifications. Only then is everything that `onRecords` has not named
   * unchanged.
   */
  isListening(): boolean;
  /** Calls `listener` whenever changes may have been missed and cached data must be read again. */
  onGap(listener: () => void): void;
  /**
   * How long, in milliseconds, changes may have gone unnoticed. 0 while this process receives PostgreSQL's
   * notifications. Otherwise the time since it last did, or since the last heartbeat of a process that does.
   *
   * A subscription in Valkey or Redis is no proof: it stays silent when every process has lost PostgreSQL.
   */
  unconfirmedMs(): number;
  close(): Promise<void>;
}

interface Channel {
  /** When the channel was last proven to deliver every change, on the clock of `performance.now`. */
  readonly aliveAt: number;
  close(): Promise<void>;
}

/** The notifications of PostgreSQL itself. */
interface DatabaseChannel extends Channel {
  isAlive(): boolean;
}

/** The relay between processes in Valkey or Redis. */
interface Relay extends Channel {
  /** Relays a notice. */
  publish(text: string): void;
  /** Informs the other processes that this one receives PostgreSQL's notifications. */
  sendHeartbeat(): void;
  /** Marks the next heartbeat: notices from before it may be missing. */
  markGap(): void;
}

/** Listens for changes on PostgreSQL and, where configured, on Valkey or Redis. */
export function openNotices(databaseUrl: DatabaseUrl, redisUrl: RedisUrl | undefined, log: Log): Notices {
  const changeListeners: ((notice: Notice) => void)[] = [];
  const recordListeners: ((digests: string[]) => void)[] = [];
  const gapListeners: (() => void)[] = [];
  const openedAt = performance.now();
  let relayGapAt = Number.NEGATIVE_INFINITY;

  const deliver = (text: string): boolean => {
    const notice = Notice.safeParse(parseJson(text));
    if (!notice.success) return false;
    for (const listener of changeListeners) listener(notice.data);
    return true;
  };
  const reportGap = () => {
    for (const listener of gapListeners) listener();
  };

  // A gap of the relay matters only while PostgreSQL is disconnected, which may be detected some seconds later.
  const relayGap = () => {
    relayGapAt = performance.now();
    if (!database.isAlive()) reportGap();
  };
  const relay = redisUrl ? openRelay(redisUrl, deliver, relayGap, log) : undefined;
  const database = listenToDatabase(
    databaseUrl,
    {
      notified(channel, text) {
        if (channel === CHANNEL && deliver(text)) relay?.publish(text);
        if (channel === RECORDS_CHANNEL) for (const listener of recordListeners) listener(text.split(' '));
      },
      connected() {
        reportGap(); // changes before this moment were missed
        relay?.markGap();
        relay?.sendHeartbeat();
      },
      checked: () => relay?.sendHeartbeat(),
      lost(aliveAt) {
        if (relayGapAt >= aliveAt) reportGap();
      },
    },
    log,
  );

  return {
    onChange: listener => void changeListeners.push(listener),
    onRecords: listener => void recordListeners.push(listener),
    isListening: () => database.isAlive(),
    onGap: listener => void gapListeners.push(listener),
    unconfirmedMs: () =>
      database.isAlive() ? 0 : performance.now() - Math.max(openedAt, database.aliveAt, relay?.aliveAt ?? openedAt),
    close: async () => void (await Promise.all([database.close(), relay?.close()])),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not a notice: rejected by the schema
  }
}

/** Events of the connection on which this process listens. */
interface DatabaseEvents {
  notified(channel: string, text: string): void;
  /** The process is listening from now on. */
  connected(): void;
  /** A query succeeded, so all earlier notifications have been received. */
  checked(): void;
  /** The connection is lost; `aliveAt` is when it was last proven alive. */
  lost(aliveAt: number): void;
}

/**
 * Listens on a dedicated connection. A query checks it every 3 s; when there is no reply, the connection is replaced.
 */
function listenToDatabase(database: DatabaseUrl, events: DatabaseEvents, log: Log): DatabaseChannel {
  const closing = new AbortController();
  const throttle = createThrottle(5000);
  const channel = { aliveAt: Number.NEGATIVE_INFINITY, alive: false };

  const listen = async () => {
    const client = new Client({
      connectionString: directUrlOf(database),
      connectionTimeoutMillis: REPLY_TIMEOUT_MS,
      keepAlive: true,
      application_name: 'parley_notices',
    });
    const failed = new Promise<never>((_, reject) =>
      client.on('error', reject).once('end', () => reject(new Error('the connection was closed'))),
    );
    failed.catch(() => undefined); // reported where it is awaited below
    try {
      await client.connect();
      client.on('notification', message => events.notified(message.channel, message.payload ?? ''));
      await client.query(`${SESSION_SETTINGS}; listen ${CHANNEL}; listen ${RECORDS_CHANNEL}`);
      channel.alive = true;
      channel.aliveAt = performance.now();
      events.connected();
      while (!closing.signal.aborted) {
        await Promise.race([sleep(HEARTBEAT_MS, undefined, { signal: closing.signal }), failed]);
        const sentAt = performance.now();
        await withTimeout(client.query('select 1'), REPLY_TIMEOUT_MS, 'heartbeat');
        channel.aliveAt = sentAt;
        events.checked();
      }
    } finally {
      const wasAlive = channel.alive;
      channel.alive = false;
      if (wasAlive) events.lost(channel.aliveAt);
      void client.end().catch(() => undefined); // a lost connection needs no cleaner close
    }
  };

  const running = (async () => {
    while (!closing.signal.aborted) {
      try {
        await listen();
      } catch (error) {
        if (closing.signal.aborted) return;
        throttle('listen', () =>
          log.warn({ reason: (error as Error).message }, 'lost the PostgreSQL connection for change notices'),
        );
        await sleep(500);
      }
    }
  })();

  return {
    get aliveAt() {
      return channel.aliveAt;
    },
    isAlive: () => channel.alive,
    close: async () => {
      closing.abort();
      await running;
    },
  };
}

/**
 * Pub/sub on Valkey or Redis: processes that receive PostgreSQL's notifications relay them to those that do not.
 *
 * Notices and heartbeats share one connection, so a heartbeat never overtakes a notice. After a notice that could not
 * be published, the next heartbeat reports a gap.
 */
function openRelay(url: RedisUrl, deliver: (text: string) => unknown, gap: () => void, log: Log): Relay {
  const throttle = createThrottle(5000);
  const options = { connectTimeout: 2000, retryStrategy: (times: number) => Math.min(50 * 2 ** times, 2000) };
  const report = (error: Error) =>
    throttle(error.message, () => log.warn({ reason: error.message }, 'lost the Redis connection for change notices'));
  const subscriber = openRedis(url, { ...options, maxRetriesPerRequest: null }).on('error', report);
  const publisher = openRedis(url, {
    ...options,
    enableOfflineQueue: false,
    commandTimeout: 1000,
    maxRetriesPerRequest: 0,
  }).on('error', report);
  const heartbeats = heartbeatsChannelOf(subscriber);
  let aliveAt = Number.NEGATIVE_INFINITY;
  /** Whether the subscription was not interrupted since the last heartbeat. */
  let isContinuous = false;
  let mayLack = true;

  const failed = (error: Error) => {
    mayLack = true;
    report(error);
  };

  subscriber.on('message', (channel, text) => {
    if (channel !== heartbeats) return void deliver(text);
    if (text !== HEARTBEAT || !isContinuous) gap();
    isContinuous = true;
    aliveAt = performance.now();
  });
  subscriber.on('close', () => {
    isContinuous = false;
  });
  subscriber.on('ready', async () => {
    try {
      await subscriber.subscribe(CHANNEL, heartbeats);
    } catch (error) {
      report(error as Error);
    }
  });

  const check = setInterval(async () => {
    try {
      if (subscriber.status !== 'ready') throw new Error(`the subscription is ${subscriber.status}`);
      await withTimeout(subscriber.ping(), REPLY_TIMEOUT_MS, 'heartbeat');
    } catch (error) {
      report(error as Error);
      if (subscriber.status === 'ready') subscriber.disconnect(true);
    }
  }, HEARTBEAT_MS);
  check.unref();

  return {
    get aliveAt() {
      return aliveAt;
    },
    publish: text => void publisher.publish(CHANNEL, text).catch(failed),
    sendHeartbeat() {
      const text = mayLack ? HEARTBEAT_AFTER_GAP : HEARTBEAT;
      mayLack = false;
      publisher.publish(heartbeats, text).catch(text === HEARTBEAT ? report : failed);
    },
    markGap() {
      mayLack = true;
    },
    close: async () => {
      clearInterval(check);
      subscriber.disconnect();
      publisher.disconnect();
    },
  };
}
