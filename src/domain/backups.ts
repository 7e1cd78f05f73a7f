import { z } from 'zod';

/** What a backup contains, as stored in its `backup.json`. */
export const BackupDescription = z.object({
  /** Version of Parley that made it. */
  parley: z.string(),
  /** Version of the schema in the dump. */
  schema: z.int(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime(),
  /** Every answer that was acknowledged before this time is in the backup. */
  complete_until: z.iso.datetime(),
  queue: z.enum(['in queue.rdb', 'in the database']),
  files: z.record(z.string(), z.object({ bytes: z.int(), sha256: z.string() })),
});
export type BackupDescription = z.infer<typeof BackupDescription>;
