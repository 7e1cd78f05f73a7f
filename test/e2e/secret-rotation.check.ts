import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSeals } from '../../src/platform/secrets.ts';
import { totpCode, totpStep } from '../../src/platform/totp.ts';
import { tallySealed } from '../../src/storage/database/sealed.ts';
import { createApi, requestTo, type TestApi, waitFor } from '../support/api.ts';
import { newSecretKey } from '../support/keychain.ts';
import { expectKept, sendAnswers } from '../support/load.ts';
import { answerTo, claimToken, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { makeMember, PASSWORD } from '../support/person.ts';
import { freePort, runCommand, startProcess, type TestProcess } from '../support/process.ts';
import { diagnose } from '../support/roles.ts';

/** The credentials and tokens of an installation's clients, and checks that they all still work at a process. */
async function makeHolders(api: TestApi, tenant: TestTenant) {
  const question = await publishQuestion(api, tenant);
  await publishQuestion(api, tenant);
  const [token, publicToken] = [await tenant.sign('user|42'), await claimToken(api, tenant, 'user|42')];
  const idsOfCards = async (request: TestApi['request'], as: string) => {
    const { status, body } = await request('GET', '/v1/cards', { as });
    expect({ status, body }).toMatchObject({ status: 200 });
    return (body.data as { id: string }[]).map(({ id }) => id);
  };
  const cards = (await api.request('GET', '/v1/cards', { as: token })).body.data;
  const ids = [await idsOfCards(api.request, token), await idsOfCards(api.request, publicToken)];

  const owner = await makeMember(api, tenant, 'owner');
  const enrolled = await api.request('POST', '/v1/me/totp', { headers: owner.headers, body: { password: PASSWORD } });
  const codeOf = (steps: number) => totpCode(enrolled.body.secret, totpStep(new Date()) + steps);
  const confirmed = await api.request('POST', '/v1/me/totp/confirm', {
    headers: owner.headers,
    body: { totp: codeOf(-1) },
  });
  const recoveryCodes = confirmed.body.recovery_codes as string[];
  const firstPage = await api.request('GET', '/v1/questions?limit=1', { as: tenant.key.apiKey });
  const makeKey = (request: TestApi['request']) =>
    request('POST', '/v1/api-keys', {
      headers: { ...owner.headers, 'Idempotency-Key': 'one' },
      body: { name: 'made once' },
    });
  const made = (await makeKey(api.request)).body;

  const logIn = async (request: TestApi['request'], totp: string) =>
    (await request('POST', '/v1/session', { body: { email: owner.email, password: PASSWORD, totp } })).status;

  /** Cards, tokens, a cursor, a session that writes, and a stored idempotent reply, at any process. */
  const expectHeld = async (baseUrl: string) => {
    const request = requestTo(baseUrl);
    expect([await idsOfCards(request, token), await idsOfCards(request, publicToken)]).toEqual(ids);
    const next = `/v1/questions?limit=1&cursor=${firstPage.body.next_cursor}`;
    expect((await request('GET', next, { as: tenant.key.apiKey })).status).toBe(200);
    const written = await request('PATCH', '/v1/me', { headers: owner.headers, body: { name: randomUUID() } });
    expect(written.status).toBe(200);
    expect((await makeKey(request)).body).toEqual(made);
    expect((await request('GET', '/v1/cards', { as: await tenant.sign('user|42') })).status).toBe(200);
    expect((await request('GET', '/v1/ingestion', { as: made.api_key })).status).toBe(200);
  };
  return { question, token, cards, codeOf, recoveryCodes, logIn, expectHeld };
}

/** Enough API keys under the former key that their rotation can be interrupted. */
const addKeys = (api: TestApi, tenant: TestTenant, count: number) => {
  const ids = Array.from({ length: count }, () => randomUUID());
  return api.database.query(
    `insert into api_keys (tenant_id, id, name, kind, scopes, allowed_origins, secret_sealed, hint, created_at)
     select $1, id, 'key', 'public', '{}', '{}', sealed, '', now() from unnest($2::uuid[], $3::bytea[]) as new (id, sealed)`,
    [tenant.uuid, ids, ids.map(id => api.seals.seal('secret', id))],
  );
};

/** Two APIs and a worker that can be restarted on their ports with other settings. */
async function startDeployment(environment: Record<string, string>) {
  const places = await Promise.all(
    ['serve', 'serve', 'work'].map(async role => ({
      role,
      ports: { PORT: String(await freePort()), METRICS_PORT: String(await freePort()) },
    })),
  );
  const start = async (place: number, environment: Record<string, string>) => {
    const { role, ports } = places[place] as (typeof places)[number];
    const process = await startProcess(role, { ...environment, ...ports });
    await process.awaitProbe('/readyz');
    return process;
  };
  const running: TestProcess[] = [];
  for (const place of places.keys()) running.push(await start(place, environment));
  return {
    apis: running.slice(0, 2).map(({ baseUrl }) => baseUrl),
    /** Restarts one process after the other, with a check after each; until the end, some have the former settings. */
    async roll(environment: Record<string, string>, check: () => Promise<void>): Promise<void> {
      for (const place of places.keys()) {
        const process = running[place] as TestProcess;
        process.kill('SIGTERM');
        expect(await process.exited).toBe(0);
        running[place] = await start(place, environment);
        await check();
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(running.map(each => each[Symbol.asyncDispose]()));
    },
  };
}

/** The doctor's findings about the secret key. */
async function findingsOf(environment: Record<string, string>): Promise<string[]> {
  const { checks } = await diagnose(environment);
  return checks.filter(({ name }) => name.includes('secret key')).map(({ ok, detail }) => `${ok}: ${detail}`);
}

test('the secret key is rotated under load by the documented steps, and all credentials stay valid', async () => {
  const [former, current] = [newSecretKey(), newSecretKey()];
  await using setup = await createApi({ secretKey: former });
  const tenant = await makeTenant(setup);
  const held = await makeHolders(setup, tenant);
  await addKeys(setup, tenant, 3000);

  const shared = { DATABASE_URL: setup.database.url, BASE_URL: setup.config.BASE_URL };
  const steps = {
    before: { ...shared, SECRET_KEY: former },
    announced: { ...shared, SECRET_KEY: former, SECRET_KEY_OTHERS: current },
    swapped: { ...shared, SECRET_KEY: current, SECRET_KEY_OTHERS: former },
    after: { ...shared, SECRET_KEY: current },
  };
  await using deployment = await startDeployment(steps.before);
  const { apis } = deployment;
  const expectHeld = async () => {
    for (const baseUrl of apis) await held.expectHeld(baseUrl);
  };
  const roll = (environment: Record<string, string>) => deployment.roll(environment, expectHeld);
  const both = createSeals({ current, others: [former] });

  await expectHeld();
  await setup.close();
  const sender = sendAnswers(apis, tenant.key.apiKey, held.question.id, 2);
  await roll(steps.announced);
  expect(await findingsOf(steps.announced)).toEqual([
    'true: decrypts all stored secrets',
    expect.stringMatching(/^true: no stored secret requires key 1 /),
  ]);
  await roll(steps.swapped);
  const first = requestTo(apis[0] as string);
  expect(await held.logIn(first, held.codeOf(0))).toBe(200);
  expect(await held.logIn(first, held.recoveryCodes[0] as string)).toBe(200);
  expect(await findingsOf(steps.swapped)).toEqual([
    expect.stringMatching(/^false: \d+ stored secrets still require key 1 /),
  ]);
  expect(await findingsOf(steps.after)).toEqual([expect.stringMatching(/^false: does not decrypt 3\d+ of 3\d+ /)]);

  const killed = await startProcess('secrets rotate', steps.swapped);
  await waitFor(async () => ((await tallySealed(setup.database.url, both)).byKey[0] ?? 0) > 100);
  killed.kill('SIGKILL');
  expect(await killed.exited).toBe('SIGKILL');
  const [done = 0, left = 0] = (await tallySealed(setup.database.url, both)).byKey;
  expect(left).toBeGreaterThan(0);
  await expectHeld();
  const rotated = JSON.parse((await runCommand(['secrets', 'rotate'], steps.swapped)).stdout);
  expect(rotated).toEqual({ renewed: left, untouched: done, unreadable: 0 });
  await expectHeld();
  expect(await findingsOf(steps.swapped)).toEqual([
    'true: decrypts all stored secrets',
    expect.stringMatching(/^true: no stored secret requires key 1 /),
  ]);
  await roll(steps.after);
  expect(await findingsOf(steps.after)).toEqual(['true: decrypts all stored secrets']);
  expect(await held.logIn(first, held.codeOf(1))).toBe(200);
  expect(await held.logIn(first, held.recoveryCodes[1] as string)).toBe(200);

  const ledger = await sender.stop();
  const answer = answerTo(held.cards[0]);
  expect((await first('POST', '/v1/answers', { as: held.token, body: { answers: [answer] } })).status).toBe(202);
  const storedIds = async () =>
    (await setup.database.query<{ id: string }>('select id from answers')).map(({ id }) => id);
  await waitFor(async () => (await storedIds()).includes(answer.id));
  await waitFor(async () => ledger.acknowledged.isSubsetOf(new Set(await storedIds())));
  expectKept(
    ledger,
    (await storedIds()).filter(id => id !== answer.id),
  );
}, 600_000);

test('a process with the wrong secret key reports it, is not ready, and changes nothing', async () => {
  await using api = await createApi();
  await makeTenant(api);
  const wrong = { DATABASE_URL: api.database.url, SECRET_KEY: newSecretKey() };
  const kept = await api.database.query('select * from lasting_keys order by purpose');
  await using process = await startProcess('serve', wrong);
  await waitFor(() => process.output().includes('neither SECRET_KEY nor SECRET_KEY_OTHERS decrypts'));
  expect((await fetch(`${process.baseUrl}/readyz`)).status).toBe(503);
  expect(await api.database.query('select * from lasting_keys order by purpose')).toEqual(kept);
});
