/** Seeds six weeks of data of a small shop over HTTP, then backdates it with SQL. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { DRAFT, demoAnswers, QUESTIONS, type QuestionKey, SECOND_TITLE } from '../../src/domain/demo/shop.ts';
import { TALKS, type Talk } from '../../src/domain/demo/talks.ts';
import { withClient } from '../../src/platform/postgres-client.ts';
import { runCommand } from '../../test/support/process.ts';
import { asBearer, asPerson, PASSWORD, type ShownKey, signToken } from '../../test/support/team.ts';
import { waitFor } from '../../test/support/wait.ts';

const PER_REQUEST = 100;
const STORED_WITHIN_MS = 60_000;
export interface Place {
  baseUrl: string;
  /** Data directory of the embedded database. */
  folder: string;
}

export interface Seeded {
  questions: Record<QuestionKey, string>;
  draftId: string;
  conversationId: string;
  snoozedId: string;
  mergedId: string;
  webhookId: string;
}

type Send = (method: string, path: string, body?: unknown, bearer?: string) => Promise<{ id: string }>;

async function createQuestions(send: Send): Promise<Seeded['questions']> {
  const made: [string, string][] = [];
  for (const { key, ...question } of QUESTIONS) {
    const { id } = await send('POST', '/v1/questions', question);
    await send('POST', `/v1/questions/${id}/publish`);
    made.push([key, id]);
  }
  const questions = Object.fromEntries(made) as Seeded['questions'];
  const { translations } = QUESTIONS[0];
  await send('PATCH', `/v1/questions/${questions.nps}`, {
    title: SECOND_TITLE.title,
    translations: { de: { ...translations.de, title: SECOND_TITLE.translation } },
  });
  await send('POST', `/v1/questions/${questions.thumbs}/pause`);
  return questions;
}

/** Answers with their simulated times. */
const answersOf = (question: QuestionKey, id: string, now: Date) =>
  demoAnswers(question, now).map(({ at, version, comment, ...answer }) => ({
    at,
    answer: {
      ...answer,
      id: crypto.randomUUID(),
      revision: 1,
      question_id: id,
      question_version: version,
      ...(comment === null ? {} : { comment }),
    },
  }));

async function sendAnswers(send: Send, questions: Seeded['questions']) {
  const now = new Date();
  const all = QUESTIONS.flatMap(({ key }) => answersOf(key, questions[key], now));
  const answers = all.map(({ answer }) => answer);
  for (let at = 0; at < answers.length; at += PER_REQUEST)
    await send('POST', '/v1/answers', { answers: answers.slice(at, at + PER_REQUEST) });
  const storedCount = async () => ((await send('GET', '/v1/ingestion')) as unknown as { stored: number }).stored;
  await waitFor(async () => (await storedCount()) === answers.length, STORED_WITHIN_MS);
  return all;
}

async function talk(send: Send, sign: (identity: string) => Promise<string>, memberId: string, told: Talk) {
  const token = await sign(told.identity);
  const [[, message] = ['user', ''], ...lines] = told.lines;
  const { id } = await send('POST', '/v1/conversations', { message, subject: told.subject }, token);
  for (const [who, body] of lines)
    await send(
      'POST',
      `/v1/conversations/${id}/messages`,
      { body, ...(who === 'note' ? { kind: 'note' } : {}) },
      who === 'user' ? token : undefined,
    );
  const change = { ...told.change, ...(told.assign ? { assignee_id: memberId } : {}) };
  if (Object.keys(change).length > 0) await send('PATCH', `/v1/conversations/${id}`, change);
  if (told.read) await send('PUT', `/v1/conversations/${id}/read`, { seq: told.lines.length });
  return id;
}

const MACROS = [
  {
    name: 'Your parcel has shipped',
    shortcut: 'shipped',
    body: 'Good news: your coffee left our roastery today and should arrive within two days. As a {{identity.attributes.plan|valued}} member you can follow it under Orders.',
    changes: { status: 'snoozed', snooze_for_s: 2 * 86_400, add_tags: ['shipping'] },
  },
  {
    name: 'How to store beans',
    shortcut: 'storage',
    body: 'Keep the bag closed, in a dark and dry place, and grind right before brewing. https://nordlicht.example/storage',
  },
  { name: 'Escalate to Mika', changes: { priority: 'urgent', add_tags: ['escalated'] } },
];

