import { randomBytes, randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import type { AcceptedAnswer } from '../src/domain/answers/answers.ts';
import { withClient } from '../src/platform/postgres-client.ts';
import { type Skew, skewedQuestions, skewedTenants } from './skewed.ts';
import { storeAnswers } from './store-steps.ts';

/** The cost of storing an answer. */
export interface Storing {
  /** Includes full-page images; measured from a checkpoint. */
  walBytes: number;
  perSecond: number;
}

/** The number of answers generated at a time. */
const PART = 20_000;
const IDENTITIES = 200_000;
const VOCABULARY = 200_000;
const COMMENT_CHARACTERS = 80;

const below = (limit: number): number => Math.floor(Math.random() * limit);

/** Words as frequent as in natural language: the n-th most frequent one occurs 1/n times as often as the first. */
const makeComment = (): string =>
  Array.from({ length: 20 }, () => `w${Math.floor(VOCABULARY ** Math.random())}`)
    .join(' ')
    .slice(0, COMMENT_CHARACTERS);

/** An answer of any identity of a tenant: four of five are the large tenant's. Every third has a comment. */
function makeAnswer(tenants: string[], randomIds: boolean): AcceptedAnswer {
  const now = new Date().toISOString();
  return {
    tenant_id: tenants[Math.random() < 0.8 ? 0 : below(tenants.length)] as string,
    id: randomIds ? randomUUID() : v7(),
    identity: `user|${below(IDENTITIES)}`,
    identity_verified: true,
    card_id: v7(),
    question_id: skewedQuestions[below(9)] as string,
    question_version: 1,
    revision: 1,
    state: 'completed',
    values: { main: 1 + below(5) },
    comment: Math.random() < 1 / 3 ? makeComment() : null,
    displayed_at: now,
    answered_at: now,
    duration_ms: 1500,
    metadata: { platform: 'ios', locale: 'en', app_version: '4.2.1' },
    content_hash: randomBytes(16).toString('base64url'),
    clock_skew_ms: 12,
    received_at: now,
  };
}

/** Stores `count` answers on top of those of a skewed database, starting at a checkpoint. */
export async function measureStoring(url: string, skew: Skew, count: number): Promise<Storing> {
  const tenants = skewedTenants(skew);
  await withClient(url, client => client.query('checkpoint'));
  const before = await readWalPosition(url);
  let seconds = 0;
  for (let stored = 0; stored < count; stored += PART) {
    const part = Array.from({ length: Math.min(PART, count - stored) }, () => makeAnswer(tenants, !!skew.randomIds));
    const startedAt = performance.now();
    await storeAnswers(url, part);
    seconds += (performance.now() - startedAt) / 1000;
  }
  return { walBytes: ((await readWalPosition(url)) - before) / count, perSecond: count / seconds };
}

/** Empties the pending list of the word index first, so that its WAL is included. */
const readWalPosition = (url: string): Promise<number> =>
  withClient(url, async client => {
    const { rows } = await client.query<{ bytes: string }>(
      "select gin_clean_pending_list('answer_words_found'), pg_current_wal_lsn() - '0/0' as bytes",
    );
    return Number(rows[0]?.bytes);
  });
