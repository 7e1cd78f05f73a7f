import type { AcceptedAnswer } from '../../domain/answers/answers.ts';
import {
  CHANGED_DAYS_AGO,
  DRAFT,
  demoAnswers,
  demoProfiles,
  PUBLISHED_DAYS_AGO,
  QUESTIONS,
  type QuestionKey,
  SECOND_TITLE,
} from '../../domain/demo/shop.ts';
import { TALKS, type Talk } from '../../domain/demo/talks.ts';
import { DAY_MS, MINUTE_MS } from '../../domain/durations.ts';
import { newUuid } from '../../domain/ids.ts';
import { finishContent, startQuestion } from '../../domain/questions/question-changes.ts';
import { NewQuestion } from '../../domain/questions/questions.ts';
import { toCardRules } from '../../domain/rules/card-rules.ts';
import { recordAnswers } from '../answers/recording.ts';
import { updateConversation } from '../conversations/conversation-changes.ts';
import type { Author, Owner } from '../conversations/conversation-rows.ts';
import { insertConversation } from '../conversations/conversation-starts.ts';
import { insertMessage, markRead } from '../conversations/messages.ts';
import type { Storage, TenantStorage } from '../database/orm.ts';
import { patchProfiles } from '../people/profiles.ts';
import { insertQuestion, updateQuestion } from '../questions/questions.ts';
import type { NewAccount } from '../team/accounts.ts';
import { addMember } from '../team/members.ts';
import { insertTenant, setFirstCardTime } from '../tenants/tenants.ts';

/** The name of a demo tenant, which identifies it in the dashboard's list of tenants. */
const DEMO_NAME = 'Nordlicht Coffee (demo)';
/** Answers per transaction. */
const AT_ONCE = 200;

const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * DAY_MS);

type QuestionBody = (typeof QUESTIONS)[number] | typeof DRAFT;

function insertBody(tenant: TenantStorage, body: QuestionBody, at: Date) {
  const { key: _, ...fields } = { key: '', ...body };
  const { name = fields.title, locale = 'en', ...question } = toCardRules(NewQuestion.parse(fields));
  return insertQuestion(tenant, { ...question, name, locale }, at);
}

async function publishQuestion(tenant: TenantStorage, body: QuestionBody, at: Date): Promise<string> {
  const { id } = await insertBody(tenant, body, at);
  await updateQuestion(tenant, id, at, question => {
    finishContent(question);
    startQuestion(question, at);
  });
  return id;
}

/** Publishes the questions, each at a time before its first answer. */
async function publishAll(tenant: TenantStorage, now: Date): Promise<Map<QuestionKey, string>> {
  const ids = new Map<QuestionKey, string>();
  for (const question of QUESTIONS)
    ids.set(question.key, await publishQuestion(tenant, question, daysBefore(now, PUBLISHED_DAYS_AGO)));
  await updateQuestion(tenant, ids.get('nps') as string, daysBefore(now, CHANGED_DAYS_AGO), question => {
    const { de } = question.translations;
    question.title = SECOND_TITLE.title;
    question.translations = { de: { ...de, title: SECOND_TITLE.translation } };
    question.version += 1;
  });
  await insertBody(tenant, DRAFT, daysBefore(now, 1));
  return ids;
}

/** Returns the answers to a question as a queue would deliver them, received over the last weeks. */
const acceptedAnswers = (tenantId: string, key: QuestionKey, questionId: string, now: Date): AcceptedAnswer[] =>
  demoAnswers(key, now).map(({ at, identity, version, state, values, comment, metadata }) => ({
    ...{ tenant_id: tenantId, id: newUuid(), identity, identity_verified: true, card_id: newUuid() },
    ...{ question_id: questionId, question_version: version, revision: 1, state, values, comment, metadata },
    displayed_at: new Date(at.getTime() - MINUTE_MS).toISOString(),
    answered_at: at.toISOString(),
    duration_ms: null,
    content_hash: 'demo',
    clock_skew_ms: 0,
    received_at: at.toISOString(),
  }));

/** Stores the answers as the worker does, so that results, search and totals contain them. Returns how many were stored. */
export async function storeDemoAnswers(worker: Storage, answers: AcceptedAnswer[]): Promise<number> {
  let stored = 0;
  for (let at = 0; at < answers.length; at += AT_ONCE)
    stored += (await recordAnswers(worker, [{ flush: newUuid(), answers: answers.slice(at, at + AT_ONCE) }])).stored;
  return stored;
}

