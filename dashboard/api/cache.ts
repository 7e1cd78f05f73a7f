import type { QueryClient, QueryKey } from '@tanstack/react-query';
import type { OperationKey, Reply, ReplyOf, RequestOf } from './client.ts';
import { type Page, removeItem, replaceItem } from './pages.ts';

/** Key of a cached response: its operation, request and tenant. Lists have `pages` as a fourth part. */
export const keyOf = (operation: OperationKey, request: unknown, tenantId: string | undefined): QueryKey => [
  operation,
  request,
  tenantId ?? '',
];

/** Resource of an operation: the first segment after `/v1/`. */
export const resourceOf = (operation: string): string => /\/v1\/([\w-]+)/.exec(operation)?.[1] ?? '';

/** Further resources whose data a write to a resource changes. */
const DEPENDENTS: Record<string, string[]> = {
  answers: ['questions'],
  quarantine: ['ingestion'],
  tenant: ['me'],
  members: ['me'],
  sessions: ['me'],
  questions: ['answers'],
  views: ['conversations'],
};

/** Returns the resources whose cached data a write makes stale. */
export const staleResources = (operation: OperationKey): string[] => {
  const resource = resourceOf(operation);
  return [resource, ...(DEPENDENTS[resource] ?? [])];
};

interface Cached {
  pages: Page<{ id?: string }>[];
}

/** Writes to cached responses of one tenant. */
export interface Cache {
  /** Replaces a cached response, for example by that of a write. */
  write<K extends OperationKey>(operation: K, request: RequestOf<K>, reply: Reply<ReplyOf<K>>): void;
  /** Changes an item in every cached list of an operation. */
  changeItem(operation: OperationKey, id: string, change: (item: never) => unknown): void;
  removeItem(operation: OperationKey, id: string): void;
  /** Changes the pages of every cached list of an operation with this path parameter. */
  changePages(operation: OperationKey, matches: (request: never) => boolean, change: (pages: never) => unknown[]): void;
  /** Changes a cached response, if there is one; its `ETag` stays. */
  change<K extends OperationKey>(operation: K, request: RequestOf<K>, change: (body: ReplyOf<K>) => ReplyOf<K>): void;
}

/** Creates the access to the cached responses of one tenant. */
export function createCache(queries: QueryClient, tenantId: string | undefined): Cache {
  const ofTenant = (operation: OperationKey, matches: (request: never) => boolean = () => true) => ({
    predicate: ({ queryKey }: { queryKey: QueryKey }) =>
      queryKey[0] === operation && queryKey[2] === (tenantId ?? '') && matches(queryKey[1] as never),
  });
  const changePages: Cache['changePages'] = (operation, matches, change) => {
    queries.setQueriesData<Cached>(ofTenant(operation, matches), cached =>
      cached?.pages ? { ...cached, pages: change(cached.pages as never) as Cached['pages'] } : cached,
    );
  };
  return {
    write: (operation, request, reply) => void queries.setQueryData(keyOf(operation, request, tenantId), reply),
    changeItem: (operation, id, change) =>
      changePages(
        operation,
        () => true,
        (pages: Cached['pages']) => replaceItem(pages, id, change as never),
      ),
    removeItem: (operation, id) =>
      changePages(
        operation,
        () => true,
        (pages: Cached['pages']) => removeItem(pages, id),
      ),
    changePages,
    change(operation, request, change) {
      queries.setQueryData<Reply<ReplyOf<typeof operation>>>(
        keyOf(operation, request, tenantId),
        cached => cached && { ...cached, body: change(cached.body) },
      );
    },
  };
}

/**
 * Applies the response of a write to the cache: to the resource's own response, and to its item in lists. A deleted
 * resource is removed from lists.
 *
 * Returns whether the resource's own response is up to date afterwards.
 */
export function applyReply(cache: Cache, operation: OperationKey, request: unknown, reply: Reply<unknown>): boolean {
  const [method, path = ''] = operation.split(' ');
  const list = `GET /v1/${resourceOf(operation)}` as OperationKey;
  const single = `${list}/{id}` as OperationKey;
  const id = (request as { params?: { id?: string } }).params?.id;
  const ofResource = /^\/v1\/[\w-]+\/\{id\}(\/[a-z]+)?$/.test(path);
  if (!id || !ofResource) return false;
  const body = reply.body as { id?: string } | undefined;
  if (method === 'DELETE' && path.endsWith('/{id}')) cache.removeItem(list, id);
  if (body?.id !== id) return false;
  cache.changeItem(list, id, (item: object) => ({ ...item, ...body }));
  if (reply.etag === undefined) return false;
  cache.write(single as 'GET /v1/questions/{id}', { params: { id } }, reply as never);
  return true;
}
