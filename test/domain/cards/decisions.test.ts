import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CardRecord } from '../../../src/domain/cards/cards.ts';
import { compileAudience, createAudienceCompiler } from '../../../src/domain/cards/compiled-audiences.ts';
import {
  compileRule,
  compileRules,
  decide,
  explainCards,
  GATES,
  judgeReach,
  type PersonFacts,
  type Rule,
  selectCards,
  startCooldown,
  toPerson,
} from '../../../src/domain/cards/decisions.ts';
import { newUuid, parseTypeId } from '../../../src/domain/ids.ts';
import { type Audience, AudienceInput } from '../../../src/domain/rules/audiences.ts';
import { completeFrequency, type Frequency } from '../../../src/domain/rules/card-rules.ts';
import { TriggerInput } from '../../../src/domain/rules/triggers.ts';
import cases from '../decisions.json' with { type: 'json' };

const NOW = Date.parse(cases.now);
const DAY_MS = 86_400_000;
const QUESTION = '01936d5e-8f00-7000-8000-00000000000a';
const OTHER = '01936d5e-8f00-7000-8000-00000000000b';
const TERMS = { days: 7, ignoring: new Set<string>() };

const timeOf = (text: string | null | undefined) => (text ? new Date(text) : null);
const aRecord = (fields: Partial<CardRecord> = {}): CardRecord => ({
  ...{ question_id: QUESTION, shown_at: new Date(NOW - 30 * DAY_MS), dismissed_at: null, answered_at: null },
  ...{ displays: 1, last_value: null, ...fields },
});
const aPerson = (fields: Partial<PersonFacts> = {}) =>
  toPerson({
    ...{ identity: 'ada', verified: true, attributes: {}, records: [] },
    ...{ platform: null, app_version: null, locale: null, ...fields },
  });

type RuleFields = Omit<Partial<Parameters<typeof compileRule>[0]>, 'frequency'> & { frequency?: Partial<Frequency> };
const aRow = ({ frequency = {}, ...fields }: RuleFields = {}): Parameters<typeof compileRule>[0] => ({
  ...{ id: QUESTION, status: 'live', allow_public: false, start_at: null, end_at: null, trigger: null },
  ...{ sampling_percent: 100, audience: null, ...fields, frequency: completeFrequency(frequency) },
});
const aRule = (fields: RuleFields = {}, limitReached: Rule['limitReached'] = null) =>
  compileRule(aRow(fields), limitReached);
const TRIGGER = TriggerInput.parse({ event: 'paid' });

describe('a condition of an audience', () => {
  interface Facts extends Partial<PersonFacts> {
    answered?: { at: string; value: unknown };
  }
  const personOf = ({ answered, ...facts }: Facts) => {
    const question_id = parseTypeId('question', 'question_01jdpnx3r0e008000000000001') as string;
    const at = timeOf(answered?.at);
    return aPerson({
      ...facts,
      records: at ? [aRecord({ question_id, answered_at: at, last_value: answered?.value })] : [],
    });
  };
  const meets = (tree: unknown, facts: unknown) => {
    const audience = AudienceInput.parse(tree);
    return compileAudience(audience).includes(personOf(facts as Facts), NOW);
  };

  test.each(
    cases.conditions.map(({ leaf, facts, met }) => [JSON.stringify(leaf), JSON.stringify(facts), met] as const),
  )('%s with %s: %s', (leaf, facts, met) => {
    const [condition, person] = [JSON.parse(leaf), JSON.parse(facts)];
    expect(meets({ all: [condition] }, person)).toBe(met);
    expect(meets({ any: [condition] }, person)).toBe(met);
    expect(meets({ none: [condition] }, person)).toBe(!met);
  });

  test.each(cases.trees.map(({ tree, facts, met }) => [JSON.stringify(tree), met, facts] as const))(
    'in a tree %s: %s',
    (tree, met, facts) => {
      expect(meets(JSON.parse(tree), facts)).toBe(met);
    },
  );
});

interface GateCase {
  name: string;
  rule: Record<string, unknown>;
  record?: Record<string, string | number>;
  now?: string;
  verified?: boolean;
  attributes?: Record<string, string>;
  limit_reached?: { until: string | null };
  other_shown_at?: string;
  fails: string | null;
  passes_at: string | null;
}