/**
 * Moves a conversation and its messages back in time, at intervals of 23 minutes. The event of a status keeps the time of
 * the reply that led to it.
 */
const BACKDATE_MESSAGES = `update messages set created_at = messages.created_at - make_interval(
    mins => $3::int + 23 * (last_seq + last_note_seq - seq
      - case when event->>'field' = 'status' then 0 else messages.note_seq end))
  from conversations where conversations.tenant_id = $1 and conversations.id = $2
    and messages.tenant_id = $1 and conversation_id = $2`;
const BACKDATE_CONVERSATION = `update conversations set created_at = first.at,
    last_activity_at = last_activity_at - make_interval(mins => $3::int),
    waiting_since = waiting_since - make_interval(mins => $3::int),
    first_reply_at = first_reply_at - make_interval(mins => $3::int)
  from (select min(created_at) as at from messages where tenant_id = $1 and conversation_id = $2) as first
  where tenant_id = $1 and id = $2`;

/** The member who replies: the id of the row, and the author of messages. */
export interface DemoMember {
  id: string;
  author: Author;
}

async function holdTalk(
  tenant: TenantStorage,
  { id: memberId, author: member }: DemoMember,
  talk: Talk,
): Promise<void> {
  const owner: Owner = { identity: talk.identity, verified: true };
  const user: Author = { type: 'user', id: talk.identity, name: null };
  const [[, message] = ['user', ''], ...lines] = talk.lines;
  const start = { subject: talk.subject ?? '', message };
  const { conversation } = await insertConversation(tenant, owner, user, start);
  const { id } = conversation;
  for (const [who, body] of lines) {
    const kind = who === 'note' ? 'note' : 'reply';
    await insertMessage(tenant, id, undefined, who === 'user' ? user : member, { body, kind, format: 'text' });
  }
  const change = { ...talk.change, ...(talk.assign ? { assignee_id: memberId } : {}) };
  if (Object.keys(change).length > 0)
    await updateConversation(tenant, { id, owner: undefined }, member, change, () => undefined);
  if (talk.read) await markRead(tenant, id, undefined, 'team', talk.lines.length);
  await tenant.transaction(async tx => {
    for (const sql of [BACKDATE_MESSAGES, BACKDATE_CONVERSATION])
      await tx.query(sql, [tenant.tenantId, id, talk.minutesAgo]);
  });
}

/**
 * Fills a new tenant with six weeks of data of a small shop: questions with follow-ups and translations, people and
 * conversations, to which `member` replies. Returns how much was created, and the answers: they are stored by a worker,
 * or by `storeDemoAnswers`.
 */
export async function fillDemo(tenant: TenantStorage, member: DemoMember, now: Date) {
  const questions = await publishAll(tenant, now);
  const answers = [...questions].flatMap(([key, id]) => acceptedAnswers(tenant.tenantId, key, id, now));
  await setFirstCardTime(tenant, daysBefore(now, PUBLISHED_DAYS_AGO));
  const profiles = demoProfiles();
  await patchProfiles(
    tenant,
    profiles.map(profile => ({ ...profile, verified: true })),
  );
  for (const talk of TALKS.toReversed()) await holdTalk(tenant, member, talk);
  return {
    answers,
    created: { questions: questions.size + 1, profiles: profiles.length, conversations: TALKS.length },
  };
}

/** Adds an empty demo tenant with an existing account as its owner. Returns the tenant and the id of the member. */
export async function insertDemoTenant(storage: Storage, account: NewAccount, now: Date) {
  const tenant = await insertTenant(storage, DEMO_NAME, now, true);
  const memberId = await addMember(storage, tenant.id, { ...account, exists: true }, 'owner', now);
  return { tenant, memberId };
}

const OWNED = `select tenants.id, tenants.name from members join tenants on tenants.id = members.tenant_id
  where members.account_id = $1 and members.role = 'owner' and tenants.is_demo order by tenants.id`;

/** Returns the demo tenants that an account owns. */
export const listDemoTenants = (storage: Storage, accountId: string): Promise<{ id: string; name: string }[]> =>
  storage.forAccount(accountId).transaction(tx => tx.query<{ id: string; name: string }>(OWNED, [accountId]));

/** Returns the demo tenants that an account owns, and locks the account until the end of the transaction. */
export const lockDemoTenants = (storage: Storage, accountId: string): Promise<{ id: string; name: string }[]> =>
  storage.forAccount(accountId).transaction(async tx => {
    await tx.query('select from accounts where id = $1 for update', [accountId]);
    return tx.query<{ id: string; name: string }>(OWNED, [accountId]);
  });
