import type { Action } from '../domain/audit-log.ts';
import type { Config } from '../platform/config.ts';
import { openDatabase } from '../platform/database.ts';
import type { Log } from '../platform/log.ts';
import { createSeals, type Seals } from '../platform/secrets.ts';
import { type Act, insertAuditEntry } from '../storage/audit-log.ts';
import { openStorage, type Storage } from '../storage/orm.ts';

/** Between a command and the person who called it. */
export interface Terminal {
  /** What was sent on standard input, without the last line break. */
  readInput(): Promise<string>;
  /** Says on standard error how far the command is. */
  tell(line: string): void;
}

/** What a command of the command line works with. */
export interface CommandContext extends Terminal {
  config: Config;
  log: Log;
  storage: Storage;
  /** Connects as the owner of the tables, whom row-level security does not bind. */
  databaseUrl: string;
  seals: Seals;
  now: Date;
}

/** The options of a command, by name without the dashes. */
export type Options = Record<string, string | boolean | undefined>;

/** Said to the person at the terminal, without a stack. */
export class UsageError extends Error {}

/** The value of an option that must be there. */
export function required(options: Options, name: string): string {
  const value = options[name];
  if (typeof value !== 'string' || value === '') throw new UsageError(`--${name} is required`);
  return value;
}

/** What a command made or changed, as it prints it. */
interface Shown {
  id: string;
  name?: string;
  email?: string;
}

/**
 * Does something to a tenant and leaves the line of it, in one transaction; gives what `act` shows. Nobody is known by
 * name at the command line.
 */
export const doWithLine = <T extends Shown>(
  { storage, now }: CommandContext,
  action: Action,
  act: (storage: Storage) => Promise<{ tenantId: string; shown: T }>,
): Promise<T> =>
  storage.inOneTransaction(async within => {
    const { tenantId, shown } = await act(within);
    const line: Act = {
      actor_type: 'system',
      actor_id: null,
      actor_name: 'command line',
      action,
      target_id: shown.id,
      target_name: shown.name ?? shown.email ?? null,
      fields: [],
      ip: null,
      request_id: null,
    };
    await insertAuditEntry(within.forTenant(tenantId), line, now);
    return shown;
  });

/** Runs a command against the database, the running embedded one included; gives the object that it prints. */
export async function withStorage<T>(
  config: Config,
  log: Log,
  terminal: Terminal,
  run: (context: CommandContext) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(config, true, log);
  try {
    if (database.embedded) await (await import('./migrate.ts')).migrateAll(database.url, config, log);
    const storage = openStorage({ url: database.url, role: 'parley_app', connections: 2, log });
    try {
      return await run({
        config,
        log,
        storage,
        databaseUrl: database.url,
        seals: createSeals(database.secretKeys),
        now: new Date(),
        ...terminal,
      });
    } finally {
      await storage.close();
    }
  } finally {
    await database.stop();
  }
}
