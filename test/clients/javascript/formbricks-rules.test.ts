import { describe, expect, test } from 'vitest';
import { NewQuestion } from '../../../src/domain/questions/questions.ts';

const { rulesOf } = (await import('../../../clients/javascript/examples/formbricks/rules.mjs')) as {
  rulesOf(survey: object): { rules: object; losses: string[] };
};

const filter = (contactAttributeKey: string, operator: string, value: unknown, connector: string | null = 'and') => ({
  connector,
  resource: { root: { type: 'attribute', contactAttributeKey }, qualifier: { operator }, value },
});
const NEXT_YEAR = new Date(Date.now() + 365 * 86_400_000).toISOString();

/** The rules of a survey, which a question accepts. */
function accepted(survey: object) {
  const { rules, losses } = rulesOf(survey);
  NewQuestion.parse({ type: 'nps', title: 'How likely?', ...rules });
  return { rules, losses };
}

describe('the rules of a survey of Formbricks', () => {
  test('become those of a question', () => {
    const survey = {
      displayOption: 'displaySome',
      displayLimit: 3,
      recontactDays: 0,
      displayPercentage: 12.5,
      closeOn: NEXT_YEAR,
      delay: 5,
      triggers: [{ actionClass: { type: 'code', key: 'order_completed', name: 'Order' } }],
      segment: {
        filters: [
          filter('plan', 'equals', 'pro', null),
          { connector: 'and', resource: [filter('seats', 'greaterEqual', 5, null), filter('mail', 'isSet', '', 'or')] },
          filter('city', 'doesNotContain', 'Kiel'),
        ],
      },
    };
    expect(accepted(survey)).toEqual({
      losses: [],
      rules: {
        audience: {
          all: [
            { attribute: 'plan', op: 'eq', value: 'pro' },
            {
              any: [
                { attribute: 'seats', op: 'gte', value: 5 },
                { attribute: 'mail', op: 'set' },
              ],
            },
            { attribute: 'city', op: 'set' },
            { none: [{ attribute: 'city', op: 'contains', value: 'Kiel' }] },
          ],
        },
        trigger: { event: 'order_completed', delay_s: 5 },
        frequency: { repeat: 'until_answered', max_displays: 3, ignore_cooldown: true },
        schedule: { end_at: NEXT_YEAR },
        sampling_percent: 12.5,
      },
    });
  });

  test('have comparisons of dates, with an age in days', () => {
    const filters = [
      filter('signup', 'isOlderThan', { amount: 2, unit: 'weeks' }, null),
      filter('login', 'isNewerThan', { amount: 3, unit: 'days' }),
      filter('trial_end', 'isAfter', '2026-05-01T00:00:00.000Z'),
      filter('renewal', 'isBefore', '2027-01-01'),
    ];
    expect(accepted({ segment: { filters } })).toEqual({
      losses: [],
      rules: {
        audience: {
          all: [
            { attribute: 'signup', op: 'older_than_days', value: 14 },
            { attribute: 'login', op: 'newer_than_days', value: 3 },
            { attribute: 'trial_end', op: 'after', value: '2026-05-01T00:00:00.000Z' },
            { attribute: 'renewal', op: 'before', value: '2027-01-01' },
          ],
        },
      },
    });
  });

  test('have the end of a survey also under its name before Formbricks 5', () => {
    expect(accepted({ closeOnDate: NEXT_YEAR }).rules).toEqual({ schedule: { end_at: NEXT_YEAR } });
  });

  test('with text that an attribute does not contain need the attribute, also as one of several', () => {
    const filters = [filter('city', 'doesNotContain', 'Kiel', null), filter('seats', 'lessThan', 5, 'or')];
    const [city, seats] = [
      { all: [{ attribute: 'city', op: 'set' }, { none: [{ attribute: 'city', op: 'contains', value: 'Kiel' }] }] },
      { attribute: 'seats', op: 'lt', value: 5 },
    ];
    expect(accepted({ segment: { filters } }).rules).toEqual({ audience: { any: [city, seats] } });
    expect(accepted({ segment: { filters: filters.slice(0, 1) } }).rules).toEqual({ audience: city });
  });

  test('that the survey does not set are absent', () => {
    expect(accepted({ triggers: [], segment: null, closeOnDate: '2020-01-01T00:00:00Z' })).toEqual({
      ...{ rules: {}, losses: [] },
    });
  });

  test.each([
    [
      'pageView',
      { urlFilters: [{ rule: 'startsWith', value: '/shop' }] },
      { url: { op: 'starts_with', value: '/shop' } },
    ],
    ['pageView', {}, { url: { op: 'contains', value: '/' } }],
    ['click', { elementSelector: { cssSelector: '#buy' } }, { click: '#buy' }],
  ])('have a trigger by %s', (type, config, trigger) => {
    const triggers = [{ actionClass: { type: 'noCode', noCodeConfig: { type, ...config } } }];
    expect(accepted({ triggers })).toEqual({ losses: [], rules: { trigger: { ...trigger, delay_s: 0 } } });
  });

  test('without an equivalent are reported, and the others are kept', () => {
    const noCode = (type: string, config: object = {}) => ({
      triggers: [{ actionClass: { type: 'noCode', noCodeConfig: { type, ...config } } }],
    });
    const lossOf = (survey: object) => accepted({ displayOption: 'displayOnce', ...survey });
    const kept = { frequency: { repeat: 'once' } };
    const losses: [object, string][] = [
      [noCode('exitIntent'), 'trigger: a trigger by exitIntent'],
      [
        noCode('click', { elementSelector: { cssSelector: '#buy', innerHtml: 'Buy' } }),
        'trigger: a trigger by the text of an element',
      ],
      [
        noCode('pageView', { urlFilters: [{ rule: 'notContains', value: '/x' }] }),
        'trigger: a trigger with several or excluded addresses',
      ],
      [{ triggers: [{ actionClass: {} }, { actionClass: {} }] }, 'trigger: several triggers'],
      [
        {
          segment: {
            filters: [filter('a', 'isSet', '', null), filter('b', 'isSet', ''), filter('c', 'isSet', '', 'or')],
          },
        },
        'audience: filters joined by "and" as well as "or"',
      ],
      [
        { segment: { filters: [{ connector: null, resource: { root: { type: 'device' }, qualifier: {} } }] } },
        'audience: a filter by device',
      ],
      [{ segment: { filters: [filter('a', 'userIsIn', 'x', null)] } }, 'audience: the comparison userIsIn'],
      [
        { segment: { filters: [filter('a', 'isOlderThan', { amount: 2, unit: 'months' }, null)] } },
        'audience: an age in months, which Parley has in days',
      ],
      [
        { segment: { filters: [filter('Plan Type', 'isSet', '', null)] } },
        'audience: the attribute "Plan Type", whose name can have A-Z a-z 0-9 _ . - only',
      ],
      [{ publishOn: NEXT_YEAR }, `the start at ${NEXT_YEAR}: resume the question then`],
      [{ recontactDays: 14 }, 'a waiting time of 14 days of its own: the cooldown of the tenant applies'],
      [
        { autoComplete: 200 },
        'the limit of 200 responses: set response_limit after the last import, which it would stop',
      ],
      [{ runOnDate: NEXT_YEAR }, `the start at ${NEXT_YEAR}: resume the question then`],
    ];
    for (const [survey, loss] of losses) expect(lossOf(survey)).toEqual({ rules: kept, losses: [loss] });
  });
});
