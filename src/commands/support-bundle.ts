import { writeFileSync } from 'node:fs';
import { arch, availableParallelism, freemem, platform, release, totalmem, uptime } from 'node:os';
import { unescape as decode } from 'node:querystring';
import { BUILD } from '../platform/build-info.ts';
import { type Config, maskSettings, SECRET_SETTINGS } from '../platform/config.ts';
import type { Database } from '../platform/database.ts';
import type { Log } from '../platform/log.ts';
import { urlOf } from '../platform/store-urls.ts';
import { describeQueue } from '../queue/description.ts';
import { describeDatabase } from '../storage/database/description.ts';
import { diagnose } from './doctor.ts';

const METRICS_TIMEOUT_MS = 3000;
/** Shorter passwords may be ordinary words and are not masked. */
const LEAST_SECRET = 8;

/** Returns the result of a query, or its error. */
const attempt = (query: Promise<unknown>): Promise<unknown> =>
  query.catch((error: Error) => ({ error: error.message || String(error) }));

/** Returns the metrics of the process on this host, by line. */
async function readMetrics({ HOST, METRICS_PORT }: Config): Promise<string[]> {
  const host = HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST;
  const signal = AbortSignal.timeout(METRICS_TIMEOUT_MS);
  const response = await fetch(`http://${host}:${METRICS_PORT}/metrics`, { signal });
  return (await response.text()).split('\n').filter(line => line !== '' && !line.startsWith('#'));
}

const machine = () => ({
  platform: platform(),
  release: release(),
  arch: arch(),
  cpus: availableParallelism(),
  memory_bytes: totalmem(),
  free_memory_bytes: freemem(),
  uptime_s: Math.round(uptime()),
});

/** Returns every secret in the settings, including passwords in URLs. */
function secretsOf(config: Config, database: Database): string[] {
  const { current, others } = database.secretKeys;
  const values = [...SECRET_SETTINGS.flatMap(name => config[name]), urlOf(database.url), current, ...others];
  return values.flatMap(value => {
    if (value === undefined) return [];
    const password = URL.canParse(value) ? new URL(value).password : '';
    return [value, password, decode(password)].filter(secret => secret.length >= LEAST_SECRET);
  });
}

/** Removes secrets from a text, for example from error messages of libraries. */
const without = (secrets: string[], text: string): string =>
  secrets.reduce((rest, secret) => rest.replaceAll(JSON.stringify(secret).slice(1, -1), '[secret]'), text);

/**
 * `support-bundle [--out FILE]`: collects diagnostic data in one JSON document.
 *
 * It contains figures, settings and versions. It reads no columns with user-written content, so it has no secrets and
 * no data of tenants, team or users. A part that cannot be read contains the error instead.
 */
export async function makeSupportBundle(
  environment: NodeJS.ProcessEnv,
  log: Log,
  file: string | undefined,
): Promise<string> {
  let seen: Record<string, unknown> = {};
  let secrets: string[] = [];
  const doctor = await diagnose(environment, log, async (config, database) => {
    secrets = secretsOf(config, database);
    const [inDatabase, queue, metrics] = await Promise.all([
      attempt(describeDatabase(database.url)),
      attempt(
        describeQueue({
          databaseUrl: database.url,
          redisUrl: config.redis,
          relaxed: config.QUEUE_DURABILITY === 'relaxed',
        }),
      ),
      attempt(readMetrics(config)),
    ]);
    seen = { settings: maskSettings(config), database: inDatabase, queue, metrics };
  });
  const bundle = { made_at: new Date(), build: BUILD, machine: machine(), doctor, ...seen };
  const text = without(secrets, JSON.stringify(bundle, null, 2));
  if (file === undefined) return text;
  writeFileSync(file, `${text}\n`, { mode: 0o600 });
  return JSON.stringify({ file });
}
