import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { z } from 'zod';
import { createThrottle, type Log } from '../platform/log.ts';
import { openRedis } from '../platform/redis.ts';
import { within } from '../platform/shutdown.ts';

/** One row that changed: its table, its tenant, its id. Announced by the database's own triggers. */
const Notice = z.object({ table: z.string(), tenant_id: z.uuid(), id: z.uuid() });
export type Notice = z.infer<typeof Notice>;

const CHANNEL = 'parley_changes';
/** Whose cards changed, as digests with spaces between: as many as answers are stored, so they are not relayed. */
const RECORDS_CHANNEL = 'parley_records';
/**
 * Where processes that receive PostgreSQL's notifications publish a heartbeat each time a query shows that they still do.
 *
 * Pub/sub ignores the number of the Redis database, which is what separates installations that share a store.
 */
const heartbeatsChannelOf = (redis: ReturnType<typeof openRedis>): string =>
  `parley_heartbeats_${redis.options.db ?? 0}`;
/** An ordinary heartbeat; and one of a process that may have missed notices, or failed to relay some. */
const HEARTBEAT = 'ok';
const HEARTBEAT_AFTER_GAP = 'gap';
const HEARTBEAT_MS = 3000;
const ANSWER_WITHIN_MS = 2000;

export interface Notices {
  /** Calls `listener` for each change of any process, within milliseconds of its commit. */
  onChange(listener: (notice: Notice) => void): void;
  /** Calls `listener` with the digests of identities whose card records a commit changed. */
  onRecords(listener: (digests: string[]) => void): void;
  /** Whether PostgreSQL is heard at this moment: only then what `onRecords` has not named is unchanged. */
  hearsDatabase(): boolean;
  /** Calls `listener` whenever changes may have been missed: what is held in memory must be read again. */
  onGap(listener: () => void): void;
  /**
   * For how long, in milliseconds, a change may have gone unnoticed: 0 while this process receives PostgreSQL's
   * notifications, otherwise the time since it last did, or since the last heartbeat of a process that does.
   *
   * A subscription in Valkey or Redis proves nothing on its own: it stays silent when no process hears PostgreSQL.
   */
  deafForMs(): number;
  close(): Promise<void>;
}

interface Channel {
  /** The last moment at which the channel was proven to deliver every change, on the clock of `performance.now`. */
  readonly aliveAt: number;
  close(): Promise<void>;
}

/** The notifications of PostgreSQL itself. */
interface DatabaseChannel extends Channel {
  isAlive(): boolean;
}

/** The relay between processes in Valkey or Redis. */
interface Relay extends Channel {
  /** Passes a notice on. */
  publish(text: string): void;
  /** Tells the other processes that this one receives PostgreSQL's notifications. */
  beat(): void;
  /** Marks the next heartbeat: notices from before it may be missing. */
  noteGap(): void;
}

