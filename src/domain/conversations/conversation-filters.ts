import { z } from 'zod';
import { documentedAs } from '../documented.ts';
import { exampleId, typeId } from '../ids.ts';
import { filterOf } from '../pages.ts';
import { Identity, SEARCHED, SearchWords, Tag } from '../text.ts';
import { ConversationPriority, ConversationStatus } from './conversations.ts';

/** Sort orders of conversations by wire name. A minus means descending. */
export const CONVERSATION_SORTS = [
  '-last_activity_at',
  'last_activity_at',
  '-created_at',
  'created_at',
  'reply_due_at',
  'waiting_since',
] as const;
export type ConversationSort = (typeof CONVERSATION_SORTS)[number];
export const ConversationSort = z.enum(CONVERSATION_SORTS);

export const DEFAULT_SORT = '-last_activity_at' satisfies ConversationSort;

export const ConversationSource = z.enum(['user', 'api', 'member']);

export const Assignee = z
  .union([z.literal('none'), typeId('member')], {
    error: `Must be "none" or an identifier such as ${exampleId('member')}.`,
  })
  .meta({
    description: 'Member id, or `none` for unassigned conversations',
    override: documentedAs({ type: 'string', maxLength: 40 }),
  });

const StatusFilter = filterOf(ConversationStatus.options, 'Status of the conversation', 'StatusFilter');
const PriorityFilter = filterOf(ConversationPriority.options, 'Priority of the conversation', 'PriorityFilter');
const SourceFilter = filterOf(ConversationSource.options, 'Who started the conversation', 'SourceFilter');

/**
 * Returns the filters of the list of conversations. The same schemas check its query and the filter of a saved view;
 * only booleans differ, which are texts in a query.
 */
export const conversationFilters = <Flag extends z.ZodType<boolean, unknown>>(flag: Flag) => ({
  status: StatusFilter,
  unread: flag.optional().meta({ description: 'For the side of the caller (user or team)' }),
  identity: Identity.optional(),
  verified: flag.optional().meta({
    description: '`true`: users whose identity is proven by an access token or an API key; `false`: claimed identities',
  }),
  assignee: Assignee.optional(),
  tag: Tag.optional().meta({ description: 'Conversations with this tag' }),
  priority: PriorityFilter,
  source: SourceFilter,
  overdue: flag.optional().meta({
    description: "Whether the reply is overdue by the tenant's `reply_targets` (`reply_due_at`)",
  }),
  mentioned: flag.optional().meta({ description: 'Whether a note mentions you; only with a session' }),
  q: SearchWords.optional().meta({
    description: `Search in the subject and in single messages and notes: ${SEARCHED}`,
  }),
});
