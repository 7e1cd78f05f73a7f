import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import type { EventType, FeedEvent } from '../../../api/names.ts';
import { ApiProblem } from '../../../api/problem.ts';
import { useTenantId } from '../../../tenant.ts';

const PAGE_SIZE = 50;
/** A number that no event has: the refusal names the number of the last event. */
const BEYOND = 9_999_999_999;

interface Wanted {
  type: EventType | '';
  /** Number of the first event, in ascending order; undefined for the newest first. */
  from: number | undefined;
}

interface FeedPage {
  events: FeedEvent[];
  /** Where the next page starts: its first number, or its last one if the newest come first. */
  next: number | undefined;
}

/** Number of the oldest event that is kept, from the problem of an earlier one. */
const oldestIn = (error: unknown): number | undefined =>
  error instanceof ApiProblem && error.status === 410 ? error.oldest : undefined;

/** Reads events after a number; if these are no longer kept, from the oldest one on. */
async function read(tenantId: string | undefined, type: EventType | '', after: number, limit: number) {
  const ask = async (start: number) =>
    (await api('GET /v1/events', { query: { after: start, limit, types: type || undefined } }, tenantId)).body;
  try {
    return { ...(await ask(after)), oldest: undefined };
  } catch (error) {
    const oldest = oldestIn(error);
    if (oldest === undefined) throw error;
    return { ...(await ask(oldest - 1)), oldest };
  }
}

/** Returns the number of the last event; 0 before the first one. */
async function readLast(tenantId: string | undefined): Promise<number> {
  try {
    return (await api('GET /v1/events', { query: { after: BEYOND, limit: 1 } }, tenantId)).body.last;
  } catch (error) {
    const refused = error instanceof ApiProblem && error.errors.find(({ parameter }) => parameter === 'after');
    const [last] = (refused && /\d+/.exec(refused.detail)) || [];
    if (last === undefined) throw error;
    return Number(last);
  }
}

/** Reads a page of the feed forwards: the events with these numbers and greater ones. */
async function readForwards(tenantId: string | undefined, { type }: Wanted, first: number): Promise<FeedPage> {
  const { data, has_more, last } = await read(tenantId, type, first - 1, PAGE_SIZE);
  return { events: data, next: has_more ? last + 1 : undefined };
}

/**
 * Reads a page of the feed backwards: the events with this number and lesser ones.
 *
 * Events of a type may be rare: the range of numbers is doubled until it contains one, and halved if it contains more than a
 * page. A range as long as a page never does.
 */
async function readBackwards(tenantId: string | undefined, { type }: Wanted, newest: number): Promise<FeedPage> {
  let to = newest;
  let length = PAGE_SIZE;
  for (;;) {
    const after = Math.max(0, to - length);
    const { data, has_more, last, oldest = 0 } = await read(tenantId, type, after, PAGE_SIZE);
    if (has_more && last < to && length > PAGE_SIZE) {
      length /= 2;
      continue;
    }
    const events = data.filter(({ sequence }) => sequence <= to).toReversed();
    const next = after < oldest || after === 0 ? undefined : after;
    if (!type || events.length > 0 || next === undefined) return { events, next };
    to = after;
    length *= 2;
  }
}

/** The events of the tenant: from a number on in their order, or the newest first. */
export function useFeed(wanted: Wanted) {
  const tenantId = useTenantId();
  const fetchPage = async (at: number | undefined): Promise<FeedPage> => {
    if (wanted.from !== undefined) return readForwards(tenantId, wanted, at ?? wanted.from);
    if (at !== undefined) return readBackwards(tenantId, wanted, at);
    const last = await readLast(tenantId);
    return last === 0 ? { events: [], next: undefined } : readBackwards(tenantId, wanted, last);
  };
  const query = useInfiniteQuery<FeedPage, ApiProblem, InfiniteData<FeedPage>, unknown[], number | undefined>({
    queryKey: ['GET /v1/events', { feed: wanted }, tenantId ?? ''],
    queryFn: ({ pageParam }) => fetchPage(pageParam),
    initialPageParam: undefined,
    getNextPageParam: ({ next }) => next,
  });
  return { ...query, items: query.data?.pages.flatMap(({ events }) => events) ?? [] };
}
