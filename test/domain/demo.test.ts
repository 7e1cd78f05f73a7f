import { describe, expect, test } from 'vitest';
import { validateContent } from '../../src/domain/answers/answers.ts';
import { DRAFT, demoAnswers, demoProfiles, QUESTIONS } from '../../src/domain/demo/shop.ts';
import { IdentityItem } from '../../src/domain/people/identities.ts';
import { findPublishFaults } from '../../src/domain/questions/question-checks.ts';
import { answerRules, NewQuestion, type QuestionContent } from '../../src/domain/questions/questions.ts';
import { findTextFaults } from '../../src/domain/questions/text-checks.ts';

const NOW = new Date('2026-11-25T12:00:00.000Z');

describe.each(QUESTIONS)('the demo question $key', ({ key, ...body }) => {
  const content = NewQuestion.parse(body) as unknown as QuestionContent;

  test('can be published', () => {
    expect([...findPublishFaults(content), ...findTextFaults(content)]).toEqual([]);
  });

  test('has answers that would be accepted, all before now', () => {
    const answers = demoAnswers(key, NOW);
    expect(answers.length).toBeGreaterThan(10);
    for (const { at, state, values, comment } of answers) {
      expect(at.getTime()).toBeLessThanOrEqual(NOW.getTime());
      expect(validateContent(answerRules(content), { state, values, comment } as never)).toBeUndefined();
    }
  });
});

test('the draft and the profiles are valid', () => {
  expect(NewQuestion.safeParse(DRAFT).success).toBe(true);
  for (const profile of demoProfiles()) expect(IdentityItem.safeParse(profile).success).toBe(true);
  const identities = demoProfiles().map(({ identity }) => identity);
  expect(new Set(identities).size).toBe(identities.length);
});
