import { z } from 'zod';
import { Card } from '../../domain/cards.ts';
import { queryBoolean, queryInt } from '../../domain/pages.ts';
import { text } from '../../domain/text.ts';
import { MAX_CARDS } from '../cache/card-deck.ts';
import { LOCALE } from '../cache/card-tail.ts';
import { operation, reply } from '../operation.ts';

const CardList = z.object({ data: z.array(Card), poll_after_s: z.int() }).meta({ id: 'CardList' });

const HEADERS = { Vary: 'Authorization, Accept-Language', 'Content-Language': LOCALE };

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
    triggers: queryBoolean.optional().meta({
      description: 'Accepted and ignored: a later version returns cards with a trigger only with `true`',
    }),
  }),
  status: 200,
  response: CardList,
  etag: true,
  problems: ['database-unavailable'],

  async handle({ caller, query }, { deck, now }) {
    const { body, etag } = await deck.deal(caller, query.limit, now());
    return reply({ body, headers: { ...HEADERS, ETag: etag } });
  },
});

/** Every operation on cards. */
export const cardRoutes = [listCards];
