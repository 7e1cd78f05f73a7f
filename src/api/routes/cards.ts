import { z } from 'zod';
import { Card } from '../../domain/cards/cards.ts';
import { int32 } from '../../domain/documented.ts';
import { DeviceLocale } from '../../domain/locales.ts';
import { queryBoolean, queryIntOr } from '../../domain/pages.ts';
import { Appearance } from '../../domain/rules/appearance.ts';
import { text } from '../../domain/text.ts';
import { MAX_CARDS } from '../cache/card-lists.ts';
import { operation, reply } from '../operation.ts';

const CardList = z
  .object({
    data: z.array(Card),
    poll_after_s: int32().meta({ description: 'Seconds until the next fetch' }),
    appearance: Appearance,
  })
  .meta({ id: 'CardList', example: { poll_after_s: 300 } });

const VARY = 'Authorization, Accept-Language';

export const listCards = operation({
  id: 'listCards',
  method: 'get',
  path: '/v1/cards',
  tag: 'Cards',
  summary: 'Get the current feedback cards of the user',
  description:
    'The cards depend on the identity of the token, the rules of each question and the cooldown of the tenant. Audiences compare `platform`, `app_version` and `locale`, or else those of the profile. Each card is entirely in one language: the first that its question has of `locale`, `Accept-Language`, the locale of the profile and the default of the tenant, each followed by its CLDR parents (`es-MX`, then `es-419`, then `es`) and by the same language and script of other regions (`zh-CN` finds `zh-Hans`, never `zh-Hant`), or else the language of the question itself. Send `If-None-Match`; a 304 means that the cards have not changed.',
  credentials: ['access-token', 'public-access-token', 'test-token'],
  query: z.object({
    locale: DeviceLocale.meta({
      description: 'Preferred language (BCP 47); ignored if it is no tag',
      example: 'de-AT',
    }),
    platform: text(50, 1).optional().meta({ description: 'Platform of the app: ios, android, web …' }),
    app_version: text(50, 1).optional().meta({ description: 'Version of the app (semver)' }),
    limit: queryIntOr(1, MAX_CARDS, MAX_CARDS).meta({ description: `Maximum number of cards (1–${MAX_CARDS})` }),
    triggers: queryBoolean.optional().meta({
      description: 'Whether to include cards with a trigger, which the app shows once it occurs (default: no)',
    }),
  }),
  status: 200,
  sends: ['Content-Language', 'Vary'],
  response: CardList,
  etag: true,
  problems: ['database-unavailable'],

  async handle({ caller, query, header }, { cardLists, now }) {
    const { locale, platform, app_version, triggers } = query;
    const request = { locale, platform, app_version, triggers, acceptLanguage: header('accept-language') };
    const { body, etag, languages } = await (caller.kind === 'test-token'
      ? cardLists.test(caller, request)
      : cardLists.get(caller, query.limit, now(), request));
    return reply({ body, headers: { Vary: VARY, 'Content-Language': languages, ETag: etag } });
  },
});

/** Every operation on cards. */
export const cardRoutes = [listCards];
