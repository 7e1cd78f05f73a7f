import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { backends, createApi, environmentOf, type TestApi, waitFor } from '../support/api.ts';
import { type CollectedSpan, type Collector, createCollector } from '../support/collector.ts';
import { anAnswer, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { freePort, startProcess } from '../support/process.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const QUERY = '?limit=7&tag=secret-tag';

/** Prints the importers of OpenTelemetry packages, except those packages themselves. */
const PRINT_IMPORTS = [
  '--import',
  `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module';
    registerHooks({ resolve(specifier, context, next) {
      const isTheirs = context.parentURL?.includes('/node_modules/@opentelemetry/');
      if (specifier.startsWith('@opentelemetry/') && !isTheirs)
        process.stderr.write('IMPORT ' + specifier + ' BY ' + context.parentURL + '\\n');
      return next(specifier, context);
    } });`)}`,
];

const importsIn = (output: string) =>
  [...output.matchAll(/^IMPORT (\S+) BY (\S+)$/gm)].map(([, specifier, by]) => ({ specifier, by }));

/** An API and a worker in separate processes on the stores of `setup`. */
async function startRoles(setup: TestApi, settings: Record<string, string>, nodeArgs: string[] = []) {
  const environment = {
    ...environmentOf(setup),
    OTEL_BSP_SCHEDULE_DELAY: '50',
    ...settings,
  };
  const roles = await Promise.all(['serve', 'work'].map(role => startProcess(role, environment, nodeArgs)));
  await Promise.all(roles.map(role => role.awaitProbe('/readyz')));
  const [api, worker] = roles as [(typeof roles)[0], (typeof roles)[0]];
  const stop = async () => {
    for (const role of roles) role.kill('SIGTERM');
    return Promise.all(roles.map(role => role.exited));
  };
  return {
    api,
    worker,
    stop,
    [Symbol.asyncDispose]: async () => void (await Promise.all(roles.map(role => role[Symbol.asyncDispose]()))),
  };
}

const tracedTo = ({ url }: Collector): Record<string, string> => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url });

async function post(baseUrl: string, tenant: TestTenant, answer: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${baseUrl}/v1/answers`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.key.apiKey}`, 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ answers: [answer] }),
  });
  expect(response.status).toBe(202);
}

const countStored = async (api: TestApi): Promise<number> =>
  (await api.database.query<{ id: string }>('select id from answers')).length;

const named = (spans: CollectedSpan[], name: string): CollectedSpan[] => spans.filter(span => span.name === name);
const only = (spans: CollectedSpan[], name: string): CollectedSpan => {
  expect(named(spans, name)).toHaveLength(1);
  return named(spans, name)[0] as CollectedSpan;
};

describe.each(backends())('with the queue in %s', backend => {
  test('a request, its flush, the storage and the statements are one trace, started by the caller', async () => {
    await using setup = await createApi({ backend });
    await using collector = await createCollector();
    const tenant = await makeTenant(setup);
    const question = await publishQuestion(setup, tenant);
    await using roles = await startRoles(setup, {
      ...tracedTo(collector),
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=let-me-in',
      OTEL_RESOURCE_ATTRIBUTES: 'service.namespace=staging',
      LOG_LEVEL: 'debug',
    });
    const answer = anAnswer({ question_id: question.id, identity: 'user|somebody', comment: 'what a person wrote' });
    await post(roles.api.baseUrl, tenant, answer, {
      traceparent: `00-${TRACE}-${CALLER}-01`,
      'X-Request-Id': 'request-1',
    });
    await fetch(`${roles.api.baseUrl}/v1/answers${QUERY}`, { headers: { Authorization: 'Bearer nonsense' } });
    await waitFor(async () => (await countStored(setup)) === 1);
    expect(await roles.stop()).toEqual([0, 0]);

    const spans = collector.spans.filter(({ traceId }) => traceId === TRACE);
    const request = only(spans, 'POST /v1/answers');
    const flush = only(spans, 'send answers');
    const job = only(spans, 'process answers');
    const store = only(spans, 'store answers');
    const insert = only(spans, 'INSERT answers');
    expect([request, flush, job, store, insert].map(({ parent }) => parent)).toEqual([
      CALLER,
      request.id,
      flush.id,
      job.id,
      store.id,
    ]);
    expect([request, flush, job, store, insert].map(({ kind }) => kind)).toEqual([2, 4, 5, 1, 3]);
    expect(only(spans, 'COMMIT').parent).toBe(store.id);
    expect(spans.filter(({ links }) => links.length > 0)).toEqual([]);
    expect(request.attributes).toMatchObject({
      'http.route': '/v1/answers',
      'http.request.method': 'POST',
      'http.response.status_code': 202,
      'parley.request_id': 'request-1',
    });
    expect(job.attributes['messaging.message.id']).toBe(flush.attributes['messaging.message.id']);
    expect([request, job].map(({ service }) => service)).toEqual(['parley-api', 'parley-worker']);
    expect(request.resource).toMatchObject({ 'service.namespace': 'staging', 'service.version': expect.any(String) });
    expect(collector.headers.every(sent => sent['x-key'] === 'let-me-in')).toBe(true);

    const refused = only(collector.spans, 'GET /v1/answers');
    expect(refused).toMatchObject({ parent: '', status: 0, attributes: { 'http.response.status_code': 401 } });
    expect(named(collector.spans, 'GET /readyz')).toEqual([]);
    const exported = JSON.stringify(collector.spans);
    for (const word of ['somebody', 'what a person wrote', 'secret-tag', 'nonsense', tenant.uuid, tenant.key.apiKey])
      expect(exported).not.toContain(word);

    const lines = roles.api
      .output()
      .split('\n')
      .filter(line => line.includes('"answered"'));
    expect(lines.filter(line => line.includes(`"trace_id":"${TRACE}"`))).toHaveLength(1);
  });

  test('requests in one flush are in the trace of one of them, linked both ways', async () => {
    await using setup = await createApi({ backend });
    await using collector = await createCollector();
    const tenant = await makeTenant(setup);
    const question = await publishQuestion(setup, tenant);
    await using roles = await startRoles(setup, { ...tracedTo(collector), OTEL_SERVICE_NAME: 'ours' });
    const answers = Array.from({ length: 60 }, (_, index) =>
      anAnswer({ question_id: question.id, identity: `user|${index}` }),
    );
    await Promise.all(answers.map(answer => post(roles.api.baseUrl, tenant, answer)));
    await waitFor(async () => (await countStored(setup)) === answers.length);
    await roles.stop();

    const { spans } = collector;
    const byId = new Map(spans.map(span => [span.id, span]));
    const groups = [...named(spans, 'send answers'), ...named(spans, 'store answers')];
    expect(groups.some(({ links }) => links.length > 0)).toBe(true);
    expect(groups.length).toBeLessThan(2 * answers.length);
    for (const group of groups) {
      expect(byId.get(group.parent)?.traceId).toBe(group.traceId);
      for (const { id } of group.links)
        expect(byId.get(id)?.links).toContainEqual({ traceId: group.traceId, id: group.id });
    }
    const flushes = named(spans, 'send answers');
    const reached = flushes.flatMap(flush => [flush.parent, ...flush.links.map(({ id }) => id)]);
    const requests = named(spans, 'POST /v1/answers').map(({ id }) => id);
    expect(reached.sort()).toEqual(requests.sort());
    expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(['ours']));
  });
});

test.each(['away', 'silent'])('a collector that is %s affects neither requests nor the shutdown', async how => {
  await using setup = await createApi();
  const tenant = await makeTenant(setup);
  const question = await publishQuestion(setup, tenant);
  const silent = createServer(socket => socket.resume()).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const port = how === 'away' ? await freePort() : (silent.address() as { port: number }).port;
  await using roles = await startRoles(setup, { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  for (const identity of ['user|1', 'user|2'])
    await post(roles.api.baseUrl, tenant, anAnswer({ question_id: question.id, identity }));
  await waitFor(async () => (await countStored(setup)) === 2);
  const startedAt = Date.now();
  expect(await roles.stop()).toEqual([0, 0]);
  expect(Date.now() - startedAt).toBeLessThan(30_000); // a step that overruns also changes the exit code
  expect(roles.api.output()).toContain('could not export traces');
  silent.close();
});

test('no package of OpenTelemetry is imported unless a collector is configured', async () => {
  await using setup = await createApi();
  const tenant = await makeTenant(setup);
  const question = await publishQuestion(setup, tenant);
  await using collector = await createCollector();
  const empty = {};
  for (const settings of [empty, tracedTo(collector)]) {
    const before = await countStored(setup);
    await using roles = await startRoles(setup, settings, PRINT_IMPORTS);
    await post(roles.api.baseUrl, tenant, anAnswer({ question_id: question.id, identity: 'user|1' }));
    await waitFor(async () => (await countStored(setup)) === before + 1);
    await roles.stop();
    for (const role of [roles.api, roles.worker]) {
      const imports = importsIn(role.output());
      const ours = imports.filter(({ by }) => !by?.includes('/node_modules/prom-client/')); // imports only the interface
      if (settings === empty) expect(ours).toEqual([]);
      else expect(ours.map(({ specifier }) => specifier)).toContain('@opentelemetry/sdk-trace');
    }
  }
});

test("an unsampled caller's trace is dropped, and without a caller the sampler decides", async () => {
  await using setup = await createApi();
  await using collector = await createCollector();
  const tenant = await makeTenant(setup);
  const question = await publishQuestion(setup, tenant);
  await using roles = await startRoles(setup, {
    ...tracedTo(collector),
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
  });
  const answer = () => anAnswer({ question_id: question.id, identity: 'user|1' });
  await post(roles.api.baseUrl, tenant, answer(), { traceparent: `00-${TRACE}-${CALLER}-00` });
  await post(roles.api.baseUrl, tenant, answer());
  await post(roles.api.baseUrl, tenant, answer(), { traceparent: `00-${TRACE}-${CALLER}-01` });
  await waitFor(async () => (await countStored(setup)) === 3);
  await roles.stop();
  expect(named(collector.spans, 'POST /v1/answers')).toHaveLength(1);
  expect(named(collector.spans, 'store answers')).toHaveLength(1);
});
