import { z } from 'zod';
import { int32 } from '../documented.ts';
import { exampleId, typeIdOut } from '../ids.ts';
import { label, TimestampOut } from '../text.ts';
import { ConversationSort, conversationFilters } from './conversation-filters.ts';

/** Maximum number of views that a member does not share, and of those that a tenant's members share. */
export const MAX_VIEWS = 50;

/** Maximum number of conversations of a view that are counted, so that a count costs the same in every inbox. */
export const MAX_COUNTED = 1000;

/** Maximum number of the most recent conversations that a count looks at. */
export const MAX_LOOKED_AT = 2000;

const ViewFilter = z.strictObject(conversationFilters(z.boolean())).meta({
  id: 'ViewFilter',
  description: 'Parameters of the list of conversations, by name. Members by id',
});

/** The filter of a view as it is stored, with members by their UUIDs. */
export type ViewFilter = z.output<typeof ViewFilter>;

const filter = { status: 'open', priority: 'urgent', assignee: 'none' };

const viewFields = {
  name: label(120, 'Urgent and unassigned'),
  filter: ViewFilter.meta({ example: filter }),
  sort: ConversationSort.meta({
    description: 'Order of the list; default: `-last_activity_at`',
    example: 'reply_due_at',
  }),
  shared: z.boolean().meta({ description: 'Whether all members see and can change the view; default: false' }),
};

export const NewView = z
  .strictObject(viewFields)
  .partial({ filter: true, sort: true, shared: true })
  .meta({ id: 'ViewInput' });
export type NewView = z.output<typeof NewView>;

export const ViewPatch = z
  .strictObject(viewFields)
  .partial()
  .meta({ id: 'ViewPatch', example: { shared: true } });

export const View = z
  .object({
    id: typeIdOut('view'),
    name: z.string().meta({ example: 'Urgent and unassigned' }),
    filter: z
      .object({ ...conversationFilters(z.boolean()), assignee: z.string().optional() })
      .meta({ id: 'SavedViewFilter', example: filter }),
    sort: ConversationSort.meta({ example: 'reply_due_at' }),
    shared: z.boolean(),
    created_at: TimestampOut,
    updated_at: TimestampOut,
  })
  .meta({ id: 'View' });

/** Returns the schema of a number of conversations that is counted up to a limit. */
export const countSchema = (id: string, more: string) =>
  z
    .object({
      count: int32().meta({ description: `At most ${MAX_COUNTED}`, example: 12 }),
      more: z.boolean().meta({ description: more }),
    })
    .meta({ id });

const ViewCount = countSchema('ViewCount', 'Whether there may be more, because the count ended early');

export const ViewCounts = z
  .object({
    views: z.record(z.string(), ViewCount).meta({
      description:
        'By `view_…` for saved views without `q`, and for the open conversations of `mine`, `unassigned`, `all` and `mentions`',
      example: {
        mine: { count: 4 },
        unassigned: {},
        all: { count: 1000, more: true },
        mentions: { count: 0 },
        [exampleId('view')]: { count: 2 },
      },
    }),
  })
  .meta({ id: 'ViewCounts' });