const CUSTOM_FIELDS = [
  { key: 'order_number', label: 'Order number', type: 'text' },
  { key: 'shipping', label: 'Shipping', type: 'choice', options: ['Standard', 'Express', 'Pick-up point'] },
  { key: 'roast', label: 'Roast', type: 'choice', options: ['Filter', 'Espresso'] },
  { key: 'refunded', label: 'Refunded', type: 'boolean' },
];

/** Adds saved replies, and a snoozed and a merged conversation; returns the ids of the conversations. */
async function addWorkingDay(send: Send): Promise<Pick<Seeded, 'snoozedId' | 'mergedId'>> {
  for (const macro of MACROS) await send('POST', '/v1/macros', macro);
  const start = async (identity: string, message: string) =>
    (await send('POST', '/v1/conversations', { identity, message })).id;
  const snoozedId = await start('jonas.berg', 'We will tell you as soon as the Guji is back.');
  const until = new Date(Date.now() + 5 * 86_400_000).toISOString();
  await send('PATCH', `/v1/conversations/${snoozedId}`, { status: 'snoozed', snoozed_until: until });
  const into = await start('jonas.berg', 'Your invoice for October is attached.');
  const mergedId = await start('jonas.berg', 'About your invoice.');
  await send('POST', `/v1/conversations/${mergedId}/merge`, { into });
  return { snoozedId, mergedId };
}

/** Adds a second member and a pending invitation; returns the member's id. */
async function inviteTeam(page: Page, baseUrl: string): Promise<string> {
  const { link } = await asPerson(page, 'POST', '/v1/members', { email: 'mika@nordlicht.example', role: 'agent' });
  const token = new URL(link).hash.replace('#token=', '');
  const reply = await fetch(`${baseUrl}/v1/invitations/${token}/accept`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: baseUrl },
    body: JSON.stringify({ name: 'Mika Sørensen', password: PASSWORD }),
  });
  if (!reply.ok) throw new Error(`Accepting the invitation failed: ${reply.status} ${await reply.text()}`);
  await asPerson(page, 'POST', '/v1/members', { email: 'eva@nordlicht.example', role: 'analyst' });
  const { data } = await asPerson(page, 'GET', '/v1/members');
  return data.find((member: { name: string }) => member.name === 'Mika Sørensen').id;
}

/** The URL of a webhook on this machine without a receiver. */
const hookUrl = (path: string): string => `http://127.0.0.1:65535/${path}`;

/** Creates a webhook with a test, and one that is disabled. Returns the id of the first. */
async function createWebhooks(send: Send): Promise<string> {
  const event_types = ['answer.completed', 'conversation.created', 'message.created'];
  const { id } = await send('POST', '/v1/webhooks', { url: hookUrl('crm'), description: 'CRM', event_types });
  await send('POST', `/v1/webhooks/${id}/test`);
  const old = await send('POST', '/v1/webhooks', { url: hookUrl('old'), event_types, payload: 'thin' });
  await send('PATCH', `/v1/webhooks/${old.id}`, { status: 'disabled' });
  return id;
}

/** Saves a view, an assignment rule and the settings of the inbox. */
async function setUpInbox(page: Page, memberId: string): Promise<void> {
  const day = (number: number) => [
    { day: number, from: '08:30', to: '12:00' },
    { day: number, from: '13:00', to: '17:00' },
  ];
  await asPerson(page, 'PATCH', '/v1/tenant', {
    office_hours: [1, 2, 3, 4, 5].flatMap(day),
    reply_targets: { urgent: 60, high: 240, none: 960 },
    custom_fields: CUSTOM_FIELDS,
  });
  const filter = { status: 'open', tag: 'delivery' };
  await asPerson(page, 'POST', '/v1/views', { name: 'Late deliveries', filter, sort: 'reply_due_at', shared: true });
  await asPerson(page, 'PUT', '/v1/assignment-rules', {
    data: [
      { name: 'Deliveries', when: { tag: 'returns' }, then: { priority: 'high', assign: { member_id: memberId } } },
    ],
  });
}