function readCase({ rule, record, now, verified = true, attributes = {}, ...given }: GateCase) {
  const fields = { ...rule, trigger: rule.trigger ? TRIGGER : null };
  const times = Object.fromEntries(['start_at', 'end_at'].map(name => [name, timeOf(rule[name] as string)]));
  const records = [
    ...(record
      ? [
          aRecord({
            ...record,
            ...Object.fromEntries(
              ['shown_at', 'dismissed_at', 'answered_at'].map(name => [name, timeOf(record[name] as string)]),
            ),
          } as Partial<CardRecord>),
        ]
      : []),
    ...(given.other_shown_at ? [aRecord({ question_id: OTHER, shown_at: new Date(given.other_shown_at) })] : []),
  ];
  const until = given.limit_reached?.until;
  return {
    rule: aRule(
      { ...fields, ...times } as RuleFields,
      given.limit_reached ? { until: until ? Date.parse(until) : null } : null,
    ),
    person: aPerson({ verified, attributes, records }),
    at: now ? Date.parse(now) : NOW,
  };
}

describe('the gates', () => {
  test.each((cases.gates as GateCase[]).map(one => [one.name, one] as const))('%s', (_, one) => {
    const { rule, person, at } = readCase(one);
    const failed = [...decide(rule, person, startCooldown(person, TERMS, at), at)].find(({ passed }) => !passed);
    expect(failed?.gate ?? null).toBe(one.fails);
    const passesAt = failed?.changesAt ?? null;
    expect(passesAt === null ? null : new Date(passesAt).toISOString()).toBe(one.passes_at);
  });

  test('are decided in one order, and no gate after the first that fails is evaluated', () => {
    const rule = aRule();
    const person = aPerson({ verified: false });
    expect([...decide(rule, person, startCooldown(person, TERMS, NOW), NOW)].map(({ gate }) => gate)).toEqual(GATES);
    let evaluated = 0;
    const counting = { includes: () => ++evaluated > 0, changes: [] };
    selectCards([{ ...rule, audience: counting }], person, TERMS, NOW);
    expect(evaluated).toBe(0);
    selectCards([{ ...rule, audience: counting }], aPerson(), TERMS, NOW);
    expect(evaluated).toBe(1);
  });

  test('are more than a hundred cases', () => {
    const { conditions, trees, gates, lists } = cases;
    expect(conditions.length + trees.length + gates.length + lists.length).toBeGreaterThanOrEqual(100);
  });
});

test('a condition of several questions is evaluated once for each person', () => {
  const audience: Audience = { all: [{ attribute: 'plan', op: 'eq', value: 'pro' }] };
  const rows = Array.from({ length: 20 }, () => ({ ...aRow({ id: newUuid(), audience }), full_until: null }));
  const rules = compileRules(rows);
  let evaluated = 0;
  for (const [plan, cards] of [
    ['pro', 1],
    ['free', 0],
    ['pro', 1],
  ] as const) {
    const attributes = Object.defineProperty({}, 'plan', { get: () => ++evaluated && plan });
    expect(selectCards(rules, aPerson({ attributes }), TERMS, NOW).positions).toHaveLength(cards);
  }
  expect(evaluated).toBe(3);
});

describe('a list of cards', () => {
  interface Shape {
    ignore?: boolean;
    trigger?: boolean;
    answered?: boolean;
    seen?: boolean;
  }
  interface ListCase {
    name: string;
    questions: Shape[];
    shown: number[];
    cooldown_days?: number;
  }

  test.each((cases.lists as ListCase[]).map(one => [one.name, one] as const))(
    '%s',
    (_, { questions, shown, ...rest }) => {
      const yesterday = new Date(NOW - DAY_MS);
      const ids = questions.map(() => newUuid());
      const rules = questions.map(({ ignore = false, trigger }, index) =>
        aRule({ id: ids[index] as string, trigger: trigger ? TRIGGER : null, frequency: { ignore_cooldown: ignore } }),
      );
      const records = questions.flatMap(({ seen, answered }, index) =>
        seen || answered
          ? [
              aRecord({
                question_id: ids[index] as string,
                shown_at: yesterday,
                answered_at: answered ? yesterday : null,
              }),
            ]
          : [],
      );
      const ignoring = new Set(ids.filter((_id, index) => questions[index]?.ignore));
      const terms = { days: rest.cooldown_days ?? 7, ignoring };
      expect(selectCards(rules, aPerson({ records }), terms, NOW).positions).toEqual(shown);
    },
  );
});

