import { z } from 'zod';
import { Card, decideCards, MAIN_STEP } from '../../domain/cards.ts';
import { toTypeId } from '../../domain/ids.ts';
import { queryInt } from '../../domain/pages.ts';
import { text } from '../../domain/text.ts';
import { listCardRecords } from '../../storage/cards.ts';
import type { QuestionRow } from '../../storage/questions.ts';
import { operation, reply } from '../operation.ts';

const MAX_CARDS = 20;
/** How long an app may wait before it asks again. */
const POLL_AFTER_SECONDS = 300;
/** The language in which questions are written, until they have translations. */
const LOCALE = 'en';

const CardList = z.object({ data: z.array(Card), poll_after_s: z.int() }).meta({ id: 'CardList' });

const presentCard = (question: QuestionRow, id: string) => ({
  id: toTypeId('card', id),
  question_id: toTypeId('question', question.id),
  question_version: question.version,
  kind: 'question',
  steps: [
    {
      key: MAIN_STEP,
      type: question.type,
      title: question.title,
      description: question.description,
      config: question.config,
      required: question.type !== 'statement',
      show_if: null,
    },
  ],
  locale: LOCALE,
  priority: question.priority,
  expires_at: null,
  reply: null,
});

const listCards = operation({
  id: 'listCards',
  method: 'get',
  path: '/v1/cards',
  tag: 'Cards',
  summary: 'Fetch the feedback cards that the user sees now',
  description:
    'Decided for the identity of the token: by the frequency of each question and by the cooldown between any two. Ask with `If-None-Match`; 304 says that nothing changed.',
  credentials: ['access-token', 'public-access-token'],
  query: z.object({
    locale: text(35, 2).optional().meta({ description: 'BCP 47; taken from the first release on' }),
    platform: text(50, 1).optional().meta({ description: 'ios, android, web …' }),
    app_version: text(50, 1).optional().meta({ description: 'The version of the app, semver' }),
    limit: queryInt(1, MAX_CARDS)
      .default(MAX_CARDS)
      .meta({ description: `How many at most, 1…${MAX_CARDS}` }),
  }),
  status: 200,
  response: CardList,
  etag: true,
  problems: ['database-unavailable'],

  async handle({ caller, query }, { catalog, storage, cardIds, now }) {
    const [tenant, records] = await Promise.all([
      catalog.of(caller.tenantId),
      listCardRecords(storage.forTenant(caller.tenantId), caller.identity, caller.verified),
    ]);
    const candidates = caller.verified ? tenant.live : tenant.live.filter(question => question.allow_public);
    const due = decideCards(candidates, records, tenant.ignoringCooldown, tenant.cooldownDays, now());
    const data = due.slice(0, query.limit).map(question => presentCard(question, cardIds(caller, question.id)));
    return reply({
      body: { data, poll_after_s: POLL_AFTER_SECONDS },
      headers: { Vary: 'Authorization, Accept-Language', 'Content-Language': LOCALE },
    });
  },
});

/** Every operation on cards. */
export const cardRoutes = [listCards];
