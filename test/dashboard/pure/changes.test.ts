import { beforeAll, expect, test } from 'vitest';
import { changesFor } from '../../../dashboard/pages/questions/changes.ts';
import { EMPTY_QUESTION, type QuestionValues } from '../../../dashboard/pages/questions/form.ts';
import { activateTexts } from './activate-texts.ts';

beforeAll(() => activateTexts('en'));

const CHOICE: QuestionValues = {
  ...EMPTY_QUESTION,
  type: 'single_choice',
  title: 'Which one?',
  config: {
    ...EMPTY_QUESTION.config,
    options: [
      { id: 'a', label: 'Apples' },
      { id: 'b', label: 'Bananas' },
    ],
  },
};

test('the first version consists of everything that users see', () => {
  expect(changesFor(undefined, CHOICE)).toEqual([
    { label: 'Question', after: 'Which one?' },
    { label: 'Type', after: 'Single choice' },
    { label: 'Option', after: 'Apples' },
    { label: 'Option', after: 'Bananas' },
  ]);
});

test('a change is shown with the text before and after', () => {
  const options = [
    { id: 'a', label: 'Pears' },
    { id: 'c', label: 'Cherries' },
  ];
  const after = { ...CHOICE, title: 'Which fruit?', config: { ...CHOICE.config, options } };
  expect(changesFor(CHOICE, after)).toEqual([
    { label: 'Question', before: 'Which one?', after: 'Which fruit?' },
    { label: 'Option', before: 'Apples', after: 'Pears' },
    { label: 'Option', before: 'Bananas' },
    { label: 'Option', after: 'Cherries' },
  ]);
});

test('changes that users do not see are not listed', () => {
  expect(changesFor(CHOICE, { ...CHOICE, name: 'Fruit', priority: 7, allow_public: true })).toEqual([]);
});
