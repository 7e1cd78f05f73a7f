import { z } from 'zod';
import { Card } from '../../domain/cards.ts';
import { int32 } from '../../domain/documented.ts';
import { queryBoolean, queryIntOr } from '../../domain/pages.ts';
import { text } from '../../domain/text.ts';
import { LOCALE } from '../cache/card-json.ts';
import { MAX_CARDS } from '../cache/card-lists.ts';
import { operation, reply } from '../operation.ts';

const CardList = z
  .object({ data: z.array(Card), poll_after_s: int32().meta({ description: 'Seconds until the next fetch' }) })
  .meta({ id: 'CardList' });

const HEADERS = { Vary: 'Authorization, Accept-Language', 'Content-Language': LOCALE };

export const listCards = operation({
  id: 'listCards',
  method: 'get',
  path: '/v1/cards',
  tag: 'Cards',
  summary: 'Get the current feedback cards of the user',
  description:
    'The cards depend on the identity of the token, the frequency of each question and the cooldown of the tenant. Send `If-None-Match`; a 304 means that the cards have not changed.',
  credentials: ['access-token', 'public-access-token'],
  query: z.object({
    locale: text(35, 2).optional().meta({ description: 'Language of the user (BCP 47)' }),
    platform: text(50, 1).optional().meta({ description: 'Platform of the app: ios, android, web …' }),
    app_version: text(50, 1).optional().meta({ description: 'Version of the app (semver)' }),
    limit: queryIntOr(1, MAX_CARDS, MAX_CARDS).meta({ description: `Maximum number of cards (1–${MAX_CARDS})` }),
    triggers: queryBoolean.optional().meta({
      description: 'Accepted but ignored; reserved for cards with a trigger in a later version',
    }),
  }),
  status: 200,
  sends: ['Content-Language', 'Vary'],
  response: CardList,
  etag: true,
  problems: ['database-unavailable'],

  async handle({ caller, query }, { cardLists, now }) {
    const { body, etag } = await cardLists.get(caller, query.limit, now());
    return reply({ body, headers: { ...HEADERS, ETag: etag } });
  },
});

/** Every operation on cards. */
export const cardRoutes = [listCards];
