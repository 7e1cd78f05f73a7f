import { createHash } from 'node:crypto';
import { withClient } from '../src/platform/postgres-client.ts';

/** The numbers of rows to generate, most of which belong to the first tenant. */
export interface Skew {
  answers: number;
  conversations: number;
  messagesEach: number;
  identities: number;
  /** Entries of the audit log and of the quarantine. */
  entries: number;
  /** Small tenants next to the large one. */
  tenants: number;
  /** The large tenant's id, if it exists already. */
  large?: string;
  /** Whether the answers' ids are random (version 4) instead of time-ordered (version 7). */
  randomIds?: boolean;
}

type Query = (sql: string, params?: unknown[]) => Promise<unknown>;

/** A UUID that is the same in each run. */
export const uuidOf = (name: string): string => {
  const digest = createHash('sha256').update(name).digest('hex');
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-7${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
};

/** A time-ordered id that is the same in each run, with the number in place of the time. */
const idOf = (number: string): string =>
  `(lpad(to_hex(${number}), 12, '0') || '7' || substr(md5((${number})::text), 1, 3) || '8' || substr(md5((${number})::text), 4, 15))::uuid`;

/** A conversation of the large tenant. */
export const skewedConversation = ((): string => {
  const digest = createHash('md5').update('1').digest('hex');
  return `00000000-0001-7${digest.slice(0, 3)}-8${digest.slice(3, 6)}-${digest.slice(6, 18)}`;
})();

/** As `tagOf` in `src/storage/search/lexemes.ts`. */
const TAG = `translate(left(encode(sha256(convert_to(tenant::text, 'UTF8')), 'base64'), 4), '+/', '-_')`;

/** The number of different texts of the large tenant and of each small one. */
const TEXTS = { large: 10_000, small: 50 };

/**
 * Texts of about 80 characters with a few frequent and many rare words: of 100 texts 18 contain "everyday", of 10,000
 * one contains "Needle".
 */
const MAKE_TEXTS = `
  create temporary table texts as
  select place, number, body, array(
    select tag || word from unnest(regexp_split_to_array(lower(body), '[^a-z0-9]+')) as word where word <> '') as words
  from (
    select place, number, ${TAG} as tag, (
      select string_agg('w' || floor(20000 * ((hashint8(number * 17 + word) & 1048575) / 1048576.0) ^ 3)::int, ' ')
      from generate_series(1, 12) as word
    ) || case when number % 50 < 9 then ' everyday' else '' end || case when number = 7 then ' Needle' else '' end as body
    from unnest($1::uuid[]) with ordinality as tenant(tenant, place),
      generate_series(0, case place when 1 then ${TEXTS.large} else ${TEXTS.small} end - 1) as number
  ) as made`;

/** The rows of the first small tenant, however many the others have. They are spread evenly over all rows. */
const STEADY = { answers: 1000, conversations: 200, identities: 200, entries: 50 };

/** SQL for the tenant of row `n` and its text: four of five rows are the large tenant's. `steady` is a share of the rest. */
function assignTenants(rows: number, steady: number) {
  const every = Math.max(1, Math.floor(rows / 5 / steady));
  const place = `case when n % 5 > 0 then 1 when n / 5 % ${every} = 0 then 2 else 3 + n / 5 % (cardinality($1::uuid[]) - 2) end`;
  return {
    tenant: `($1::uuid[])[${place}]`,
    joinText: (number: string) =>
      `join texts on texts.place = ${place} and texts.number = (${number}) % case ${place} when 1 then ${TEXTS.large} else ${TEXTS.small} end`,
  };
}

const AT = `(timestamptz '2026-01-01' + n * interval '2 seconds')`;

/**
 * The words of a text as if they had been indexed at the time of row `n`, the last one at the end of this week: those of the
 * large tenant with the marks of `src/storage/search/lexemes.ts`.
 */
const wordsOfRow = (rows: string): string => {
  const week = `(floor(extract(epoch from now()) / 604800)::int - (${rows} - n) * 2 / 604800) % 52`;
  const mark = `case when place = 1 then chr(65 + ${week} / 26) || chr(65 + ${week} % 26) else '' end`;
  return `array_to_tsvector(array(select word || ${mark} from unnest(words) as word))`;
};

/** Ids of the tenants that `fillSkewed` fills: the large one, the small one of constant size, and the other small ones. */
export const skewedTenants = ({ tenants, large = uuidOf('tenant 0') }: Skew): string[] => [
  large,
  ...Array.from({ length: tenants }, (_, number) => uuidOf(`tenant ${number + 1}`)),
];

/** The questions: nine that most answers and cards have, and a rare tenth one. */
export const skewedQuestions = Array.from({ length: 10 }, (_, number) => uuidOf(`question ${number}`));

/** Adds rows of one large tenant and many small ones as the database's owner, in the order of their times. */
export const fillSkewed = (url: string, skew: Skew): Promise<void> =>
  withClient(url, async client => {
    const query: Query = (sql, params) => client.query(sql, params as unknown[]);
    await query(`set work_mem = '256MB'`);
    const tenants = skewedTenants(skew);
    await query(MAKE_TEXTS, [tenants]);
    await query('analyze texts');
    await fillAnswers(query, tenants, skew);
    await fillConversations(query, tenants, skew);
    await fillIdentities(query, tenants, skew.identities);
    await fillEntries(query, tenants, skew.entries);
    await query('vacuum analyze');
  });

/** One in ten answers belongs to the identity `user|busy`; other identities have up to 25 each. */
const identityOf = (number: string) =>
  `'user|' || case when ${number} % 10 = 7 then 'busy' else (${number} % 200000)::text end`;

/** Every third has a comment. */
async function fillAnswers(query: Query, tenants: string[], { answers, randomIds }: Skew): Promise<void> {
  const { tenant, joinText } = assignTenants(answers, STEADY.answers);
  const id = randomIds ? 'md5(n::text)::uuid' : idOf('n::bigint');
  const question = '($3::uuid[])[case when n % 10000 = 1 then 10 else 1 + (n / 3) % 9 end]';
  await query(
    `with answered as (
       insert into answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision,
         state, "values", comment, metadata, content_hash, tags, received_at, stored_at, updated_at)
       select ${tenant}, ${id}, ${identityOf('n')}, n % 10 > 0, ${idOf('n::bigint')}, ${question}, 1, 1,
         case when n % 4 = 0 then 'seen' else 'completed' end, '{"main": 9}', case when n % 3 = 0 then body end,
         '{"platform": "ios", "locale": "en"}', 'x', case when n % 9999 = 0 then array['vip'] else '{}' end, ${AT}, ${AT}, ${AT}
       from generate_series(1, $2::int) as n ${joinText('n / 3')} order by n
     ), worded as (
       insert into answer_words select ${tenant}, ${AT}, ${id}, ${wordsOfRow('$2')}
       from generate_series(1, $2::int) as n ${joinText('n / 3')} where n % 3 = 0 order by n
     )
     insert into card_records (tenant_id, identity, identity_verified, question_id, shown_at, answered_at)
     select distinct on (1, 2, 3, 4) ${tenant}, ${identityOf('n')}, n % 10 > 0, ${question}, ${AT}, ${AT}
     from generate_series(1, $2::int) as n on conflict do nothing`,
    [tenants, answers, skewedQuestions],
  );
}

async function fillConversations(
  query: Query,
  tenants: string[],
  { conversations, messagesEach }: Skew,
): Promise<void> {
  const { tenant, joinText } = assignTenants(conversations, STEADY.conversations);
  await query(
    `with made as (
       insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, assignee_id, tags,
         source_type, last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread,
         team_unread, created_at, updated_at, team_updated_at, last_activity_at)
       select ${tenant}, ${idOf('n::bigint')}, 'user|' || n % 200000, true, '',
         case when n % 10000 = 1 then 'pending' when n % 2 = 0 then 'open' else 'resolved' end, 'none',
         case when n % 9999 = 0 then $3::uuid end, case when n % 9999 = 0 then array['vip'] else '{}' end, 'user',
         $4::int, 0, 'x', 'user', 1, 0, 0, case when n % 9999 = 0 then 1 else 0 end, ${AT}, ${AT}, ${AT}, ${AT}
       from generate_series(1, $2::int) as n
     ), said as (
       insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, body, format, created_at, redacted)
       select ${tenant}, ${idOf('n::bigint * 1000 + seq')}, ${idOf('n::bigint')}, seq, 0, 'reply', 'user', body, 'text', ${AT}, false
       from generate_series(1, $2::int) as n cross join generate_series(1, $4::int) as seq ${joinText('n * 7 + seq')} order by n, seq
     )
     insert into message_words
     select ${tenant}, ${idOf('n::bigint')}, ${idOf('n::bigint * 1000 + seq')}, ${wordsOfRow('$2')}
     from generate_series(1, $2::int) as n cross join generate_series(1, $4::int) as seq ${joinText('n * 7 + seq')} order by n, seq`,
    [tenants, conversations, uuidOf('member'), messagesEach],
  );
}

async function fillIdentities(query: Query, tenants: string[], identities: number): Promise<void> {
  const { tenant } = assignTenants(identities, STEADY.identities);
  await query(
    `insert into card_records (tenant_id, identity, identity_verified, question_id, shown_at, answered_at)
     select ${tenant}, 'user|' || n, true, ($3::uuid[])[1 + n % 9], ${AT}, ${AT} from generate_series(1, $2::int) as n
     on conflict do nothing`,
    [tenants, identities, skewedQuestions],
  );
}

async function fillEntries(query: Query, tenants: string[], entries: number): Promise<void> {
  const { tenant } = assignTenants(entries, STEADY.entries);
  await query(
    `with logged as (
       insert into audit_log (tenant_id, id, at, actor_type, actor_id, actor_name, action, fields)
       select ${tenant}, ${idOf('n::bigint')}, ${AT}, 'member', 'member_' || n % 100, 'Ada', 'answer.tagged', '{}'
       from generate_series(1, $2::int) as n
     )
     insert into quarantined_answers
     select ${tenant}, ${idOf('n::bigint')}, ${idOf('n::bigint')}, 'unknown-card', '', $3, ${AT}
     from generate_series(1, $2::int) as n`,
    [tenants, entries, JSON.stringify({ question_id: skewedQuestions[0], card_id: skewedQuestions[0] })],
  );
}
