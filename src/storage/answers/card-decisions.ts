import type { CardRecord } from '../../domain/cards/cards.ts';
import type { QuestionStatus } from '../../domain/questions/questions.ts';
import type { CardRules } from '../../domain/rules/card-rules.ts';
import type { TenantStorage } from '../database/orm.ts';
import { unnest, wantedRows } from '../database/sql.ts';
import { type CardHistory, type CardProfile, NO_PROFILE } from './cards.ts';

/** A question with the columns that decide on its card. */
export interface DecidedQuestion extends CardRules {
  id: string;
  name: string;
  status: QuestionStatus;
  full_until: Date | null;
}

/** Returns the questions in some states, and the one with `id`, in the order in which cards are shown. */
export const listDecidedQuestions = (
  tenant: TenantStorage,
  statuses: QuestionStatus[],
  id: string | null = null,
): Promise<DecidedQuestion[]> =>
  tenant.query<DecidedQuestion>(
    `select id, name, status, audience, start_at, end_at, trigger, frequency, sampling_percent, response_limit, allow_public, full_until
     from questions where tenant_id = $1 and (status = any($2::text[]) or id = $3::uuid)
     order by priority desc, published_at, id`,
    [tenant.tenantId, statuses, id],
  );

/** A person who was shown a card, and the device of the last view. Its values are text, even if the client sent a number. */
export interface RecentPerson {
  identity: string;
  identity_verified: boolean;
  device: { platform?: string; app_version?: string; locale?: string };
}

/** Number of views per person that are read at most, on average. */
const VIEWS_READ = 4;

/** Returns at most `most` of the people who were shown a card last. */
export const listRecentPeople = (tenant: TenantStorage, most: number): Promise<RecentPerson[]> =>
  tenant.query<RecentPerson>(
    `select identity, identity_verified, device from (
       select distinct on (identity, identity_verified) identity, identity_verified, received_at,
         jsonb_build_object('platform', metadata->>'platform', 'app_version', metadata->>'app_version', 'locale', metadata->>'locale') as device
       from (
         select identity, identity_verified, received_at, metadata from answers
         where tenant_id = $1 order by received_at desc, id desc limit $2
       ) as recent order by identity, identity_verified, received_at desc
     ) as people order by received_at desc limit $3`,
    [tenant.tenantId, VIEWS_READ * most, most],
  );

/** Returns the records and profiles of some people, in their order, in one query. */
export async function readCardHistories(
  tenant: TenantStorage,
  people: readonly Pick<RecentPerson, 'identity' | 'identity_verified'>[],
): Promise<CardHistory[]> {
  const incoming = unnest(people, { identity: 'text', identity_verified: 'boolean' }, 2);
  const rows = await tenant.query<
    CardRecord & { identity: string; identity_verified: boolean; profile: CardProfile | null }
  >(
    `with ${wantedRows(`* from ${incoming.sql}`)}
     select identity, identity_verified, question_id, shown_at, dismissed_at, answered_at, displays, last_value, null as profile
     from wanted join card_records using (tenant_id, identity, identity_verified)
     union all
     select identity, identity_verified, null, null, null, null, null, null, jsonb_build_object('locale', locale, 'platform',
       platform, 'app_version', app_version, 'attributes', attributes)
     from wanted join identities using (tenant_id, identity, identity_verified)`,
    [tenant.tenantId, ...incoming.params],
  );
  const histories = new Map(
    people.map(person => [keyOf(person), { records: [] as CardRecord[], profile: NO_PROFILE }]),
  );
  for (const row of rows) {
    const history = histories.get(keyOf(row));
    if (row.profile && history) history.profile = row.profile;
    else history?.records.push(row);
  }
  return [...histories.values()];
}

const keyOf = ({ identity, identity_verified }: Pick<RecentPerson, 'identity' | 'identity_verified'>): string =>
  `${identity_verified} ${identity}`;
