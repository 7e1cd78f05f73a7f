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
   * For how long, in milliseconds, no change could have been heard: 0 while a channel is alive.
   *
   * PostgreSQL tells of every commit. While it is away nobody can commit through it, and Valkey or Redis relays what
   * processes that still reach it hear; so either channel alone is proof enough.
   */
  deafForMs(): number;
  close(): Promise<void>;
}

interface Channel {
  /** The last moment at which the channel was proven alive. */
  aliveAt: number;
  isAlive(): boolean;
  close(): Promise<void>;
}

/** Listens for changes on PostgreSQL and, where there is one, on Valkey or Redis. */
export function openNotices(databaseUrl: string, redisUrl: string | undefined, log: Log): Notices {
  const changeListeners: ((notice: Notice) => void)[] = [];
  const recordListeners: ((digests: string[]) => void)[] = [];
  const gapListeners: (() => void)[] = [];
  const openedAt = Date.now();

  const hear = (text: string): boolean => {
    const notice = Notice.safeParse(parseJson(text));
    if (!notice.success) return false;
    for (const listener of changeListeners) listener(notice.data);
    return true;
  };
  const gap = () => {
    for (const listener of gapListeners) listener();
  };

  // While the database was heard all along, a relay that comes back has missed nothing that was not heard anyway.
  const relayGap = () => {
    if (!database.isAlive()) gap();
  };
  const relay = redisUrl ? openRelay(redisUrl, hear, relayGap, log) : undefined;
  const database: Channel = listenToDatabase(
    databaseUrl,
    (channel, text) => {
      if (channel === CHANNEL && hear(text)) relay?.publish(text);
      if (channel === RECORDS_CHANNEL) for (const listener of recordListeners) listener(text.split(' '));
    },
    gap,
    log,
  );
  const channels: Channel[] = relay ? [database, relay] : [database];

  return {
    onChange: listener => void changeListeners.push(listener),
    onRecords: listener => void recordListeners.push(listener),
    hearsDatabase: () => database.isAlive(),
    onGap: listener => void gapListeners.push(listener),
    deafForMs: () =>
      channels.some(channel => channel.isAlive())
        ? 0
        : Date.now() - Math.max(openedAt, ...channels.map(channel => channel.aliveAt)),
    close: async () => void (await Promise.all(channels.map(channel => channel.close()))),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not one of ours: the schema says so
  }
}

/** LISTEN on a connection of its own, which is asked for a sign of life and made anew when it gives none. */
function listenToDatabase(
  url: string,
  hear: (channel: string, text: string) => void,
  gap: () => void,
  log: Log,
): Channel {
  const closing = new AbortController();
  const throttle = createThrottle(5000);
  const channel = { aliveAt: 0, alive: false };

  const listen = async () => {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      keepAlive: true,
      application_name: 'parley_notices',
    });
    const failed = new Promise<never>((_, reject) =>
      client.on('error', reject).once('end', () => reject(new Error('it was closed'))),
    );
    failed.catch(() => undefined); // reported by whoever races it below
    try {
      await client.connect();
      client.on('notification', message => hear(message.channel, message.payload ?? ''));
      await client.query(`listen ${CHANNEL}; listen ${RECORDS_CHANNEL}`);
      channel.alive = true;
      channel.aliveAt = Date.now();
      gap(); // whatever was said before this moment was not heard
      while (!closing.signal.aborted) {
        await Promise.race([sleep(HEARTBEAT_MS, undefined, { signal: closing.signal }), failed]);
        await within(client.query('select 1'), ANSWER_WITHIN_MS, 'a sign of life');
        channel.aliveAt = Date.now();
      }
    } finally {
      channel.alive = false;
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
          log.warn({ reason: (error as Error).message }, 'change notices from the database are lost'),
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

/** Pub/sub on Valkey or Redis: processes that still hear the database tell those that do not. */
function openRelay(url: string, hear: (text: string) => void, gap: () => void, log: Log) {
  const throttle = createThrottle(5000);
  const options = { connectTimeout: 2000, retryStrategy: (times: number) => Math.min(50 * 2 ** times, 2000) };
  const report = (error: Error) =>
    throttle(error.message, () => log.warn({ reason: error.message }, 'change notices over Redis are lost'));
  const subscriber = openRedis(url, { ...options, maxRetriesPerRequest: null }).on('error', report);
  const publisher = openRedis(url, {
    ...options,
    enableOfflineQueue: false,
    commandTimeout: 1000,
    maxRetriesPerRequest: 0,
  }).on('error', report);
  const state = { aliveAt: 0, alive: false };

  subscriber.on('message', (_, text) => hear(text));
  subscriber.on('close', () => {
    state.alive = false;
  });
  subscriber.on('ready', async () => {
    try {
      await subscriber.subscribe(CHANNEL);
      state.alive = true;
      gap();
    } catch (error) {
      report(error as Error);
    }
  });

  const heartbeat = setInterval(async () => {
    try {
      if (subscriber.status !== 'ready') throw new Error(`the subscription is ${subscriber.status}`);
      await within(subscriber.ping(), ANSWER_WITHIN_MS, 'a sign of life');
      if (state.alive) state.aliveAt = Date.now();
    } catch (error) {
      state.alive = false;
      report(error as Error);
      if (subscriber.status === 'ready') subscriber.disconnect(true);
    }
  }, HEARTBEAT_MS);
  heartbeat.unref();

  return {
    get aliveAt() {
      return state.aliveAt;
    },
    isAlive: () => state.alive,
    publish: (text: string) => void publisher.publish(CHANNEL, text).catch(report),
    close: async () => {
      clearInterval(heartbeat);
      subscriber.disconnect();
      publisher.disconnect();
    },
  };
}
