import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FIELD_CODES } from '../../src/domain/field-errors.ts';
import { PROBLEMS } from '../../src/domain/problem-catalog.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { ANSWER_MISTAKES } from './mistakes/answers.ts';
import { APPEARANCE_MISTAKES } from './mistakes/appearance.ts';
import { AUDIENCE_MISTAKES } from './mistakes/audiences.ts';
import { INBOX_MISTAKES } from './mistakes/inbox.ts';
import { LANGUAGE_MISTAKES } from './mistakes/languages.ts';
import { createScene, type Scene, told } from './mistakes/mistake.ts';
import { PEOPLE_MISTAKES } from './mistakes/people.ts';
import { QUESTION_MISTAKES } from './mistakes/questions.ts';
import { REQUEST_MISTAKES } from './mistakes/requests.ts';
import { RULE_MISTAKES } from './mistakes/rules.ts';
import { WEBHOOK_MISTAKES } from './mistakes/webhooks.ts';

let api: TestApi;
let scene: Scene;
beforeAll(async () => {
  api = await createApi();
  scene = await createScene(api);
});
afterAll(() => api[Symbol.asyncDispose]());

const MISTAKES = [
  ...QUESTION_MISTAKES,
  ...LANGUAGE_MISTAKES,
  ...AUDIENCE_MISTAKES,
  ...RULE_MISTAKES,
  ...WEBHOOK_MISTAKES,
  ...ANSWER_MISTAKES,
  ...PEOPLE_MISTAKES,
  ...INBOX_MISTAKES,
  ...APPEARANCE_MISTAKES,
  ...REQUEST_MISTAKES,
];

describe('a common mistake', () => {
  test.each(MISTAKES)('%s: the reply states the place and the rule', async (...[, send, status, code, place, says]) => {
    const reply = await send(scene);
    expect(told(reply)).toEqual({
      ...{ status, code, place },
      says: says instanceof RegExp ? expect.stringMatching(says) : says,
    });
    if (status === 422) expect(reply.body.code).toBe('validation-failed');
    for (const error of reply.body.errors ?? []) {
      expect(Object.keys(FIELD_CODES)).toContain(error.code);
      expect(Object.keys(error)).toHaveLength(3); // the code, the detail, and either a pointer or a parameter
    }
  });

  test('is tested more than a hundred times, each under its own name', () => {
    expect(MISTAKES.length).toBeGreaterThanOrEqual(105);
    expect(AUDIENCE_MISTAKES.length + RULE_MISTAKES.length).toBeGreaterThanOrEqual(40);
    expect(new Set(MISTAKES.map(([name]) => name)).size).toBe(MISTAKES.length);
    const codes = new Set(MISTAKES.map(([, , , code]) => code));
    expect(Object.keys(FIELD_CODES).filter(code => !codes.has(code))).toEqual([]);
    expect([...codes].filter(code => !(code in FIELD_CODES) && !(code in PROBLEMS))).toEqual(
      expect.arrayContaining(['invalid-value', 'unknown-card', 'unknown-version']),
    );
  });
});
