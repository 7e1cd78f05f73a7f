import { createServer } from 'node:http';
import { BUILD } from './build-info.ts';
import { boundConnections } from './connections.ts';
import { listenOptions } from './listen-address.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** The state for `/readyz`. */
export interface Health {
  status: 'ok' | 'degraded' | 'starting' | 'stopping';
  /** Current faults with their causes. */
  degraded: string[];
}

/** The body of `/readyz`: the health, and the build that has it. */
export const readinessOf = (health: Health): Health & { version: string; commit: string } => ({
  ...health,
  version: BUILD.version,
  commit: BUILD.commit,
});

/** Returns the HTTP status of a health: 503 while the process should receive no requests. */
export const statusOfHealth = ({ status }: Health): 200 | 503 =>
  status === 'starting' || status === 'stopping' ? 503 : 200;

export interface MetricsServer {
  port: number;
  close(): Promise<void>;
}

export interface MetricsServerOptions {
  port: number;
  host: string;
  health: () => Health;
  log: Log;
}

/** Longer than the scrape interval: a connection that closes as the next scrape begins would fail it. */
const KEEP_ALIVE_MS = 75_000;
/** Probes and scrapes are few and small. Slow clients must not block others. */
const REQUEST_TIMEOUT_MS = 5000;
const MAX_CONNECTIONS = 100;

/**
 * Serves Prometheus metrics and the probes `/livez` and `/readyz`, in every role.
 *
 * It has a separate socket and connection limit, so that probes are answered while the API's port is full.
 */
export async function openMetricsServer(
  { port, host, health, log }: MetricsServerOptions,
  metrics: Metrics,
): Promise<MetricsServer> {
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: REQUEST_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 1000,
    },
    async (request, response) => {
      connections.serve(request, response);
      const send = (status: number, type: string, body: string) =>
        response.writeHead(status, { 'Content-Type': type, 'X-Content-Type-Options': 'nosniff' }).end(body);
      const sendHealth = (status: number, body: Health) => send(status, 'application/json', JSON.stringify(body));
      if (request.url === '/metrics') return send(200, metrics.contentType, await metrics.render());
      if (request.url === '/livez') return sendHealth(200, { status: 'ok', degraded: [] });
      if (request.url === '/readyz') return sendHealth(statusOfHealth(health()), readinessOf(health()));
      return send(404, 'text/plain', 'not found\n');
    },
  );
  server.timeout = REQUEST_TIMEOUT_MS; // a client that does not read
  const connections = boundConnections(server, { door: 'metrics', most: MAX_CONNECTIONS, log, metrics });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listenOptions(port, host), () => resolve());
  });
  return {
    port: (server.address() as { port: number }).port,
    close: () =>
      new Promise(resolve => {
        connections.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