/** Rules and histories that pass and fail every gate. */
const days = (min: number, max: number) =>
  fc.integer({ min: min * 24, max: max * 24 }).map(hours => new Date(NOW + hours * 3_600_000));
const someAudience: fc.Arbitrary<Audience | null> = fc.option(
  fc.constantFrom<Audience>(
    { all: [{ attribute: 'plan', op: 'eq', value: 'pro' }] },
    { any: [{ platform: { op: 'eq', value: 'ios' } }, { locale: { op: 'eq', value: 'de' } }] },
    {
      all: [
        { attribute: 'since', op: 'older_than_days', value: 3 },
        { attribute: 'since', op: 'newer_than_days', value: 9 },
      ],
    },
    { none: [{ attribute: 'since', op: 'newer_than_days', value: 5 }, { app_version: { op: 'lt', value: '2.0.0' } }] },
  ),
);
const someRule = fc
  .record({
    status: fc.constantFrom('live', 'live', 'live', 'scheduled', 'paused'),
    allow_public: fc.boolean(),
    schedule: fc.record({
      start_at: fc.option(days(-9, 2)),
      end_at: fc.option(days(3, 9)),
      ended: fc.constantFrom(false, false, false, true),
    }),
    trigger: fc.option(fc.constant(TRIGGER)),
    sampling_percent: fc.constantFrom(100, 100, 50),
    audience: someAudience,
    frequency: fc.record({
      repeat: fc.constantFrom('once', 'until_answered', 'always', 'every_days'),
      every_days: fc.constant(4),
      max_displays: fc.option(fc.integer({ min: 1, max: 5 })),
      snooze_after_dismiss_days: fc.integer({ min: 0, max: 9 }),
      ignore_cooldown: fc.boolean(),
    }),
    limit: fc.option(fc.record({ until: fc.option(days(-1, 4)) }), { freq: 4 }),
  })
  .map(({ limit, schedule: { ended, ...schedule }, ...fields }) => ({
    fields: { ...fields, ...(ended ? { start_at: null, end_at: new Date(NOW - DAY_MS) } : schedule) } as RuleFields,
    limit: limit && { until: limit.until?.getTime() ?? null },
  }));
const someRecord = fc.option(
  fc.record({
    shown_at: days(-12, 0),
    dismissed_at: fc.option(days(-12, 0)),
    answered_at: fc.option(days(-12, 0)),
    displays: fc.integer({ min: 1, max: 5 }),
  }),
);
const someWorld = fc
  .record({
    rules: fc.array(someRule, { minLength: 1, maxLength: 5 }),
    records: fc.array(someRecord, { minLength: 5, maxLength: 5 }),
    verified: fc.boolean(),
    platform: fc.option(fc.constantFrom('ios', 'web')),
    app_version: fc.option(fc.constantFrom('1.9.0', '2.1.0')),
    attributes: fc.record({ plan: fc.constantFrom('pro', 'free'), since: days(-12, 0).map(at => at.toISOString()) }),
  })
  .map(({ rules, records, ...facts }) => {
    const ids = rules.map((_, index) => `${QUESTION.slice(0, -1)}${index}`);
    const { compile } = createAudienceCompiler();
    return {
      rules: rules.map(({ fields, limit }, index) => aRule({ ...fields, id: ids[index] as string }, limit)),
      sharing: rules.map(({ fields, limit }, index) =>
        compileRule(aRow({ ...fields, id: ids[index] as string }), limit, compile),
      ),
      person: aPerson({
        ...facts,
        records: ids.flatMap((question_id, index) =>
          records[index] ? [aRecord({ question_id, ...records[index] })] : [],
        ),
      }),
    };
  });

