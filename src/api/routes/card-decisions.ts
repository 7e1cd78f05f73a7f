import { z } from 'zod';
import { CardDecisions, MAX_JUDGED, presentVerdict, Reach, ReachRequest } from '../../domain/cards/card-decisions.ts';
import {
  compileRules,
  explainCards,
  type Gate,
  judgeReach,
  type PersonFacts,
  toPerson,
} from '../../domain/cards/decisions.ts';
import { documentedAs } from '../../domain/documented.ts';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { DeviceLocale } from '../../domain/locales.ts';
import { queryBoolean } from '../../domain/pages.ts';
import { notFound } from '../../domain/problem.ts';
import { defined } from '../../domain/rules/card-rules.ts';
import { Identity, text } from '../../domain/text.ts';
import { createTurns } from '../../platform/turns.ts';
import { listDecidedQuestions, listRecentPeople, readCardHistories } from '../../storage/answers/card-decisions.ts';
import { readCardHistory } from '../../storage/answers/cards.ts';
import type { TenantStorage } from '../../storage/database/orm.ts';
import { requireKnownQuestions } from '../../storage/questions/audience-references.ts';
import { deviceOf } from '../cache/card-lists.ts';
import type { Catalog } from '../cache/catalog.ts';
import { operation } from '../operation.ts';

const termsOf = async (catalog: Catalog, tenantId: string) => {
  const { cooldownDays, ignoringCooldown } = await catalog.of(tenantId);
  return { days: cooldownDays, ignoring: ignoringCooldown };
};

export const readCardDecisions = operation({
  id: 'readCardDecisions',
  method: 'get',
  path: '/v1/identities/{identity}/card-decisions',
  tag: 'Identities',
  summary: 'Explain which cards a user sees, and why not the others',
  description:
    'Lists every published question that is not archived with the verdict of each gate, evaluated by the function that also decides on card lists. `platform`, `app_version` and `locale` are those that the app would send; without them, the profile decides.',
  credentials: ['api-key', 'session'],
  right: 'identities:read',
  params: z.object({ identity: Identity }),
  query: z.object({
    verified: queryBoolean.default(true).meta({
      override: documentedAs({ type: 'boolean', default: true }),
      description: 'Whether to use the verified or the claimed identity of that name (default: verified)',
    }),
    platform: text(50, 1).optional().meta({ description: 'Platform of the app' }),
    app_version: text(50, 1).optional().meta({ description: 'Version of the app' }),
    locale: DeviceLocale.meta({ description: 'Language of the app (BCP 47); ignored if it is no tag' }),
  }),
  status: 200,
  response: CardDecisions,
  heavy: true,
  async handle({ caller, params, query }, { storage, catalog, now }) {
    const tenant = storage.forTenant(caller.tenantId);
    const { identity } = params;
    const { verified, ...device } = query;
    const [rows, { records, profile }, terms] = await Promise.all([
      listDecidedQuestions(tenant, ['scheduled', 'live', 'paused', 'closed']),
      readCardHistory(tenant, identity, verified),
      termsOf(catalog, caller.tenantId),
    ]);
    const { attributes } = profile;
    const person = toPerson({ identity, verified, attributes, records, ...deviceOf(device, profile) });
    const rules = compileRules(rows);
    const data = explainCards(rules, person, terms, now().getTime()).map(({ shown, verdicts }, index) => ({
      question_id: toTypeId('question', rules[index]?.id as string),
      name: rows[index]?.name,
      shown,
      gates: verdicts.map(presentVerdict),
    }));
    return { identity, verified, data };
  },
});

/** Number of people whose records are read at once. */
const PEOPLE_AT_ONCE = 250;

export const estimateReach = operation({
  id: 'estimateReach',
  method: 'post',
  path: '/v1/questions/{id}/reach',
  tag: 'Questions',
  summary: 'Estimate whom a question reaches',
  description: `Evaluates the question for the last ${MAX_JUDGED.toLocaleString('en')} people who were shown a card, with the rules of the body in place of its own. A question that is not live is evaluated as if it were. The device is that of the profile, or else of the last view.`,
  credentials: ['api-key', 'session'],
  right: 'questions:read',
  params: z.object({ id: typeId('question') }),
  body: ReachRequest,
  status: 200,
  response: Reach,
  heavy: true,
  async handle({ caller, params, body }, { storage, catalog, now }) {
    const tenant = storage.forTenant(caller.tenantId);
    await requireKnownQuestions(tenant, caller.tenantId, body.audience);
    const [rows, terms] = await Promise.all([
      listDecidedQuestions(tenant, ['scheduled', 'live'], params.id),
      termsOf(catalog, caller.tenantId),
    ]);
    const position = rows.findIndex(({ id }) => id === params.id);
    if (position < 0) throw notFound('question');
    const rules = compileRules(
      rows.map((row, index) => (index === position ? { ...row, ...defined(body), status: 'live' } : row)),
    );
    return countReached(tenant, (facts: PersonFacts) =>
      judgeReach(rules, position, toPerson(facts), terms, now().getTime()),
    );
  },
});

/** Counts the people by the first gate that fails. */
async function countReached(tenant: TenantStorage, judge: (facts: PersonFacts) => Gate | undefined) {
  const people = await listRecentPeople(tenant, MAX_JUDGED);
  const withheld: Record<string, number> = {};
  const turns = createTurns();
  let reached = 0;
  for (let first = 0; first < people.length; first += PEOPLE_AT_ONCE) {
    const some = people.slice(first, first + PEOPLE_AT_ONCE);
    const histories = await readCardHistories(tenant, some);
    for (const [index, { records, profile }] of histories.entries()) {
      const { identity, identity_verified: verified, device } = some[index] as (typeof some)[number];
      const { attributes } = profile;
      const failed = judge({ identity, verified, attributes, records, ...deviceOf(profile, device) });
      if (failed) withheld[failed] = (withheld[failed] ?? 0) + 1;
      else reached++;
      await turns();
    }
  }
  return { judged: people.length, reached, withheld };
}

/** Every operation that explains decisions on cards. */
export const cardDecisionRoutes = [readCardDecisions, estimateReach];
