import { createServer } from 'node:http';
import type { Metrics } from './metrics.ts';

export interface MetricsServer {
  port: number;
  close(): Promise<void>;
}

/** Longer than the pause between scrapes: a connection that ends as the next one begins would fail it. */
const KEEP_ALIVE_MS = 75_000;

/** Serves Prometheus metrics, and the probes of a process that has no other port. */
export async function openMetricsServer(
  options: { port: number; host: string; isReady: () => boolean },
  metrics: Metrics,
): Promise<MetricsServer> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, async (request, response) => {
    const send = (status: number, type: string, body: string) =>
      response.writeHead(status, { 'Content-Type': type, 'X-Content-Type-Options': 'nosniff' }).end(body);
    const json = 'application/json';
    if (request.url === '/metrics') return send(200, metrics.contentType, await metrics.render());
    if (request.url === '/livez') return send(200, json, '{"status":"ok"}');
    if (request.url === '/readyz')
      return options.isReady() ? send(200, json, '{"status":"ok"}') : send(503, json, '{"status":"starting"}');
    return send(404, 'text/plain', 'not found\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => resolve());
  });
  return {
    port: (server.address() as { port: number }).port,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
