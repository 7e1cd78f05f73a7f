import { describe, expect, test } from 'vitest';
import { NewQuestion } from '../../../src/domain/questions.ts';

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
      closeOnDate: NEXT_YEAR,
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
      [noCode('click', { elementSelector: { innerHtml: 'Buy' } }), 'trigger: a trigger by click'],
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
