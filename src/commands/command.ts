import type { Action } from '../domain/team/audit-log.ts';
import type { Config } from '../platform/config.ts';
import { openDatabase } from '../platform/database.ts';
import type { Log } from '../platform/log.ts';
import { createSeals, type Seals } from '../platform/secrets.ts';
import type { DatabaseUrl } from '../platform/store-urls.ts';
import { openStorage, type Storage, type TenantStorage } from '../storage/database/orm.ts';
import { insertAuditEntry, SYSTEM_ACTOR } from '../storage/team/audit-log.ts';

/** Terminal input and output of a command. */
export interface Terminal {
  /** Returns standard input, without the last line break. */
  readInput(): Promise<string>;
  /** Reports progress on standard error. */
  report(text: string): void;
}

/** The dependencies of a command. */
export interface CommandContext extends Terminal {
  config: Config;
  log: Log;
  storage: Storage;
  /** Connects as the owner of the tables, who bypasses row-level security. */
  databaseUrl: DatabaseUrl;
  seals: Seals;
  now: Date;
}

/** The created or changed object, as printed. */
interface AuditTarget {
  id: string;
  name?: string;
  email?: string;
}

/** Records an action in a tenant's audit log. The actor is `command line`, since the person is unknown. */
export const auditByCommand = (tenant: TenantStorage, action: Action, target: AuditTarget, now: Date): Promise<void> =>
  insertAuditEntry(
    tenant,
    {
      ...SYSTEM_ACTOR,
      actor_name: 'command line',
      action,
      target_id: target.id,
      target_name: target.name ?? target.email ?? null,
      fields: [],
    },
    now,
  );

/** Changes a tenant and records the audit entry in one transaction. Returns the object that `act` shows. */
export const withAuditEntry = <T extends AuditTarget>(
  { storage, now }: CommandContext,
  action: Action,
  act: (storage: Storage) => Promise<{ tenantId: string; shown: T }>,
): Promise<T> =>
  storage.inTransaction(async transaction => {
    const { tenantId, shown } = await act(transaction);
    await auditByCommand(transaction.forTenant(tenantId), action, shown, now);
    return shown;
  });

/** Runs a command against the database, which may be the running embedded one. Returns the object to print. */
export async function withStorage<T>(
  config: Config,
  log: Log,
  { readInput, report }: Terminal,
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
        readInput,
        report,
      });
    } finally {
      await storage.close();
    }
  } finally {
    await database.stop();
  }
}