/** Moves one stored answer to the quarantine, as if its processing had failed. */
const QUARANTINE_ONE = `
  with one as (delete from answers where id = (select id from answers order by received_at desc limit 1) returning *),
  counted as (update ingestion_totals set stored = stored - 1, quarantined = quarantined + 1)
  insert into quarantined_answers
  select tenant_id, gen_random_uuid(), id, 'unprocessable', 'Three workers crashed while storing it.',
    jsonb_build_object('id', id, 'identity', identity, 'question_id', question_id, 'card_id', card_id, 'state', state,
      'values', "values")::text, now() - interval '3 h'
  from one`;

/** Backdates the stored data and rebuilds the results. */
async function moveIntoThePast({ folder }: Place, answers: { at: Date; answer: { id: string } }[]): Promise<void> {
  const { port, password } = JSON.parse(await readFile(join(folder, 'postgres.json'), 'utf8'));
  await withClient(`postgresql://parley:${password}@127.0.0.1:${port}/parley`, async client => {
    await client.query(
      `update answers set received_at = moved.at, stored_at = moved.at, updated_at = moved.at
       from unnest($1::uuid[], $2::timestamptz[]) as moved (id, at) where answers.id = moved.id`,
      [answers.map(({ answer }) => answer.id), answers.map(({ at }) => at)],
    );
    await client.query(
      `update question_versions set created_at = created_at - make_interval(days => case version when 1 then 44 else 17 end)`,
    );
    await client.query(QUARANTINE_ONE);
    for (const { identity, minutesAgo } of TALKS) {
      await client.query(
        `update messages set created_at = now() - make_interval(
           mins => $2::int + 23 * (last_seq + last_note_seq - seq
             - case when event->>'field' = 'status' then 0 else messages.note_seq end))
         from conversations where conversations.id = conversation_id and identity = $1`,
        [identity, minutesAgo],
      );
      await client.query(
        `update conversations set last_activity_at = now() - make_interval(mins => $2::int),
           waiting_since = waiting_since - make_interval(mins => $2::int) where identity = $1`,
        [identity, minutesAgo],
      );
    }
  });
  const { code, stderr } = await runCommand(['results', 'rebuild'], { DATA_DIR: folder });
  if (code !== 0) throw new Error(stderr);
}

/** Creates keys, a team, questions, about 600 answers, conversations and one quarantined answer. */
export async function fill(page: Page, place: Place): Promise<Seeded> {
  const me = (await asPerson(page, 'GET', '/v1/me')) as { account: { memberships: { tenant: { id: string } }[] } };
  const tenantId = me.account.memberships[0]?.tenant.id as string;
  const key = (await asPerson(page, 'POST', '/v1/api-keys', { name: 'backend', kind: 'server' })) as ShownKey;
  const allowed_origins = ['https://app.nordlicht.example'];
  await asPerson(page, 'POST', '/v1/api-keys', { name: 'iOS app', kind: 'public', allowed_origins });
  const send: Send = (method, path, body, bearer = key.api_key) => asBearer(place.baseUrl, bearer, method, path, body);
  const memberId = await inviteTeam(page, place.baseUrl);
  const questions = await createQuestions(send);
  const draft = await send('POST', '/v1/questions', DRAFT);
  const webhookId = await createWebhooks(send);
  const answers = await sendAnswers(send, questions);
  const day = await addWorkingDay(send);
  await setUpInbox(page, memberId);
  const talks: string[] = [];
  for (const told of TALKS.toReversed())
    talks.push(await talk(send, identity => signToken(key, tenantId, identity), memberId, told));
  await send('PUT', '/v1/identities/mara.voss', {
    attributes: { plan: 'Guest', city: 'Kiel', orders: 13, coupon: 'MAY' },
  });
  await send('PUT', '/v1/identities/mara.voss', { attributes: { plan: 'Club', city: 'Kiel', orders: 14 } });
  const conversationId = talks.at(-1) as string;
  const custom = { order_number: '4711', shipping: 'Pick-up point' };
  await send('PATCH', `/v1/conversations/${conversationId}`, { custom });
  await moveIntoThePast(place, answers);
  return { questions, draftId: draft.id, conversationId, webhookId, ...day };
}
