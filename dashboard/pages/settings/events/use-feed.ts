import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import type { EventType, FeedEvent } from '../../../api/names.ts';
import { ApiProblem } from '../../../api/problem.ts';
import { useTenantId } from '../../../tenant.ts';

const PAGE_SIZE = 50;

interface Wanted {
  type: EventType | '';
  /** Number of the first event, in ascending order; undefined for the newest first. */
  from: number | undefined;
}

/** Where a page starts. */
interface Place {
  /** The first number of the page, or its last one if the newest come first. */
  number: number;
  /** Number of the oldest event that is kept. */
  oldest: number;
}

interface FeedPage {
  events: FeedEvent[];
  next: Place | undefined;
}

const request = async (tenantId: string | undefined, query: { after?: number; limit: number; types?: EventType }) =>
  (await api('GET /v1/events', { query }, tenantId)).body;

/** Number of the oldest event that is kept, from the problem of an earlier one. */
const oldestIn = (error: unknown): number | undefined =>
  error instanceof ApiProblem && error.status === 410 ? error.oldest : undefined;

/** Reads events after a number; if these are no longer kept, from the oldest one on. */
async function read(tenantId: string | undefined, type: EventType | '', after: number) {
  const ask = (start: number) =>
    request(tenantId, { after: start, limit: PAGE_SIZE, ...(type ? { types: type } : {}) });
  try {
    return await ask(after);
  } catch (error) {
    const oldest = oldestIn(error);
    if (oldest === undefined) throw error;
    return ask(oldest - 1);
  }
}

/** Whether a number was refused that no event has yet. */
const isBeyondFeed = (error: unknown): boolean =>
  error instanceof ApiProblem && error.errors.some(({ parameter }) => parameter === 'after');

/** Reads a page of the feed forwards: the events with these numbers and greater ones. */
async function readForwards(tenantId: string | undefined, { type }: Wanted, first: number): Promise<FeedPage> {
  try {
    const { data, has_more, last, oldest } = await read(tenantId, type, first - 1);
    return { events: data, next: has_more ? { number: last + 1, oldest } : undefined };
  } catch (error) {
    if (isBeyondFeed(error)) return { events: [], next: undefined };
    throw error;
  }
}

/**
 * Reads a page of the feed backwards: the events with this number and lesser ones.
 *
 * Events of a type may be rare: the range of numbers is doubled until it contains one, and halved if it contains more than a
 * page. A range as long as a page never does.
 */
async function readBackwards(tenantId: string | undefined, { type }: Wanted, from: Place): Promise<FeedPage> {
  let { number: to, oldest } = from;
  let length = PAGE_SIZE;
  for (;;) {
    const after = Math.max(oldest - 1, to - length);
    const page = await read(tenantId, type, after);
    oldest = page.oldest;
    if (page.has_more && page.last < to && length > PAGE_SIZE) {
      length /= 2;
      continue;
    }
    const events = page.data.filter(({ sequence }) => sequence <= to).toReversed();
    const next = after < oldest ? undefined : { number: after, oldest };
    if (!type || events.length > 0 || next === undefined) return { events, next };
    to = after;
    length *= 2;
  }
}

/** Reads the newest events. */
async function readNewest(tenantId: string | undefined, wanted: Wanted): Promise<FeedPage> {
  const { oldest, newest } = await request(tenantId, { limit: 1 });
  if (newest < oldest) return { events: [], next: undefined };
  return readBackwards(tenantId, wanted, { number: newest, oldest });
}

/** The events of the tenant: from a number on in their order, or the newest first. */
export function useFeed(wanted: Wanted) {
  const tenantId = useTenantId();
  const fetchPage = (at: Place | undefined): Promise<FeedPage> => {
    if (wanted.from !== undefined) return readForwards(tenantId, wanted, at?.number ?? wanted.from);
    return at ? readBackwards(tenantId, wanted, at) : readNewest(tenantId, wanted);
  };
  const query = useInfiniteQuery<FeedPage, ApiProblem, InfiniteData<FeedPage>, unknown[], Place | undefined>({
    queryKey: ['GET /v1/events', { feed: wanted }, tenantId ?? ''],
    queryFn: ({ pageParam }) => fetchPage(pageParam),
    initialPageParam: undefined,
    getNextPageParam: ({ next }) => next,
  });
  return { ...query, items: query.data?.pages.flatMap(({ events }) => events) ?? [] };
}
