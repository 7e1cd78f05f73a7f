import type { Client } from 'pg';
import { withClient } from '../platform/postgres-client.ts';

/** Identifies a PostgreSQL session, on any server. */
const SESSION = "select concat(pid, ' ', backend_start) as session from pg_stat_activity where pid = pg_backend_pid()";

const TRIES = 3;

const readSession = async (client: Client): Promise<string> =>
  (await client.query<{ session: string }>(SESSION)).rows[0]?.session ?? '';

/**
 * Whether a pooler assigns PostgreSQL sessions per transaction.
 *
 * Two connections each query their session twice. Behind such a pooler, the second result differs, or equals the other
 * connection's. A role or LISTEN set on one connection would then apply to others, and the connection would act as its
 * own user, without row-level security.
 */
export const isPooledByTransaction = (url: string): Promise<boolean> =>
  withClient(url, first =>
    withClient(url, async second => {
      for (let tries = 0; tries < TRIES; tries++) {
        const sessions = [await readSession(first), await readSession(first), await readSession(second)];
        if (sessions[0] !== sessions[1] || sessions[1] === sessions[2]) return true;
      }
      return false;
    }),
  );

/** The remedy for such a pooler. */
export const POOLED_BY_TRANSACTION =
  'a pooler is in transaction mode: switch it to session mode, or connect to PostgreSQL directly';
