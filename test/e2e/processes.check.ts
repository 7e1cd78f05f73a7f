import { Agent, get, type IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { backends, createApi, environmentOf, type TestApi, waitFor } from '../support/api.ts';
import { expectKept, sendAnswers } from '../support/load.ts';
import { makeTenant, publishQuestion } from '../support/make.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { createProxy } from '../support/proxy.ts';

const storedIds = async (api: TestApi): Promise<string[]> =>
  (await api.database.query<{ id: string }>('select id from answers')).map(row => row.id);

/** Two APIs and this number of workers on the stores of `setup`, and a sender of answers to both APIs. */
async function startRoles(setup: TestApi, workerCount: number) {
  const tenant = await makeTenant(setup);
  const question = await publishQuestion(setup, tenant);
  const start = (role: string) => startProcess(role, environmentOf(setup));
  await using stack = new AsyncDisposableStack();
  const startAll = async (role: string, count: number) => {
    const started: TestProcess[] = [];
    while (started.length < count) started.push(stack.use(await start(role)));
    return started;
  };
  const apis = await startAll('serve', 2);
  const workers = await startAll('work', workerCount);
  await Promise.all([...apis, ...workers].map(each => each.awaitProbe('/readyz')));
  const kept = stack.move();
  return {
    apis: apis as [TestProcess, TestProcess],
    worker: workers[0] as TestProcess,
    key: tenant.key.apiKey,
    start,
    send: () =>
      sendAnswers(
        apis.map(api => api.baseUrl),
        tenant.key.apiKey,
        question.id,
      ),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

const reply = (url: string, agent: Agent): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => get(url, { agent }, got => resolve(got.resume())).once('error', reject));

describe.each(backends())('with the queue in %s', backend => {
  test('two APIs and two workers stop in turn under load, and no request fails', async () => {
    await using setup = await createApi({ backend });
    await using roles = await startRoles(setup, 2);
    const {
      apis: [, secondApi],
      worker: firstWorker,
    } = roles;
    const sender = roles.send();
    await waitFor(() => sender.ledger.acknowledged.size > 100);
    firstWorker.kill('SIGTERM');
    expect(await firstWorker.exited).toBe(0);
    const before = sender.ledger.acknowledged.size;
    await waitFor(() => sender.ledger.acknowledged.size > before + 100);
    const ledger = await sender.stop();
    const refusals = Object.keys(ledger.refusals).filter(text => !text.startsWith('queue-unavailable')); // a busy store
    expect(refusals).toEqual([]);
    secondApi.kill('SIGTERM');
    expect(await secondApi.exited).toBe(0);

    await waitFor(async () => (await storedIds(setup)).length >= ledger.acknowledged.size);
    expectKept(ledger, await storedIds(setup));
  });

  test('kill -9 of an API and a worker under load neither loses nor duplicates an answer', async () => {
    await using setup = await createApi({ backend });
    await using roles = await startRoles(setup, 1);
    const {
      apis: [firstApi],
      worker: firstWorker,
    } = roles;
    const sender = roles.send();
    await waitFor(() => sender.ledger.acknowledged.size > 100);
    firstWorker.kill('SIGKILL');
    await waitFor(() => sender.ledger.acknowledged.size > 200);
    firstApi.kill('SIGKILL');
    const before = sender.ledger.acknowledged.size;
    await waitFor(() => sender.ledger.acknowledged.size > before + 100);
    const ledger = await sender.stop();
    await using secondWorker = await roles.start('work');
    await secondWorker.awaitProbe('/readyz');

    await waitFor(async () => {
      const { body } = await setup.request('GET', '/v1/ingestion', { as: roles.key });
      return body.queued === 0 && body.accepted === body.stored + body.repeated + body.quarantined;
    }, 300_000);
    expectKept(ledger, await storedIds(setup));
  });

  test('a request on a connection open at the SIGTERM is answered and closes the connection', async () => {
    await using setup = await createApi({ backend });
    await using server = await startProcess('serve', environmentOf(setup));
    await server.awaitProbe('/readyz');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const connections = () => agent.freeSockets[Object.keys(agent.freeSockets)[0] ?? '']?.length;
    expect((await reply(`${server.baseUrl}/v1/me`, agent)).headers.connection).toBe('keep-alive');
    await waitFor(() => connections() === 1);
    server.kill('SIGTERM');
    // Replies are normal until the process handles the signal; the next one closes the connection, without a failed
    // request.
    await waitFor(async () => (await reply(`${server.baseUrl}/v1/me`, agent)).headers.connection === 'close');
    expect(await server.exited).toBe(0);
  });

  test('each role stops within its deadline of SIGTERM although its stores are unresponsive', async () => {
    await using setup = await createApi({ backend });
    await using database = await createProxy(setup.database.url);
    await using redis = await createProxy(setup.config.REDIS_URL ?? setup.database.url);
    const environment = {
      ...environmentOf(setup),
      DATABASE_URL: database.through(setup.database.url),
      ...(setup.config.REDIS_URL ? { REDIS_URL: redis.through(setup.config.REDIS_URL) } : {}),
    };
    const roles = await Promise.all(['serve', 'work'].map(role => startProcess(role, environment)));
    await Promise.all(roles.map(role => role.awaitProbe('/readyz')));
    database.freeze();
    redis.freeze();
    const startedAt = Date.now();
    for (const role of roles) role.kill('SIGTERM');
    const codes = await Promise.all(roles.map(role => role.exited));
    expect(Date.now() - startedAt).toBeLessThan(40_000); // the deadline is 18 s
    for (const code of codes) expect([0, 1]).toContain(code);
  });

  test('roles that start before their stores wait, and then become ready', async () => {
    await using setup = await createApi({ backend });
    await using database = await createProxy(setup.database.url);
    database.cut();
    const environment = { ...environmentOf(setup), DATABASE_URL: database.through(setup.database.url) };
    await using api = await startProcess('serve', environment);
    await using worker = await startProcess('work', environment);
    await api.awaitProbe('/livez');
    await api.awaitProbe('/readyz', 503);
    await worker.awaitProbe('/readyz', 503);
    const tells = async ({ metricsUrl }: TestProcess, line: string) =>
      (await fetch(`${metricsUrl}/metrics`).then(reply => reply.text(), String)).includes(`\n${line}\n`);
    for (const role of [api, worker]) await waitFor(() => tells(role, 'parley_ready 0'));
    database.mend();
    await api.awaitProbe('/readyz');
    await worker.awaitProbe('/readyz');
    for (const role of [api, worker]) await waitFor(() => tells(role, 'parley_ready 1'));
  });
});
