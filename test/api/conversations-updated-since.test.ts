import { Client } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createIncrementalReads } from '../../src/api/watch/incremental-reads.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createApi, type TestApi, waitFor } from '../support/api.ts';
import { type Body, conversationsOf, idsOf, uuidOf } from '../support/conversations.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, get, patch, markRead, start, write, list, readPages } = conversationsOf(() => api);

describe('reading incrementally', () => {
  test('returns later changes in order, to each side', async () => {
    const { user, team } = await makeParties();
    const first = (await start(user)).body;
    const second = (await start(user)).body;
    await write(team, first.id);
    const { updated_at: since } = second;
    for (const as of [team, user]) {
      const changed = await waitFor(async () => {
        const rows = await list(as, `?updated_since=${since}`);
        return rows.length === 2 && rows;
      });
      expect(idsOf(changed)).toEqual([second.id, first.id]);
    }
  });

  test('never skips an open write, and returns it once it commits', async () => {
    const { user, team } = await makeParties();
    const late = (await start(user)).body;
    await using writer = await openTransaction();
    const { rows: written } = await writer.query<{ at: Date }>(
      `update conversations set subject = 'late', updated_at = clock_timestamp(), team_updated_at = clock_timestamp()
       where id = $1 returning updated_at as at`,
      [uuidOf(late.id)],
    );
    const writtenAt = written[0]?.at.getTime() as number;
    const quick = (await start(user)).body;
    expect(Date.parse(quick.updated_at)).toBeGreaterThan(Date.parse(late.updated_at));
    const since = `?updated_since=${new Date(Date.parse(late.updated_at) + 1).toISOString()}`;
    for (const as of [team, user]) {
      const held = await get(as, `/v1/conversations${since}`);
      expect(held.body.data).toEqual([]); // an earlier change may still be committed
      expect(Date.parse(held.headers.get('Updated-Until') as string)).toBeLessThanOrEqual(writtenAt);
      expect(held.headers.get('Access-Control-Expose-Headers')).toContain('Updated-Until');
    }

    await writer.query('commit');
    for (const as of [team, user]) {
      const changed = await waitFor(async () => {
        const rows = await list(as, since);
        return rows.length === 2 && rows;
      });
      expect(idsOf(changed)).toEqual([late.id, quick.id]);
      expect(changed[0].subject).toBe('late');
    }
  });

  test('reports with `Updated-Until` which changes were included, only with `updated_since`', async () => {
    const { team, user } = await makeParties();
    expect((await get(team, '/v1/conversations')).headers.get('Updated-Until')).toBeNull();
    const { updated_at } = (await start(user)).body;
    const since = '/v1/conversations?limit=1&updated_since=2026-01-01T00:00:00.000Z';
    const whole = await waitFor(async () => {
      const reply = await get(team, since);
      return Date.parse(reply.headers.get('Updated-Until') as string) > Date.parse(updated_at) && reply;
    });
    expect(whole.body).toMatchObject({ has_more: false, data: [{ updated_at }] });
  });

  test('exports the age of an open write as a metric, and logs its session once a minute', async () => {
    await using writer = await openTransaction();
    await writer.query("set application_name = 'an operator'");
    await writer.query('select pg_current_xact_id()');
    const age = async () =>
      Number(/^parley_oldest_open_write_seconds (\S+)$/m.exec(await api.metrics.render())?.[1] ?? Number.NaN);
    await waitFor(async () => (await age()) > 0.05);

    const lines: Record<string, unknown>[] = [];
    const log = pino({ base: null }, { write: line => void lines.push(JSON.parse(line)) });
    let passed = 0;
    const reads = createIncrementalReads(api.database.storage(), createMetrics('serve'), log, {
      now: () => Date.now() + passed,
      reportedFromS: 0.05,
    });
    for (let round = 0; round < 3; round++) await reads.open(new Date());
    expect(lines).toMatchObject([{ application: 'an operator', pid: expect.any(Number), age_s: expect.any(Number) }]);
    passed = 61_000;
    for (let round = 0; round < 3; round++) await reads.open(new Date());
    expect(lines).toHaveLength(2);
    await writer.query('commit');
    await waitFor(async () => (await age()) < 0.05);
  });

  test('is not delayed by a read-only transaction', async () => {
    const { user, team } = await makeParties();
    await using reader = await openTransaction();
    await reader.query('select count(*) from conversations');
    const { id, updated_at } = (await start(user)).body;
    await waitFor(async () => idsOf(await list(team, `?updated_since=${updated_at}`)).includes(id));
  });

  test.each(['team', 'user'] as const)(
    '%s that continues from the last seen change ends with the current state',
    async side => {
      const parties = await makeParties();
      const as = parties[side];
      const known = new Map<string, Body>();
      let since = '2026-01-01T00:00:00.000Z';
      let writing = true;
      const catchUp = async () => {
        for (const row of await readPages(as, `/v1/conversations?limit=3&updated_since=${since}`)) {
          known.set(row.id as string, row);
          since = row.updated_at as string;
        }
      };
      const reader = (async () => {
        while (writing) await catchUp();
      })();
      const lane = async () => {
        for (let count = 0; count < 6; count++) {
          const { id } = (await start(parties.user)).body;
          await Promise.all([
            write(parties.team, id),
            write(parties.user, id),
            patch(parties.team, `/v1/conversations/${id}`, { subject: 'changed' }),
          ]);
          await markRead(parties.user, id, 2);
        }
      };
      await Promise.all([lane(), lane(), lane(), lane()]);
      writing = false;
      await reader;

      const final = new Map((await list(as, '?limit=100')).map((row: { id: string }) => [row.id, row]));
      expect(final.size).toBe(24);
      const newest = Math.max(
        ...[...final.values()].map(row => Date.parse((row as { updated_at: string }).updated_at)),
      );
      await waitFor(async () => {
        await catchUp();
        return Date.parse(since) === newest;
      });
      expect(Object.fromEntries(known)).toEqual(Object.fromEntries(final));
    },
  );
});

/** A transaction of the database owner, rolled back at the end of the scope unless committed. */
async function openTransaction(): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: api.database.url });
  await client.connect();
  await client.query('begin');
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
