import { expect, test } from 'vitest';
import type { Schemas } from '../../../dashboard/api/schema.ts';
import { audienceOf, audienceValuesOf } from '../../../dashboard/pages/questions/rules/audience-values.ts';
import {
  EMPTY_RULES,
  ruleFieldNameOf,
  rulesOf,
  ruleValuesOf,
} from '../../../dashboard/pages/questions/rules/rule-values.ts';
import { triggerOf, triggerValuesOf } from '../../../dashboard/pages/questions/rules/trigger-values.ts';
import { AudienceInput } from '../../../src/domain/rules/audiences.ts';
import { TriggerInput } from '../../../src/domain/rules/triggers.ts';

const QUESTION = 'question_01jdknj3r0e008000000000001';
const CONDITIONS: Schemas['AudienceNode'][] = [
  { attribute: 'plan', op: 'in', value: ['pro', 'team'] },
  { attribute: 'seats', op: 'gte', value: 5 },
  { attribute: 'beta', op: 'eq', value: true },
  { attribute: 'signed_up', op: 'older_than_days', value: 30 },
  { attribute: 'renewal', op: 'before', value: '2026-12-31' },
  { attribute: 'city', op: 'not_set' },
  { attribute: 'city', op: 'in', value: ['Paris, TX', 'Berlin'] },
  { attribute: 'city', op: 'eq', value: '' },
  { attribute: 'code', op: 'starts_with', value: ' a' },
  { platform: { op: 'in', value: ['ios', 'android'] } },
  { app_version: { op: 'gte', value: '1.4.0' } },
  { locale: { op: 'in', value: ['de'] } },
  { verified: false },
  { answered: { question: QUESTION, op: 'lte', value: 6, within_days: 30 } },
  { answered: { question: QUESTION, op: 'eq', value: '6' } },
  { answered: { question: QUESTION, op: 'in', value: [1, 2] } },
  { answered: { question: QUESTION, op: 'not_answered' } },
];

test.each(['all', 'any', 'none'] as const)('an audience of the group %s is the same after it was edited', match => {
  const audience = { [match]: CONDITIONS };
  expect(AudienceInput.safeParse(audience).success).toBe(true);
  expect(audienceOf(audienceValuesOf(audience))).toEqual(audience);
});

test('an audience with groups in groups is kept, and none is everyone', () => {
  const nested = { all: [{ any: [{ verified: true }] }] };
  expect(audienceOf(audienceValuesOf(nested))).toEqual(nested);
  expect(audienceOf(audienceValuesOf(null))).toBe(null);
});

test.each([
  {
    ...{ event: 'order_completed', click: null, url: { op: 'contains', value: '/shop' }, count: 3, delay_s: 10 },
    ...{ cancel_on: ['logout', 'error'], where: [{ property: 'total', op: 'gte', value: 100 }] },
  },
  { event: null, click: '#done', url: null, count: 1, delay_s: 0, cancel_on: [], where: [] },
  {
    event: null,
    click: null,
    url: { op: 'ends_with', value: '/done' },
    count: 1,
    delay_s: 0,
    cancel_on: [],
    where: [],
  },
] as Schemas['Trigger'][])('a trigger is the same after it was edited: %o', trigger => {
  expect(TriggerInput.safeParse(trigger).success).toBe(true);
  expect(triggerOf(triggerValuesOf(trigger))).toEqual(trigger);
});

test('a template, which has no rules but the frequency, is a question for everyone', () => {
  const { frequency } = EMPTY_RULES;
  expect(rulesOf(ruleValuesOf({ frequency }))).toEqual({
    ...{ audience: null, schedule: { start_at: null, end_at: null }, trigger: null, frequency },
    ...{ sampling_percent: 100, response_limit: null },
  });
});

test.each([
  ['audience', 'audience/match'],
  ['audience/all/2', 'audience/conditions/2/subject'],
  ['audience/any/0/value', 'audience/conditions/0/text'],
  ['audience/none/1/app_version/value/3', 'audience/conditions/1/text'],
  ['audience/all/0/answered/value', 'audience/conditions/0/answers'],
  ['audience/all/0/answered/question', 'audience/conditions/0/question'],
  ['trigger/where/1/value', 'trigger/where/1/text'],
  ['trigger/event', 'trigger/event'],
  ['schedule/end_at', 'schedule/end_at'],
  ['response_limit/count', 'response_limit/count'],
])('a fault at %s is shown at %s', (pointer, name) => {
  expect(ruleFieldNameOf(pointer)).toBe(name);
});
