import { setTimeout as sleep } from 'node:timers/promises';
import { parseTypeId } from '../../../src/domain/ids.ts';
import type { ClientReply } from '../client.ts';
import { percentile, tally } from '../load.ts';
import { type Scenario, VALKEY_ONLY } from '../scenario.ts';
import type { FaultTenant, World } from '../world.ts';

interface Read {
  ms: number;
  status: number;
  retryAfter: boolean;
  code: string | undefined;
}

const codeOf = ({ status, body }: ClientReply): string | undefined =>
  status >= 400 ? (JSON.parse(body) as { code?: string }).code : undefined;

/** Reads a path repeatedly on several connections until stopped; pauses after a rejection. */
function startReading(world: World, tenant: FaultTenant, path: string, lanes: number, pauseMs: number) {
  const reads: Read[] = [];
  let stopped = false;
  const lane = async () => {
    while (!stopped) {
      const startedAt = Date.now();
      const reply = await world.request(`${world.apis()[0]}${path}`, { as: tenant.apiKey, timeoutMs: 30_000 });
      const retryAfter = Number(reply.headers['retry-after'] ?? 0);
      reads.push({
        ms: Date.now() - startedAt,
        status: reply.status,
        retryAfter: retryAfter > 0,
        code: codeOf(reply),
      });
      await sleep(reply.status === 503 ? Math.max(pauseMs, 100) : pauseMs); // shorter than `Retry-After`
    }
  };
  const ended = Promise.all(Array.from({ length: lanes }, lane));
  return {
    async stop() {
      stopped = true;
      await ended;
      return reads;
    },
  };
}

const p99 = (replies: readonly { ms: number }[]): number =>
  percentile(
    replies.map(({ ms }) => ms),
    0.99,
  );

/** Measures a quiet tenant's lists and answers. */
async function measureQuiet(world: World, quiet: FaultTenant, forMs: number) {
  const lists = startReading(world, quiet, '/v1/answers', 2, 50);
  const intake = world.load({ batch: 5, lanes: 5, perSecond: 10, senders: [quiet], retries: false });
  await sleep(forMs);
  await intake.stop();
  return { lists: await lists.stop(), intake: intake.replies };
}

/** Stores answers of a tenant directly. Delete them before the verdict, because the ledger does not contain them. */
export const addAnswers = (world: World, { uuid, questionId }: FaultTenant, count: number) =>
  world.query(
    `insert into answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision,
       state, "values", comment, metadata, content_hash, received_at, stored_at, updated_at, tags)
     select $1, gen_random_uuid(), 'user' || number % 1000, true, gen_random_uuid(), $2, 1, 1, 'completed',
       '{"main": 9}', repeat('words ', 20), '{}', '', now() - number * interval '1 second', now(), now(), '{}'
     from generate_series(1, $3::int) as number`,
    [uuid, parseTypeId('question', questionId), count],
  );

export const noisyReader: Scenario = {
  id: 'R43',
  title: 'a tenant that searches without end beside a quiet one',
  load: 'tenant A 200 searches at once in 300,000 answers of its own, tenant B lists and 10 requests/s of 5 answers, for 60 s',
  faults: 'A against the connections of the database',
  backends: VALKEY_ONLY,
  exclusive: true,
  async run(world) {
    await world.start('serve');
    await world.start('work');
    const [noisy, quiet] = [await world.addTenant(), await world.addTenant()];
    const forMs = world.sized(60_000, 8000);
    const baseline = await measureQuiet(world, quiet, world.sized(20_000, 5000));
    // Rows written directly for A are not in the ledger, so they are deleted before the verdict.
    await addAnswers(world, noisy, world.sized(300_000, 50_000));
    await world.query('analyze answers');
    for (const searches of [20, 200]) {
      const searching = startReading(world, noisy, '/v1/answers?q=zebra', searches, 0);
      const loaded = await measureQuiet(world, quiet, forMs);
      const found = await searching.stop();
      const of = (name: 'lists' | 'intake') =>
        `${name} p99 ${p99(loaded[name])} ms, baseline ${p99(baseline[name])} ms (${(p99(loaded[name]) / p99(baseline[name])).toFixed(1)} ×)`;
      const codes = Map.groupBy(found, ({ status, code }) => code ?? String(status));
      const spread = [...codes].map(([code, reads]) => `${reads.length} × ${code}`).join(', ');
      world.note(`beside ${searches} searches: ${of('lists')}; ${of('intake')}; searches: ${spread}`);
      world.must(
        `beside ${searches} searches no list of the quiet tenant is refused`,
        loaded.lists.every(({ status }) => status === 200),
        loaded.lists.filter(({ status }) => status !== 200).map(({ code }) => code),
      );
      world.must(
        `beside ${searches} searches every answer of it is taken`,
        loaded.intake.every(({ status }) => status === 202),
        tally(loaded.intake),
      );
      world.must(
        `beside ${searches} searches its lists take at most 1 s (p99)`,
        p99(loaded.lists) <= 1000,
        of('lists'),
      );
      world.must(
        `beside ${searches} searches its answers take at most 1 s (p99)`,
        p99(loaded.intake) <= 1000,
        of('intake'),
      );
      const refused = found.filter(({ status }) => status !== 200);
      world.must(
        'what is refused is 503 and says when to come again',
        refused.every(({ status, retryAfter }) => status === 503 && retryAfter),
        spread,
      );
      world.must('no search takes longer than 5 s', Math.max(...found.map(({ ms }) => ms)) <= 5000);
    }
    await world.query('delete from answers where tenant_id = $1', [noisy.uuid]);
    await world.drained();
  },
};
