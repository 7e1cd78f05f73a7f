import { z } from 'zod';
import { readinessOf, statusOfHealth } from '../../platform/metrics-server.ts';
import { operation, reply } from '../operation.ts';

const Health = z
  .object({
    status: z.enum(['ok', 'degraded', 'starting', 'stopping']),
    degraded: z.array(z.string()).meta({ description: 'Current impairments, with their reasons' }),
  })
  .meta({ id: 'Health' });

const Readiness = Health.extend({
  version: z.string().meta({ description: 'Version of the running process', example: '0.2.0' }),
  commit: z.string().meta({
    description: 'Commit that the running process was built from, or `unknown`',
    example: '5d1c9f0e7b3a4c2d8e6f1a0b9c8d7e6f5a4b3c2d',
  }),
}).meta({ id: 'Readiness' });

const shared = { tag: 'Operating', method: 'get', credentials: [], status: 200 } as const;

export const readLiveness = operation({
  ...shared,
  isProbe: true,
  id: 'readLiveness',
  path: '/livez',
  credentials: [],
  summary: 'Liveness probe',
  description: 'Returns 200 while the process runs. It checks no store; use `/readyz` to route traffic.',
  response: Health,
  handle: () => ({ status: 'ok', degraded: [] }),
});

export const readReadiness = operation({
  ...shared,
  isProbe: true,
  id: 'readReadiness',
  path: '/readyz',
  credentials: [],
  summary: 'Readiness probe',
  description:
    'Returns 503 until the database and the queue have been reached and the schema is compatible, and while the process is stopping. A later outage of a store returns 200 with `degraded`, because reads work without the queue, and answers are accepted without the database. The reply also has the version and the commit of the process.',
  response: Readiness,
  otherStatuses: { 503: 'The process is starting or stopping' },
  handle(_, { readiness }) {
    const health = readiness.health();
    return reply({ status: statusOfHealth(health), body: readinessOf(health) });
  },
});

export const readOpenApi = operation({
  ...shared,
  id: 'readOpenApi',
  path: '/openapi.json',
  credentials: [],
  summary: 'Get this document (OpenAPI 3.1)',
  description:
    'The document of the running version, with its own address in `servers`. Any origin may read it. Compressed with gzip for clients that accept it.',
  crossOrigin: true,
  sends: ['Vary'],
  response: z
    .object({})
    .loose()
    .meta({
      id: 'OpenApiDocument',
      example: { openapi: '3.1.0', info: { title: 'Parley', version: '0.1.0' }, paths: {} },
    }),
  etag: true,
  async handle({ acceptsGzip }, { openApi }) {
    const { json, gzip, etag } = await openApi();
    const headers = { ETag: etag, Vary: 'Accept-Encoding' };
    if (!acceptsGzip()) return reply({ headers, body: json });
    const encoded = { ETag: etag.replace(/"$/, '-gzip"'), 'Content-Encoding': 'gzip' };
    return reply({ headers: { ...headers, ...encoded }, body: gzip });
  },
});

export const probeRoutes = [readLiveness, readReadiness, readOpenApi];
