import type { CacheName } from '../../platform/caches.ts';
import type { Fields, MemoryEntry, TableEntry } from './entry.ts';
import { ANSWERS, CONVERSATIONS, PROFILES } from './people.ts';
import { EVENTS, OPERATION, SETTINGS } from './service.ts';
import { TEAM } from './team.ts';

/**
 * The tables by resource: whose data each column holds, why it is kept, for how long, and how an erasure and an export of a
 * person treat it. `docs/privacy.md` is made from it. Erasure and export are planned to be generated from it too, so a table
 * cannot be left out of them by mistake.
 */
export const TABLES: Record<string, Record<string, TableEntry>> = {
  Answers: ANSWERS,
  Conversations: CONVERSATIONS,
  Profiles: PROFILES,
  Team: TEAM,
  'Events and webhooks': EVENTS,
  'Settings and results': SETTINGS,
  Operation: OPERATION,
};

/** The fields of each job, and of each answer in a job (`<job> <field>`). */
export const JOB_FIELDS: Record<string, Fields> = {
  'answers.record': { technical: 'v flush trace' },
  'answers.record answers': {
    identity: 'identity identity_verified',
    words: 'values comment',
    about: 'question_id question_version state displayed_at answered_at duration_ms metadata received_at clock_skew_ms',
    technical: `tenant_id id card_id revision content_hash key_id key_overlap_until replay_of once_per_card period_days without_card`,
  },
  'answers.isolated': {
    words: 'sealed',
    about: 'received_at',
    technical: 'v flush part_of tenant_id answer_id replay_of trace',
  },
};

const UNTIL_EVICTED = 'until newer entries need the memory, or the process ends';

/** The caches of an API process. */
export const CACHES: Record<CacheName, MemoryEntry> = {
  card_lists: { why: 'cards of recent users', kept: UNTIL_EVICTED, holds: ['identity', 'about'] },
  card_ids: { why: 'ids of cards of recent users', kept: UNTIL_EVICTED, holds: ['identity'] },
  syncs: { why: 'recognizes repeated answers, by their hash', kept: UNTIL_EVICTED, holds: ['identity', 'about'] },
  tokens: { why: 'verified access tokens', kept: UNTIL_EVICTED, holds: ['identity', 'secret'] },
  keys: { why: 'API keys', kept: UNTIL_EVICTED, holds: ['settings', 'secret'] },
  unknown_keys: { why: 'ids without an API key', kept: UNTIL_EVICTED, holds: ['technical'] },
  catalogs: { why: 'questions, and ids of deleted answers', kept: UNTIL_EVICTED, holds: ['settings', 'technical'] },
  question_versions: { why: 'rules of earlier questions', kept: UNTIL_EVICTED, holds: ['settings'] },
  ids: { why: 'parsed ids', kept: UNTIL_EVICTED, holds: ['technical'] },
};

/** Memory of a process that is no cache. */
export const OTHER_MEMORY: Record<string, MemoryEntry> = {
  'rate limits': {
    why: 'counts requests by user, key, session, login address and network address',
    kept: 'until the limit’s window ends: a minute to a day',
    holds: ['identity', 'team'],
  },
  'work in progress': {
    why: 'requests, answers on their way to the queue, events on their way to webhooks',
    kept: 'until done, or until the process ends',
    holds: ['identity', 'words', 'about', 'team'],
  },
};

/** Data in the queue’s store: by the prefix of its keys in Valkey or Redis, or by its schema in PostgreSQL. */
export const STORES: Record<string, MemoryEntry> = {
  bullmq: {
    why: 'accepted answers that are not stored yet: the tables or keys of BullMQ, with the numbers of queued answers',
    kept: 'until stored or in quarantine, usually less than a second',
    holds: ['identity', 'words', 'about'],
  },
  'parley:pending': {
    why: 'the numbers of queued answers of each tenant',
    kept: 'until the answers are stored',
    holds: ['technical'],
  },
  'parley:rate': {
    why: 'counts requests, by digests',
    kept: 'until a second after the limit’s window ends',
    holds: ['technical'],
  },
};
