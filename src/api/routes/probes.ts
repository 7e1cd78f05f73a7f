import { z } from 'zod';
import { statusOfHealth } from '../../platform/metrics-server.ts';
import { operation, reply } from '../operation.ts';

const Health = z
  .object({
    status: z.enum(['ok', 'degraded', 'starting', 'stopping']),
    degraded: z.array(z.string()).meta({ description: 'What is lost at the moment, and why' }),
  })
  .meta({ id: 'Health' });

const shared = { tag: 'Operating', method: 'get', credentials: [], status: 200 } as const;

const livez = operation({
  ...shared,
  isProbe: true,
  id: 'readLiveness',
  path: '/livez',
  credentials: [],
  summary: 'Say that the process is alive',
  response: Health,
  handle: () => ({ status: 'ok', degraded: [] }),
});

const readyz = operation({
  ...shared,
  isProbe: true,
  id: 'readReadiness',
  path: '/readyz',
  credentials: [],
  summary: 'Say whether the process takes requests',
  description:
    '503 until database and queue were both reached and the schema fits, and while the process is stopping. A later loss is 200 with `degraded`: reads live without the queue, intake without the database.',
  response: Health,
  handle(_, { readiness }) {
    const health = readiness.health();
    return reply({ status: statusOfHealth(health), body: health });
  },
});

const openApiDocument = operation({
  ...shared,
  id: 'readOpenApi',
  path: '/openapi.json',
  credentials: [],
  summary: 'Read this document (OpenAPI 3.1)',
  response: z.object({}).loose(),
  etag: true,
  handle(_, { openApi }) {
    const { json, etag } = openApi();
    return reply({ headers: { ETag: etag }, body: json });
  },
});

export const probeRoutes = [livez, readyz, openApiDocument];