/** Listens for changes on PostgreSQL and, where there is one, on Valkey or Redis. */
export function openNotices(databaseUrl: string, redisUrl: string | undefined, log: Log): Notices {
  const changeListeners: ((notice: Notice) => void)[] = [];
  const recordListeners: ((digests: string[]) => void)[] = [];
  const gapListeners: (() => void)[] = [];
  const openedAt = performance.now();
  let relayGapAt = Number.NEGATIVE_INFINITY;

  const hear = (text: string): boolean => {
    const notice = Notice.safeParse(parseJson(text));
    if (!notice.success) return false;
    for (const listener of changeListeners) listener(notice.data);
    return true;
  };
  const gap = () => {
    for (const listener of gapListeners) listener();
  };

  // A gap of the relay matters only while PostgreSQL is not heard; that it is not may be noticed some seconds later.
  const relayGap = () => {
    relayGapAt = performance.now();
    if (!database.isAlive()) gap();
  };
  const relay = redisUrl ? openRelay(redisUrl, hear, relayGap, log) : undefined;
  const database = listenToDatabase(
    databaseUrl,
    {
      notified(channel, text) {
        if (channel === CHANNEL && hear(text)) relay?.publish(text);
        if (channel === RECORDS_CHANNEL) for (const listener of recordListeners) listener(text.split(' '));
      },
      connected() {
        gap(); // changes from before this moment were not heard
        relay?.noteGap();
        relay?.beat();
      },
      checked: () => relay?.beat(),
      lost(aliveAt) {
        if (relayGapAt >= aliveAt) gap();
      },
    },
    log,
  );

  return {
    onChange: listener => void changeListeners.push(listener),
    onRecords: listener => void recordListeners.push(listener),
    hearsDatabase: () => database.isAlive(),
    onGap: listener => void gapListeners.push(listener),
    deafForMs: () =>
      database.isAlive() ? 0 : performance.now() - Math.max(openedAt, database.aliveAt, relay?.aliveAt ?? openedAt),
    close: async () => void (await Promise.all([database.close(), relay?.close()])),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not one of ours: the schema says so
  }
}

/** What happens to the connection on which this process listens. */
interface DatabaseEvents {
  notified(channel: string, text: string): void;
  /** The process listens from now on. */
  connected(): void;
  /** A query was answered, so every notification of before it was received. */
  checked(): void;
  /** The connection is lost; `aliveAt` is when it was last proven alive. */
  lost(aliveAt: number): void;
}

/** LISTEN on a connection of its own, which is checked with a query every 3 s and replaced when it does not answer. */
function listenToDatabase(url: string, events: DatabaseEvents, log: Log): DatabaseChannel {
  const closing = new AbortController();
  const throttle = createThrottle(5000);
  const channel = { aliveAt: Number.NEGATIVE_INFINITY, alive: false };

  const listen = async () => {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      keepAlive: true,
      application_name: 'parley_notices',
    });
    const failed = new Promise<never>((_, reject) =>
      client.on('error', reject).once('end', () => reject(new Error('the connection was closed'))),
    );
    failed.catch(() => undefined); // reported by whoever races it below
    try {
      await client.connect();
      client.on('notification', message => events.notified(message.channel, message.payload ?? ''));
      await client.query(`listen ${CHANNEL}; listen ${RECORDS_CHANNEL}`);
      channel.alive = true;
      channel.aliveAt = performance.now();
      events.connected();
      while (!closing.signal.aborted) {
        await Promise.race([sleep(HEARTBEAT_MS, undefined, { signal: closing.signal }), failed]);
        const askedAt = performance.now();
        await within(client.query('select 1'), ANSWER_WITHIN_MS, 'heartbeat');
        channel.aliveAt = askedAt;
        events.checked();
      }
    } finally {
      const wasAlive = channel.alive;
      channel.alive = false;
      if (wasAlive) events.lost(channel.aliveAt);
      void client.end().catch(() => undefined); // a connection that is gone can't be closed any better
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
 * Pub/sub on Valkey or Redis, over which processes that receive PostgreSQL's notifications inform those that do not.
 *
 * Notices and heartbeats leave over one connection, so a heartbeat never overtakes a notice. A notice that could not be
 * published marks the next heartbeat as one after a gap.
 */
function openRelay(url: string, hear: (text: string) => unknown, gap: () => void, log: Log): Relay {
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
    if (channel !== heartbeats) return void hear(text);
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
      await within(subscriber.ping(), ANSWER_WITHIN_MS, 'heartbeat');
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
    beat() {
      const text = mayLack ? HEARTBEAT_AFTER_GAP : HEARTBEAT;
      mayLack = false;
      publisher.publish(heartbeats, text).catch(text === HEARTBEAT ? report : failed);
    },
    noteGap() {
      mayLack = true;
    },
    close: async () => {
      clearInterval(check);
      subscriber.disconnect();
      publisher.disconnect();
    },
  };
}
