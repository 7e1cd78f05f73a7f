import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { backends, createApi, createWorker, type TestApi, waitFor } from '../support/api.ts';
import { runHere } from '../support/command-line.ts';
import { anAcceptedAnswer, makeTenant } from '../support/make.ts';

/** Quarantines valid answers of a tenant and returns their ids. */
async function quarantine(api: TestApi, tenant_id: string, count: number, reason = 'unprocessable'): Promise<string[]> {
  const answers = Array.from({ length: count }, () => anAcceptedAnswer({ tenant_id }));
  for (const answer of answers)
    await api.database.query(
      `insert into quarantined_answers (tenant_id, id, answer_id, reason, detail, payload, quarantined_at)
       values ($1, $2, $3, $5, 'the cell ended', $4, now())`,
      [tenant_id, randomUUID(), answer.id, JSON.stringify(answer), reason],
    );
  return answers.map(({ id }) => id).sort();
}

describe.each(backends())('with the queue in %s', backend => {
  test("an operator lists and replays one tenant's quarantine without an API key", async () => {
    await using api = await createApi({ backend });
    await using _worker = await createWorker(api);
    const [tenant, other] = [await makeTenant(api), await makeTenant(api)];
    const ids = await quarantine(api, tenant.uuid, 101);
    await quarantine(api, other.uuid, 1);
    const { REDIS_URL } = api.config;
    const environment = {
      DATABASE_URL: api.database.url,
      SECRET_KEY: api.secretKey,
      ...(REDIS_URL ? { REDIS_URL } : {}),
    };
    const parley = (...args: string[]) => runHere(['quarantine', ...args, '--tenant', tenant.id], environment);
    const list = async () => JSON.parse((await parley('list')).stdout).data as { id: string; answer_id: string }[];

    const entries = await list();
    expect(entries.map(entry => entry.answer_id).sort()).toEqual(ids);
    expect(entries[0]).toMatchObject({ id: expect.stringMatching(/^quarantine_/), reason: 'unprocessable' });
    const [first] = entries as [{ id: string; answer_id: string }];
    expect(JSON.parse((await parley('replay', '--id', first.id)).stdout)).toEqual({ replayed: [first.id] });
    const storedIds = async () =>
      (await api.database.query<{ id: string }>('select id from answers')).map(({ id }) => id);
    await waitFor(async () => (await storedIds()).length === 1);
    expect(await storedIds()).toEqual([first.answer_id]);

    expect(JSON.parse((await parley('replay')).stdout).replayed).toHaveLength(100);
    await waitFor(async () => (await storedIds()).length === 101);
    expect((await storedIds()).sort()).toEqual(ids);
    expect(await list()).toEqual([]);
    expect(await api.database.query('select tenant_id from quarantined_answers')).toEqual([{ tenant_id: other.uuid }]);
    const [lines] = await api.database.query(
      `select count(*)::int as count, count(distinct target_id)::int as targets from audit_log
       where tenant_id = $1 and action = 'quarantine.replayed' and actor_name = 'command line'`,
      [tenant.uuid],
    );
    expect(lines).toEqual({ count: 101, targets: 101 });
    const [revoked] = await quarantine(api, tenant.uuid, 1, 'key-revoked');
    expect(JSON.parse((await parley('replay')).stdout)).toEqual({ replayed: [] });
    const [entry] = (await list()) as [{ id: string; answer_id: string }];
    expect(entry.answer_id).toBe(revoked);
    expect(JSON.parse((await parley('replay', '--id', entry.id)).stdout)).toEqual({ replayed: [entry.id] });
    await waitFor(async () => (await storedIds()).length === 102);
    for (const id of [first.id, 'x']) {
      const gone = await parley('replay', '--id', id);
      expect([gone.code, gone.stdout]).toEqual([1, '']);
    }
  }, 300_000);
});
