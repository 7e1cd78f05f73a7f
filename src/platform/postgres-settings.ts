import type { Client } from 'pg';

/** A PostgreSQL setting that affects the performance of storing answers, with the minimum that Parley recommends. */
export interface RecommendedSetting {
  name: string;
  /** In the syntax of `postgresql.conf`. */
  value: string;
  /** How values are compared: sizes and times by number, and anything but `off` counts as `on`. */
  measure: 'bytes' | 'seconds' | 'on or off';
  /** The disadvantage of a smaller value, or of `off`, as the end of a sentence. */
  why: string;
  /** Whether a change takes effect only after a restart of PostgreSQL. */
  needsRestart: boolean;
}

/**
 * The settings of the bundled databases: Compose, the chart and the embedded PostgreSQL. A test compares all three.
 *
 * They are made for the smallest of them, a container with 1 GB of memory and a volume of 8 GB, so they are a lower
 * bound for a database of one's own: `doctor` reports smaller values and accepts larger ones. Settings of durability are
 * absent, because their defaults are the only safe values.
 */
export const RECOMMENDED_SETTINGS: readonly RecommendedSetting[] = [
  {
    name: 'shared_buffers',
    value: '256MB',
    measure: 'bytes',
    why: 'with less, index pages are written out and read again more often. Use about a quarter of the memory of the machine or the container',
    needsRestart: true,
  },
  {
    name: 'max_wal_size',
    value: '2GB',
    measure: 'bytes',
    why: 'with less, checkpoints follow each other under load, and after each one the first change of a page writes the whole page to the WAL. It takes as much disk space, and recovery after a crash takes longer',
    needsRestart: false,
  },
  {
    name: 'checkpoint_timeout',
    value: '15min',
    measure: 'seconds',
    why: 'with less, more changes write whole pages to the WAL, because each checkpoint starts that again',
    needsRestart: false,
  },
  {
    name: 'wal_compression',
    value: 'on',
    measure: 'on or off',
    why: 'without it, the whole pages in the WAL, which are half of it once the tables are large, take several times the space',
    needsRestart: false,
  },
];

/** The recommended settings as arguments of `postgres`. */
export const recommendedArguments = (): string[] =>
  RECOMMENDED_SETTINGS.flatMap(({ name, value }) => ['-c', `${name}=${value}`]);

/** A setting that could be improved, and how to change it. */
export interface SettingHint {
  detail: string;
  hint: string;
}

/** Converts the text of a setting to a number, in SQL. */
const TO_NUMBER: Record<RecommendedSetting['measure'], (text: string) => string> = {
  bytes: text => `pg_size_bytes(${text})`,
  seconds: text => `extract(epoch from ${text}::interval)`,
  'on or off': text => `(${text} <> 'off')::int`,
};

/** SQL condition for a value below the recommendation. False for settings that the server does not have. */
const isSmaller = ({ name, value, measure }: RecommendedSetting): string =>
  `${TO_NUMBER[measure](`current_setting('${name}', true)`)} < ${TO_NUMBER[measure](`'${value}'`)}`;

const hintOf = ({ name, value, measure, why, needsRestart }: RecommendedSetting, present: string): SettingHint => ({
  detail: `${name} is ${present}; ${measure === 'on or off' ? '' : 'at least '}${value} is recommended`,
  hint: `ALTER SYSTEM SET ${name} = '${value}', then ${needsRestart ? 'restart' : 'reload'} PostgreSQL, or change it where your provider has its settings: ${why}.`,
});

const AUTOVACUUM_OFF: SettingHint = {
  detail: 'autovacuum does not run, because autovacuum or track_counts is off',
  hint: 'Set both to on and reload PostgreSQL: without it the space of deleted rows is never used again, and searches and lists get slower.',
};

/**
 * Returns the settings of a database below the recommendation; empty when all are sufficient. Rejects when it is
 * unreachable.
 */
export async function findSettingHints(client: Client): Promise<SettingHint[]> {
  const columns = RECOMMENDED_SETTINGS.map(
    (setting, index) => `case when ${isSmaller(setting)} then current_setting('${setting.name}') end as s${index}`,
  );
  const { rows } = await client.query<Record<string, string | null>>(
    `select ${columns.join(', ')}, current_setting('autovacuum') as autovacuum, current_setting('track_counts') as track_counts`,
  );
  const row = rows[0] ?? {};
  const smaller = RECOMMENDED_SETTINGS.flatMap((setting, index) => {
    const present = row[`s${index}`];
    return present ? [hintOf(setting, present)] : [];
  });
  return row.autovacuum === 'off' || row.track_counts === 'off' ? [...smaller, AUTOVACUUM_OFF] : smaller;
}