describe('for any rules and histories', () => {
  test('what is returned, explained and reached never disagrees', () => {
    fc.assert(
      fc.property(someWorld, ({ rules, person }) => {
        const { positions } = selectCards(rules, person, TERMS, NOW);
        const explained = explainCards(rules, person, TERMS, NOW);
        expect(explained.flatMap(({ shown }, position) => (shown ? [position] : []))).toEqual(positions);
        for (const [position, { verdicts }] of explained.entries())
          expect(judgeReach(rules, position, person, TERMS, NOW)).toBe(verdicts.find(({ passed }) => !passed)?.gate);
      }),
      { numRuns: 2000 },
    );
  });

  test('rules that share equal conditions decide like others, for one person after another and at any time', () => {
    fc.assert(
      fc.property(fc.array(someWorld, { minLength: 2, maxLength: 2 }), worlds => {
        const [{ rules, sharing }] = worlds as [(typeof worlds)[number]];
        for (const time of [NOW, NOW + 2 * DAY_MS, NOW])
          for (const { person } of worlds)
            expect(explainCards(sharing, person, TERMS, time)).toEqual(explainCards(rules, person, TERMS, time));
      }),
      { numRuns: 1000 },
    );
  });

  test('a gate changes at its time, and not a millisecond before', () => {
    fc.assert(
      fc.property(someWorld, ({ rules, person }) => {
        for (const [position, { verdicts }] of explainCards(rules, person, TERMS, NOW).entries())
          for (const [place, { passed, changesAt }] of verdicts.entries()) {
            if (changesAt === null) continue;
            const [rule] = [rules[position] as Rule];
            const at = (time: number) =>
              [...decide(rule, person, startCooldown(person, TERMS, time), time)][place]?.passed;
            expect([at(changesAt - 1), at(changesAt)]).toEqual([passed, !passed]);
          }
      }),
      { numRuns: 2000 },
    );
  });

  test('the selection stays the same until the time at which it may change', () => {
    fc.assert(
      fc.property(someWorld, ({ rules, person }) => {
        const { positions, changesAt } = selectCards(rules, person, TERMS, NOW);
        const horizon = Math.min(changesAt, NOW + 400 * DAY_MS);
        for (const part of [0.25, 0.5, 0.75, 1]) {
          const time = NOW + Math.floor((horizon - 1 - NOW) * part);
          expect(selectCards(rules, person, TERMS, time).positions).toEqual(positions);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a sample', () => {
  const identities = Array.from({ length: 100_000 }, (_, number) => aPerson({ identity: `user|${number}` }));
  const sampleOf = (id: string, sampling_percent: number) => {
    const rule = aRule({ id, sampling_percent });
    return identities.map(person => selectCards([rule], person, TERMS, NOW).positions.length === 1);
  };
  const share = (sample: boolean[]) => (100 * sample.filter(Boolean).length) / sample.length;

  test('of 20 percent keeps everyone of the first 10, within half a point of either', () => {
    const [ten, twenty] = [sampleOf(QUESTION, 10), sampleOf(QUESTION, 20)];
    expect(ten.every((isIn, index) => !isIn || twenty[index])).toBe(true);
    expect(Math.abs(share(ten) - 10)).toBeLessThan(0.5);
    expect(Math.abs(share(twenty) - 20)).toBeLessThan(0.5);
  });

  test('has the same people in every version', () => {
    const sample = sampleOf(QUESTION, 10).slice(0, 100);
    const numbers = sample.flatMap((isIn, number) => (isIn ? [number] : []));
    expect(numbers).toEqual([3, 5, 12, 14, 15, 19, 31, 43, 68, 74, 75, 90, 91, 93]);
  });

  test('of one question is independent of that of another', () => {
    const [one, other] = [sampleOf(QUESTION, 50), sampleOf(OTHER, 50)];
    expect(Math.abs(share(one.map((isIn, index) => isIn && other[index] === true)) - 25)).toBeLessThan(0.5);
  });

  test('is the same for a verified and a claimed identity', () => {
    const rule = aRule({ sampling_percent: 50, allow_public: true });
    for (let number = 0; number < 1000; number++) {
      const seen = [true, false].map(
        verified => selectCards([rule], aPerson({ identity: `user|${number}`, verified }), TERMS, NOW).positions.length,
      );
      expect(seen[0]).toBe(seen[1]);
    }
  });
});
