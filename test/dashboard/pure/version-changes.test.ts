import { beforeAll, expect, test } from 'vitest';
import type { VersionWithChanges } from '../../../dashboard/api/names.ts';
import { changesIn } from '../../../dashboard/pages/questions/versions/version-changes.ts';
import type { QuestionContent } from '../../../src/domain/questions/questions.ts';
import { versionChanges } from '../../../src/domain/questions/version-changes.ts';
import { activateTexts } from './activate-texts.ts';

beforeAll(() => activateTexts('en'));

const CHOICE = {
  type: 'single_choice',
  title: 'Which one?',
  description: '',
  config: {
    options: [
      { id: 'a', label: 'Apples' },
      { id: 'b', label: 'Bananas' },
    ],
    allow_other: false,
    shuffle: false,
  },
  follow_ups: [],
  thanks: null,
  translations: {},
} as unknown as QuestionContent;
const RATING = { key: 'r', type: 'rating', title: 'How good?', description: '', required: true, show_if: null };
const withSteps = (...follow_ups: object[]) => ({ ...CHOICE, follow_ups }) as QuestionContent;

/** The changes as the page shows them, from those that the service finds. */
const shown = (before: QuestionContent, after: QuestionContent) =>
  changesIn({ ...after, changes: versionChanges(before, after) } as unknown as VersionWithChanges);

test('options are named by their labels, switches and texts by their fields', () => {
  const options = [
    { id: 'b', label: 'Pears' },
    { id: 'a', label: 'Apples' },
  ];
  const after = { ...CHOICE, description: 'Only one.', config: { ...CHOICE.config, options, allow_other: true } };
  expect(shown(CHOICE, after as QuestionContent)).toEqual([
    { label: 'Description added', after: 'Only one.' },
    { label: 'Option changed', before: 'Bananas', after: 'Pears' },
    { label: 'Options reordered', before: 'Apples → Pears', after: 'Pears → Apples' },
    { label: 'Allow “Other” with free text changed', before: 'No', after: 'Yes' },
  ]);
});

test('the labels of a scale are separate changes', () => {
  const before = withSteps({ ...RATING, config: { scale: 5, labels: { low: 'Bad' } } });
  const after = withSteps({ ...RATING, config: { scale: 5, labels: { low: 'Poor', high: 'Good' } } });
  expect(shown(before, after)).toEqual([
    { label: 'Step “How good?” · Low end label changed', before: 'Bad', after: 'Poor' },
    { label: 'Step “How good?” · High end label added', after: 'Good' },
  ]);
});

test('a condition on a removed step has the title of that step', () => {
  const text = { ...RATING, key: 't', type: 'text', title: 'Why?', config: {}, required: false };
  const condition = { step: 'r', op: 'answered' };
  const before = withSteps({ ...RATING, config: { scale: 5 } }, { ...text, show_if: condition });
  const after = withSteps(text);
  expect(shown(before, after)).toEqual([
    { label: 'Step “Why?” · Condition changed', before: '“How good?” was answered', after: 'Always' },
    { label: 'Step “How good?” removed', before: 'Rating · Required' },
  ]);
});

test('texts of a language that both versions have are named one by one', () => {
  const de = (reason: string) => ({ de: { title: 'Welche?', follow_ups: { r: { title: reason } } } });
  const steps = withSteps({ ...RATING, config: { scale: 5 } });
  const before = { ...steps, translations: de('Wie gut?') };
  const after = { ...steps, translations: de('Wie gut, {{identity.attributes.name|du}}?') };
  expect(shown(before, after)).toEqual([
    {
      label: 'German · Step “How good?” · Question changed · recalls the attribute “name”',
      before: 'Wie gut?',
      after: 'Wie gut, [name, or “du”]?',
    },
  ]);
});

test('a title that reverses the text after it is isolated in the sentence', () => {
  const before = withSteps({ ...RATING, title: '\u202eWhy?', config: { scale: 5 } });
  const after = withSteps({ ...RATING, title: '\u202eWhy?', required: false, config: { scale: 5 } });
  expect(shown(before, after)).toEqual([{ label: 'Step “\u2068\u202eWhy?\u2069” is now optional' }]);
});
