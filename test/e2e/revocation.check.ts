import { v7 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { backends, createApi, environmentOf, requestTo, waitFor } from '../support/api.ts';
import { anAnswer, makeTenant, publishQuestion, uuidOfKey } from '../support/make.ts';
import { startProcess } from '../support/process.ts';
import { createProxy } from '../support/proxy.ts';

/** Longer than the 60 s for which keys are accepted without updates, plus the 60 s of leeway after a revocation. */
const WITHIN_MS = 90_000;

describe.runIf(backends().includes('valkey'))('an API that lost PostgreSQL but not Valkey', () => {
  test('rejects keys after 60 s unless another process relays, and answers of a revoked key are quarantined', async () => {
    await using setup = await createApi({ backend: 'valkey' });
    const tenant = await makeTenant(setup);
    const question = await publishQuestion(setup, tenant);
    const [stolen, good] = [await tenant.addKey(), tenant.key];
    const tokens = { stolen: await tenant.sign('user|1', { key: stolen }), good: await tenant.sign('user|2') };
    const environment = environmentOf(setup);
    await using proxy = await createProxy(setup.database.url);
    await using cutOff = await startProcess('serve', {
      ...environment,
      DATABASE_URL: proxy.through(setup.database.url),
    });
    await using relay = await startProcess('serve', environment);
    await using worker = await startProcess('work', environment);
    await Promise.all([cutOff, relay, worker].map(role => role.awaitProbe('/readyz')));
    const readyAt = Date.now();
    await setup.close(); // it relays too
    const ask = requestTo(cutOff.baseUrl);
    const me = async (token: string) => (await ask('GET', '/v1/me', { as: token })).status;
    const send = async (as: string, fields: object) => {
      const id = v7();
      const body = { answers: [anAnswer({ id, question_id: question.id, ...fields })] };
      const sent = await waitFor(async () => {
        const reply = await ask('POST', '/v1/answers', { as, body });
        return reply.status === 503 ? undefined : reply; // a busy machine: retry, as every client does
      });
      expect([sent.status, sent.body.results[0].status]).toEqual([202, 'accepted']);
      return id;
    };
    const query = setup.database.query;
    for (const { apiKey } of [stolen, good]) await send(apiKey, { identity: 'user|0' });
    for (const token of Object.values(tokens)) expect(await me(token)).toBe(200);

    // While another process is connected to PostgreSQL, the one that is cut off keeps working and receives a revocation
    // within a second.
    await waitFor(() => Date.now() - readyAt > 7000); // past the first check of each process, so that earlier events count as a gap
    proxy.cut();
    const relayed = await tenant.addKey();
    const cutAt = Date.now();
    await waitFor(() => Date.now() - cutAt > 65_000, WITHIN_MS);
    expect(await me(tokens.good)).toBe(200);
    expect((await ask('GET', '/v1/me', { as: await tenant.sign('user|3', { key: relayed }) })).status).toBe(503);

    // Without any connected process, revocations do not arrive: keys are rejected, except for the intake of answers.
    relay.kill('SIGKILL');
    await relay.exited;
    await query('update api_keys set revoked_at = now() where id = $1', [uuidOfKey(stolen)]);
    const revokedAt = Date.now();
    const early = await send(stolen.apiKey, { identity: 'user|1' });
    await waitFor(async () => (await me(tokens.good)) === 503, WITHIN_MS);
    expect(Date.now() - revokedAt).toBeLessThan(WITHIN_MS);
    expect(await me(tokens.stolen)).toBe(503);
    expect((await ask('GET', '/v1/questions', { as: good.apiKey })).status).toBe(503);
    await waitFor(() => Date.now() - revokedAt > 61_000, WITHIN_MS);
    const late = await send(stolen.apiKey, { identity: 'user|1' });
    const kept = await send(good.apiKey, { identity: 'user|2' });

    const stored = async () => (await query<{ id: string }>('select id from answers')).map(({ id }) => id);
    const quarantined = () => query('select answer_id, reason from quarantined_answers');
    await waitFor(async () => (await stored()).includes(kept) && (await quarantined()).length > 0, 20_000);
    expect(await stored()).toContain(early);
    expect(await stored()).not.toContain(late);
    expect(await quarantined()).toEqual([{ answer_id: late, reason: 'key-revoked' }]);

    proxy.mend();
    await waitFor(async () => (await me(tokens.good)) === 200, 30_000);
    expect(await me(tokens.stolen)).toBe(401);
    const body = { answers: [anAnswer({ question_id: question.id, identity: 'user|1' })] };
    expect((await ask('POST', '/v1/answers', { as: stolen.apiKey, body })).status).toBe(401);
  }, 300_000);
});
