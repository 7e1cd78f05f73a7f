import { z } from 'zod';
import { findMisspelt } from './misspelt-settings.ts';
import { servesManyDirectories } from './oidc-issuers.ts';
import { findProxyFault, supportsProxies } from './outbound-proxy.ts';
import { type Network, parseNetwork } from './outbound-rules.ts';
import { readSecretFile, STORE_SECRETS, storeAddresses, storeUrls } from './store-addresses.ts';
import { type DatabaseAddress, DEFAULT_ROLE_PREFIX, type RedisAddress } from './store-urls.ts';

/** A URL as text, with its scheme in lower case: Node, for one, ignores a proxy that starts with `HTTP://` or `http:/`. */
const url = (...protocols: string[]) =>
  z
    .string()
    .overwrite(value => value.trim().replace(/^\w+:\/\//, scheme => scheme.toLowerCase()))
    .refine(value => URL.canParse(value) && protocols.some(protocol => value.startsWith(`${protocol}://`)), {
      message: `must be a URL that starts with ${protocols.map(protocol => `${protocol}://`).join(' or ')}`,
    });

/** Whether a URL has one of `/?#` before an `@`: in the user or password, where it ends the host. */
const hasRawLogin = (value: string): boolean => /^\w+:\/\/.*[/?#].*@/.test(value);

/** Whether a text is an address, or a name and an address in angle brackets. nodemailer sends mails without a sender too. */
const isSender = (value: string): boolean =>
  /^([^<>]*<[^\s@<>"',;]+@[^\s@<>"',;]+>|[^\s@<>"',;]+@[^\s@<>"',;]+)$/.test(value.trim());

/** Whether a URL consists of scheme, host and port; other checks report what is not a URL. */
const hasOnlyOrigin = (value: string): boolean =>
  !URL.canParse(value) || (!/[?#@]/.test(value) && /^\/*$/.test(new URL(value).pathname));

const integer = (min: number, max: number) =>
  z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).pipe(z.int().min(min).max(max));

const perMinute = (value: number, what: string) =>
  integer(1, 1_000_000).default(value).describe(`Requests per minute ${what}`);

const isSecretKey = (value: string): boolean => Buffer.from(value, 'base64').length === 32;

const secretKey = z.string().refine(isSecretKey, 'must be 32 bytes in base64 (openssl rand -base64 32)');

const secretKeys = z
  .string()
  .transform(value => value.split(',').map(part => part.trim()))
  .refine(keys => keys.every(isSecretKey), 'must be keys of 32 bytes in base64, with commas in between');

const networks = z
  .string()
  .transform(value => value.split(',').map(part => parseNetwork(part.trim())))
  .refine((all): all is Network[] => !all.includes(undefined), {
    message: 'must be networks such as 10.1.0.0/16, with commas in between',
  })
  .transform(all => all as Network[]);

/** The samplers in OpenTelemetry's specification. */
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** Every setting by environment variable. `config/env.example` is generated from here. */
const Settings = z.object({
  PORT: integer(0, 65_535).default(3000).describe('Port of the HTTP API'),
  HOST: z
    .string()
    .default('127.0.0.1')
    .describe(
      'Listen address of the API and the metrics; :: in the container image, which is every address of IPv6 and IPv4',
    ),
  METRICS_PORT: integer(0, 65_535)
    .default(9464)
    .describe('Port of the Prometheus metrics and of the probes /livez and /readyz'),
  BASE_URL: url('http', 'https')
    .refine(hasOnlyOrigin, {
      message:
        'must not have a path, query or credentials: Parley serves /v1, /dashboard and /docs at the root of its host; use a host name of its own, such as https://feedback.example.com',
    })
    .transform(value => new URL(value).origin)
    .optional()
    .describe('Public URL of the API, without a path; if unset, http://localhost:<PORT>'),
  DATABASE_URL: url('postgres', 'postgresql')
    .optional()
    .describe('PostgreSQL 14 or newer; if unset, an embedded PostgreSQL under DATA_DIR'),
  DATABASE_PASSWORD: z
    .string()
    .optional()
    .describe('Password for DATABASE_URL, not URL-encoded; a password inside the URL must be URL-encoded'),
  DATABASE_DIRECT_URL: url('postgres', 'postgresql')
    .optional()
    .describe(
      'Required if DATABASE_URL leads to a pooler in transaction mode: URL of PostgreSQL itself, for migrations, notices and a queue in PostgreSQL; same user and password',
    ),
  DATABASE_SERVICE_URL: url('postgres', 'postgresql')
    .optional()
    .describe(
      'Only for migrate: URL of the user as which API and worker log in; migrate creates the user as a mere member of the two roles, and sets its password',
    ),
  DATABASE_API_URL: url('postgres', 'postgresql')
    .optional()
    .describe(
      'Only for migrate, and only with REDIS_URL: URL of a separate user for the API, which migrate makes a member of only <prefix>_app, so that the API cannot act as the worker',
    ),
  DATABASE_ROLE_PREFIX: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,40}$/, 'must consist of lower-case letters, digits and _, such as parley_staging')
    .default(DEFAULT_ROLE_PREFIX)
    .describe(
      'Prefix of the database roles <prefix>_app and <prefix>_worker, which all databases of a server share: one prefix per installation',
    ),
  DATABASE_POOL: integer(2, 200).default(10).describe('PostgreSQL connections per process'),
  REDIS_URL: url('redis', 'rediss')
    .optional()
    .describe(
      'Valkey, or Redis 7.0 or newer, for the queue; redis://name?sentinels=host:port,host:port for Sentinel; if unset, the queue is in PostgreSQL',
    ),
  REDIS_PASSWORD: z.string().optional().describe('Password for REDIS_URL, not URL-encoded'),
  REDIS_SENTINEL_USERNAME: z
    .string()
    .optional()
    .describe('User name for the Sentinels in REDIS_URL, if they have ACL users'),
  REDIS_SENTINEL_PASSWORD: z.string().optional().describe('Password for the Sentinels in REDIS_URL'),
  DATA_DIR: z.string().default('./data').describe('Folder for the embedded PostgreSQL and its generated secrets'),
  SECRET_KEY: secretKey
    .optional()
    .describe(
      'Encryption key for stored secrets, 32 bytes in base64; with the embedded PostgreSQL, generated once under DATA_DIR',
    ),
  SECRET_KEY_OTHERS: secretKeys
    .optional()
    .describe('Comma-separated previous or future keys, accepted for decryption while SECRET_KEY is being replaced'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Minimum log level'),
  RATE_LIMITS: z
    .enum(['on', 'off'])
    .default('on')
    .describe('Enforcement of rate limits; off counts requests but never rejects any, for load tests'),
  RATE_ACCESS_TOKEN: perMinute(120, 'per identity with access tokens; each answer in a batch counts as one'),
  RATE_PUBLIC_TOKEN: perMinute(30, 'per identity with public access tokens; each answer in a batch counts as one'),
  RATE_API_KEY: perMinute(1000, 'per API key; a batch of answers counts as one'),
  RATE_TOKEN_ISSUE_IP: perMinute(600, 'to issue public access tokens, per IP address'),
  RATE_TOKEN_ISSUE_USER: perMinute(10, 'to issue public access tokens, per API key and user'),
  RATE_SESSION: perMinute(600, 'per dashboard session'),
  RATE_LINK_IP: perMinute(30, 'per IP address for each of setup, password resets and invitation links'),
  RATE_OIDC_IP: perMinute(
    300,
    'per IP address to start a login by the identity provider, and as many to return from it',
  ),
  RATE_LOGIN: integer(1, 1_000_000)
    .default(10)
    .describe(
      'Failed logins per account and IP address in 15 minutes; a browser that logged in to the account before has its own limit',
    ),
  RATE_LOGIN_ACCOUNT: integer(1, 1_000_000)
    .default(200)
    .describe(
      'Failed logins per account in 15 minutes, from all IP addresses; browsers that logged in to the account before are not limited by it',
    ),
  RATE_LOGIN_IP: integer(1, 1_000_000)
    .default(100)
    .describe('Failed logins per IP address in 15 minutes, for all accounts'),
  PUBLIC_KEY_DAILY_CAP: integer(1, 1_000_000_000)
    .default(1_000_000)
    .describe(
      'Requests per day with public access tokens of one API key; once half are used, each IP address may use a tenth',
    ),
  QUEUE_DURABILITY: z
    .enum(['strict', 'declared', 'relaxed'])
    .default('strict')
    .describe(
      'strict accepts answers only if the queue provably writes them to disk before it replies; declared also if the store hides its settings, as many managed ones do; relaxed accepts losses',
    ),
  QUEUE_DURABILITY_NOTE: z
    .string()
    .max(200)
    .optional()
    .describe('Required with QUEUE_DURABILITY=declared: what the provider promises about writes that it confirmed'),
  QUEUE_REPLICAS: integer(0, 5)
    .default(0)
    .describe(
      'Valkey or Redis replicas that must confirm an answer before its 202; set it to the number that can become the primary',
    ),
  QUEUE_MAX_JOBS: integer(100, 100_000_000)
    .default(100_000)
    .describe('Number of waiting jobs at which answers are rejected with 503'),
  QUEUE_MAX_MB: integer(16, 1_000_000)
    .default(1024)
    .describe(
      'Queue size in MB at which answers are rejected with 503; for Valkey or Redis, used only without maxmemory',
    ),
  CACHE_MB: integer(16, 65_536)
    .default(64)
    .describe('Total memory for the caches of an API process, in MB; docs/operating.md lists the shares'),
  INGESTION_CHECK_S: integer(0, 3600)
    .default(30)
    .describe('Seconds between ingestion checks (a canary, and the delivery audit of the queue); 0 disables them'),
  SESSION_IDLE_HOURS: integer(1, 8760).default(12).describe('Hours of inactivity after which a session ends'),
  SESSION_MAX_DAYS: integer(1, 365).default(14).describe('Maximum lifetime of a session in days'),
  SMTP_URL: url('smtp', 'smtps')
    .refine(value => !hasRawLogin(value), {
      message: 'has /, ? or # in its user or password: write them percent-encoded, as %2F, %3F and %23',
    })
    .optional()
    .describe(
      'Mail server, such as smtps://user:password@host:465, for API and worker, which sends the mails; if unset, links are shown and not mailed',
    ),
  MAIL_FROM: z
    .string()
    .max(320)
    .refine(isSender, {
      message: 'must be an address such as parley@example.com or Parley <parley@example.com>, without quotes around it',
    })
    .optional()
    .describe('Sender address of e-mails, such as Parley <parley@example.com>'),
  OIDC_ISSUER: url('https', 'http')
    .overwrite(value => value.replace(/\/\.well-known\/openid-configuration\/?$/, ''))
    .optional()
    .describe('OIDC issuer URL of the identity provider for logins'),
  OIDC_CLIENT_ID: z.string().max(500).optional().describe('OIDC client ID'),
  OIDC_CLIENT_SECRET: z.string().max(1000).optional().describe('OIDC client secret'),
  OIDC_TRUST_EMAIL: z
    .enum(['claim', 'issuer'])
    .default('claim')
    .describe(
      'Which addresses of the identity provider count as verified: those with the claim email_verified, or with issuer all but those with email_verified false; only for an issuer of one directory that you trust, such as a tenant of Microsoft Entra ID',
    ),
  OIDC_EMAIL_CLAIM: z
    .string()
    .max(100)
    .default('email')
    .describe('Claim with the e-mail address, such as email or upn'),
  OIDC_NAME: z.string().max(60).default('Single sign-on').describe('Name of the identity provider on the login page'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url('http', 'https')
    .optional()
    .describe('OTLP/HTTP endpoint for traces, such as http://collector:4318; if unset, tracing is off'),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS)
    .default('parentbased_always_on')
    .describe(
      'Trace sampler; parentbased_traceidratio follows the decision of the caller and samples a ratio of all other traces',
    ),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .transform(Number)
    .pipe(z.number().min(0).max(1))
    .default(1)
    .describe('Sampling ratio for traceidratio (0–1)'),
  OUTBOUND_ALLOW: networks
    .optional()
    .describe('Comma-separated networks that webhooks may reach although they are private, such as 10.1.0.0/16'),
  OUTBOUND_HTTP: z
    .enum(['on', 'off'])
    .default('off')
    .describe('Webhooks to http:// URLs, and to port 80; their content then travels unencrypted'),
  OUTBOUND_PROXY: url('http', 'https')
    .refine(value => findProxyFault(value) === undefined, { error: ({ input }) => findProxyFault(String(input)) })
    .optional()
    .describe(
      'HTTP proxy for webhooks; it then resolves their host names, and has to refuse private addresses. Requires Node 24.5 or newer',
    ),
  TRUSTED_PROXY_HOPS: integer(0, 10)
    .default(0)
    .describe('Number of trusted proxies that append to X-Forwarded-For; 0 ignores the header'),
});

type Parsed = z.output<typeof Settings>;
export type Config = Readonly<
  Omit<Parsed, 'BASE_URL'> & {
    BASE_URL: string;
    database: DatabaseAddress | undefined;
    redis: RedisAddress | undefined;
    /** A warning for each variable that may be a misspelt setting. */
    misspelt: readonly string[];
  }
>;

/** Settings that may also come from a file, whose path is in `NAME_FILE`. */
export const SECRET_SETTINGS = [
  ...STORE_SECRETS,
  'SECRET_KEY',
  'SECRET_KEY_OTHERS',
  'SMTP_URL',
  'OIDC_CLIENT_SECRET',
  'OUTBOUND_PROXY',
] as const;

/** Every variable that has a meaning. */
const NAMES = [...Object.keys(Settings.shape), ...SECRET_SETTINGS.map(name => `${name}_FILE`)];

/** All faults of the environment, one line each. */
export class ConfigError extends Error {
  readonly faults: string[];

  constructor(faults: string[]) {
    super(`Invalid configuration:\n${faults.map(fault => `  ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

function readSecretFiles(environment: NodeJS.ProcessEnv, faults: string[]): NodeJS.ProcessEnv {
  const read = { ...environment };
  for (const name of SECRET_SETTINGS) {
    const file = environment[`${name}_FILE`];
    if (!file) continue;
    if (environment[name]) faults.push(`${name}: set either ${name} or ${name}_FILE, not both`);
    try {
      read[name] = readSecretFile(file);
    } catch (error) {
      faults.push(`${name}_FILE: ${(error as Error).message}`);
    }
  }
  return read;
}

/**
 * Returns the validated, frozen settings of an environment.
 *
 * An empty variable counts as absent, as Compose passes it. Throws `ConfigError` with all faults at once. `hasProxies` is
 * whether this Node supports proxies.
 */
export function loadConfig(environment: NodeJS.ProcessEnv, hasProxies: boolean = supportsProxies()): Config {
  const faults: string[] = [];
  const read = readSecretFiles(environment, faults);
  const misspelt = findMisspelt(environment, NAMES);
  const given = Object.fromEntries(Object.keys(Settings.shape).map(name => [name, read[name] || undefined]));
  const parsed = Settings.safeParse(given);
  if (!parsed.success) faults.push(...parsed.error.issues.map(issue => `${issue.path.join('.')}: ${issue.message}`));
  if (given.DATABASE_URL && !given.SECRET_KEY)
    faults.push(
      'SECRET_KEY: is required with DATABASE_URL (openssl rand -base64 32); keep a copy, it decrypts your secrets',
    );
  if (given.REDIS_URL && !given.DATABASE_URL)
    faults.push('REDIS_URL: requires DATABASE_URL; with the embedded PostgreSQL, the queue is in PostgreSQL');
  if ((given.QUEUE_DURABILITY === 'declared') !== (given.QUEUE_DURABILITY_NOTE !== undefined))
    faults.push(
      'QUEUE_DURABILITY_NOTE: QUEUE_DURABILITY=declared and this note, such as "MemoryDB: writes are confirmed by the Multi-AZ log", require each other',
    );
  if (given.DATABASE_DIRECT_URL && !given.DATABASE_URL) faults.push('DATABASE_DIRECT_URL: requires DATABASE_URL');
  if (given.REDIS_SENTINEL_PASSWORD && !given.REDIS_URL?.includes('sentinels='))
    faults.push('REDIS_SENTINEL_PASSWORD: requires Sentinels in REDIS_URL (redis://name?sentinels=host:port)');
  for (const store of ['DATABASE', 'REDIS'])
    if (given[`${store}_PASSWORD`] && !given[`${store}_URL`]) faults.push(`${store}_PASSWORD: requires ${store}_URL`);
  if (given.OUTBOUND_PROXY && !hasProxies)
    faults.push(
      `OUTBOUND_PROXY: is ignored by Node ${process.versions.node}, which would send webhooks directly; use Node 24.5 or newer, as npm start does`,
    );
  if (given.SMTP_URL && !given.MAIL_FROM) faults.push('MAIL_FROM: is required with SMTP_URL');
  if (given.OIDC_ISSUER && !(given.OIDC_CLIENT_ID && given.OIDC_CLIENT_SECRET))
    faults.push('OIDC_ISSUER: requires OIDC_CLIENT_ID and OIDC_CLIENT_SECRET');
  if (given.OIDC_TRUST_EMAIL === 'issuer' && parsed.data?.OIDC_ISSUER && servesManyDirectories(parsed.data.OIDC_ISSUER))
    faults.push(
      'OIDC_TRUST_EMAIL: issuer is refused, because OIDC_ISSUER serves many directories, whose administrators can set any address; use the issuer of your own directory, or claim',
    );
  if (faults.length > 0 || !parsed.success) throw new ConfigError([...faults, ...misspelt]);
  return Object.freeze({
    ...parsed.data,
    ...storeUrls(parsed.data),
    ...storeAddresses(parsed.data, environment),
    misspelt,
    BASE_URL: parsed.data.BASE_URL ?? `http://localhost:${parsed.data.PORT}`,
  });
}

/** Returns the settings as table rows: name, default, meaning. */
export const describeSettings = (): { name: string; fallback: string; meaning: string }[] =>
  Object.entries(Settings.shape).map(([name, schema]) => {
    const parsed = (schema as z.ZodType).safeParse(undefined);
    return {
      name,
      fallback: parsed.success && parsed.data !== undefined ? String(parsed.data) : '',
      meaning: (schema as z.ZodType).description ?? '',
    };
  });

/** Returns the JSON Schema of each setting's value, with its limits, after its text was parsed. */
export const settingSchemas = (): Record<string, Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(Settings.shape).map(([name, schema]) => {
      const { $schema, default: _, ...form } = z.toJSONSchema(schema as z.ZodType, { unrepresentable: 'any' });
      return [name, form];
    }),
  );

/** Text settings that contain no private data. Others are only reported as set or absent. */
const HARMLESS_TEXTS = [
  'HOST',
  'LOG_LEVEL',
  'RATE_LIMITS',
  'QUEUE_DURABILITY',
  'OIDC_TRUST_EMAIL',
  'OTEL_TRACES_SAMPLER',
  'OUTBOUND_HTTP',
];

/** Returns the settings for support bundles: numbers and choices as they are, texts as `set` or `absent`. */
export const maskSettings = (config: Config): Record<string, string | number> =>
  Object.fromEntries(
    Object.keys(Settings.shape).map(name => {
      const value = config[name as keyof Config];
      if (value === undefined) return [name, 'absent'];
      const isText = typeof value === 'string' && HARMLESS_TEXTS.includes(name);
      return [name, isText || typeof value === 'number' ? value : 'set'];
    }),
  );

/** Returns the text of `config/env.example`. */
export const envExample = (): string =>
  [
    '# Every setting of Parley with its default. Generated from src/platform/config.ts by `npm run openapi`.',
    `# ${SECRET_SETTINGS.join(', ')} can also be set as NAME_FILE, the path of a file that contains the value.`,
    '',
    ...describeSettings().map(({ name, fallback, meaning }) => `# ${meaning}\n#${name}=${fallback}\n`),
  ].join('\n');
