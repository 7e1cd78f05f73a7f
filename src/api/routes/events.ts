import { z } from 'zod';
import { EVENT_TYPES, EventPage, type EventType, rightsToExpand } from '../../domain/events/events.ts';
import { filterOf, pageQuery, queryBoolean, queryInt, valuesIn } from '../../domain/pages.ts';
import { Problem, queryFault } from '../../domain/problem.ts';
import { type FeedBounds, listEvents, readFeedBounds } from '../../storage/events/events.ts';
import { presentEvents } from '../../storage/webhooks/event-objects.ts';
import { authorize } from '../credentials/authenticate.ts';
import { operation } from '../operation.ts';

/** The largest number in a query. */
const MAX_SEQUENCE = 9_999_999_999;

/** Throws 422 for a number that no event has yet, such as after the restore of a backup, and 410 for one before all events. */
function requireKept(after: number, { oldest, last }: FeedBounds): void {
  if (after > last) throw queryFault('after', 'out-of-range', `Must be at most ${last}, the number of the last event.`);
  if (after < oldest - 1)
    throw new Problem('events-expired', `The events after ${after} are no longer kept. The oldest is ${oldest}.`, {
      extra: { oldest },
    });
}

export const readEvents = operation({
  id: 'readEvents',
  method: 'get',
  path: '/v1/events',
  tag: 'Events',
  summary: 'Read events in order',
  description:
    'The events of the tenant, numbered without gaps and kept for 30 days. Continue with `after` set to `last` of the previous page. An event has the id of its object, not its content; with `expand=true` also the object as it is now, which requires the right to read it. Without `after`, the first page begins with the oldest event that is kept.',
  credentials: ['api-key', 'session'],
  right: 'events:read',
  query: z.object({
    after: queryInt(0, MAX_SEQUENCE).optional().meta({ description: 'Only events after this `sequence`' }),
    types: filterOf(EVENT_TYPES, 'Types of the events'),
    limit: pageQuery.limit,
    expand: queryBoolean.optional().meta({ description: '`true`: add `data.object`' }),
  }),
  status: 200,
  response: EventPage,
  problems: ['events-expired'],
  async handle({ caller, query }, { storage }) {
    const { limit, expand = false } = query;
    const types = query.types === undefined ? undefined : (valuesIn(query.types) as EventType[]);
    if (expand) for (const right of rightsToExpand(types ?? EVENT_TYPES)) authorize(caller, [caller.kind], right);
    const tenant = storage.forTenant(caller.tenantId);
    const bounds = await readFeedBounds(tenant);
    const { after = bounds.oldest - 1 } = query;
    requireKept(after, bounds);
    const { rows, next } = await listEvents(tenant, { after, until: bounds.last, types }, limit);
    // retention may have deleted events since the bounds were read
    if (types || (rows[0]?.sequence ?? after + 1) !== after + 1) requireKept(after, await readFeedBounds(tenant));
    return {
      data: await presentEvents(tenant, rows, expand),
      has_more: next !== null,
      last: next ? Number(next[0]) : bounds.last,
      oldest: bounds.oldest,
      newest: bounds.last,
    };
  },
});

/** Every operation on events. */
export const eventRoutes = [readEvents];
