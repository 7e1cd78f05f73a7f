import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BUILD } from '../../src/platform/build-info.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { type Health, type MetricsServer, openMetricsServer } from '../../src/platform/metrics-server.ts';
import { waitFor } from '../support/wait.ts';

const log = createLog('silent', 'test');
let health: Health = { status: 'ok', degraded: [] };
let server: MetricsServer;

beforeAll(async () => {
  const options = { port: 0, host: '127.0.0.1', log, health: () => health };
  server = await openMetricsServer(options, createMetrics('work'));
});
afterAll(() => server.close());

const get = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);

describe('the probes on the metrics port', () => {
  test.each([
    { status: 'ok', degraded: [], code: 200 },
    { status: 'degraded', degraded: ['database: away'], code: 200 },
    { status: 'starting', degraded: [], code: 503 },
    { status: 'stopping', degraded: [], code: 503 },
  ] as const)('report $status with $code, and are alive', async ({ code, status, degraded }) => {
    health = { status, degraded: [...degraded] };
    const [ready, live] = await Promise.all([get('/readyz'), get('/livez')]);
    expect(ready.status).toBe(code);
    expect(await ready.json()).toEqual({ status, degraded, version: BUILD.version, commit: BUILD.commit });
    expect(live.status).toBe(200);
    expect(await live.json()).toEqual({ status: 'ok', degraded: [] });
  });

  test('are answered while idle connections fill the port', async () => {
    health = { status: 'ok', degraded: [] };
    const sockets = Array.from({ length: 300 }, () => connect(server.port, '127.0.0.1').on('error', () => undefined));
    await waitFor(() => sockets.every(socket => !socket.connecting));
    expect((await get('/livez')).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });
});
