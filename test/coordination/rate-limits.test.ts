import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openRateLimits } from '../../src/coordination/rate-limits.ts';
import { createLog } from '../../src/platform/log.ts';
import { createDatabase } from '../support/database.ts';
import { waitFor } from '../support/wait.ts';

const LIMIT = { scope: 'identity', limit: 10, windowSeconds: 86_400 };
/** Within this time everything that was counted is sent. */
const ALL_SENT_MS = 1500;

test('what goes beyond a limit costs the store nothing more, and is refused by every process', async () => {
  await using database = await createDatabase();
  const log = createLog('silent', 'test');
  const [first, second] = [
    openRateLimits(database.url, undefined, log),
    openRateLimits(database.url, undefined, log),
  ] as const;
  const stored = async () =>
    Number((await database.query<{ count: string }>('select sum(count) as count from rate_counters'))[0]?.count);

  for (let taken = 1; taken <= LIMIT.limit; taken++) expect(first.take(LIMIT, 'busy').allowed).toBe(true);
  await waitFor(async () => (await stored()) === LIMIT.limit);
  await sleep(ALL_SENT_MS); // until its total was heard
  for (let taken = 0; taken < 100; taken++)
    expect(first.take(LIMIT, 'busy')).toMatchObject({ allowed: false, remaining: 0 });
  await sleep(ALL_SENT_MS);
  expect(await stored()).toBe(LIMIT.limit);

  await waitFor(() => !second.take(LIMIT, 'busy').allowed);
  await Promise.all([first.close(), second.close()]);
});
