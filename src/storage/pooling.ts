import type { Client } from 'pg';
import { withClient } from '../platform/postgres-client.ts';

/** Tells one session of PostgreSQL from all others, on whichever server it is. */
const SESSION = "select concat(pid, ' ', backend_start) as session from pg_stat_activity where pid = pg_backend_pid()";

const TRIES = 3;

const askSession = async (client: Client): Promise<string> =>
  (await client.query<{ session: string }>(SESSION)).rows[0]?.session ?? '';

/**
 * Whether a pooler hands out PostgreSQL's sessions for a transaction at a time.
 *
 * Each of two connections asks twice which session it is in: it then finds another one the second time, or the same as
 * the other. A role or a listening that was set on one connection would be a stranger's, and the connection act as its
 * own user, whom no row-level security binds.
 */
export const isPooledByTransaction = (url: string): Promise<boolean> =>
  withClient(url, first =>
    withClient(url, async second => {
      for (let tries = 0; tries < TRIES; tries++) {
        const sessions = [await askSession(first), await askSession(first), await askSession(second)];
        if (sessions[0] !== sessions[1] || sessions[1] === sessions[2]) return true;
      }
      return false;
    }),
  );

/** What is to be done about such a pooler. */
export const POOLED_BY_TRANSACTION =
  'a pooler is in transaction mode: switch it to session mode, or connect to PostgreSQL directly';
