/** How long a migration's statement waits for a lock: all later statements in the lock's queue wait as well. */
export const LOCK_TIMEOUT = '2s';

/**
 * Statements that make an index without keeping anybody from writing, for a migration that is not transactional.
 *
 * They may run again: an index that an earlier attempt left behind invalid is dropped first. That locks the table, so it
 * waits no longer than `LOCK_TIMEOUT` for an attempt that is still being undone. Only while the index is created a lock may
 * be waited for as long as it takes: PostgreSQL waits for every older transaction, and nothing waits behind it.
 */
export const createIndexConcurrently = (name: string, definition: string, kind: 'unique' | '' = ''): string[] => [
  `set lock_timeout = '${LOCK_TIMEOUT}'`,
  `do $$ begin
     if exists (select from pg_index where indexrelid = to_regclass('${name}') and not indisvalid) then
       drop index if exists ${name};
     end if;
   end $$`,
  'set lock_timeout = 0',
  `create ${kind} index concurrently if not exists ${name} on ${definition}`,
  `set lock_timeout = '${LOCK_TIMEOUT}'`,
];

/**
 * Statements that drop an index without blocking writes, for a migration that is not transactional. They may run again.
 *
 * They too wait for every older transaction, while no other statement waits for them.
 */
export const dropIndexConcurrently = (name: string): string[] => [
  'set lock_timeout = 0',
  `drop index concurrently if exists ${name}`,
  `set lock_timeout = '${LOCK_TIMEOUT}'`,
];
