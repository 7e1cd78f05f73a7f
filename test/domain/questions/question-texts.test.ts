import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  completeLocales,
  findMissingTexts,
  listTexts,
  personalize,
  pruneTranslations,
  recalledAttributes,
  translate,
} from '../../../src/domain/questions/question-texts.ts';
import type { QuestionContent } from '../../../src/domain/questions/questions.ts';
import { findRecallFault, recall } from '../../../src/domain/questions/recall.ts';
import type { Translation } from '../../../src/domain/questions/translations.ts';
import { versionChanges } from '../../../src/domain/questions/version-changes.ts';

const OPTIONS = [
  { id: 'constructor', label: 'Price' },
  { id: 'b', label: 'Speed' },
];
const QUESTION: QuestionContent = {
  type: 'nps',
  title: 'How likely?',
  description: '',
  config: { labels: { low: 'Not', high: '' } },
  follow_ups: [
    {
      ...{ key: 'toString', type: 'single_choice', title: 'Why?', description: 'One' },
      ...{ config: { options: OPTIONS, allow_other: false, shuffle: false }, required: false, show_if: null },
    },
  ],
  thanks: { title: 'Thank you', body: '', link: { label: 'News', url: 'https://example.com/{{' } },
  translations: {},
};
const DE: Translation = {
  title: 'Wie wahrscheinlich?',
  config: { labels: { low: 'Kaum' } },
  follow_ups: {
    toString: { title: 'Warum?', description: 'Eins', config: { options: { constructor: 'Preis', b: 'Tempo' } } },
  },
  thanks: { title: 'Danke', link: { label: 'Neues' } },
};
const withDe = (de: Translation = DE): QuestionContent => ({ ...QUESTION, translations: { de } });
const textsOf = (content: QuestionContent) => listTexts(content).map(({ text }) => text);

test('a question is entirely in one of its languages, or in its own', () => {
  expect(textsOf(QUESTION)).toEqual([...['How likely?', 'Not', 'Why?', 'One', 'Price', 'Speed', 'Thank you', 'News']]);
  expect(textsOf(translate(withDe(), 'de'))).toEqual([
    ...['Wie wahrscheinlich?', 'Kaum', 'Warum?', 'Eins', 'Preis', 'Tempo', 'Danke', 'Neues'],
  ]);
  expect(translate(withDe(), 'fr')).toEqual(withDe());
  expect(translate(withDe(), '__proto__')).toEqual(withDe());
  expect(translate(withDe(), 'de').thanks?.link?.url).toBe('https://example.com/{{');
  expect(translate(withDe(), 'de').follow_ups[0]?.config).toMatchObject({ allow_other: false, shuffle: false });
});

test('only complete translations count, and a missing text has its place', () => {
  expect(completeLocales(withDe())).toEqual(['de']);
  expect(completeLocales(withDe({ ...DE, title: '' }))).toEqual([]);
  expect(findMissingTexts(listTexts(QUESTION), {}).map(({ path }) => path.join('/'))).toEqual([
    ...['title', 'config/labels/low', 'follow_ups/toString/title', 'follow_ups/toString/description'],
    ...['follow_ups/toString/config/options/constructor', 'follow_ups/toString/config/options/b'],
    ...['thanks/title', 'thanks/link/label'],
  ]);
});

test('texts without an original are removed from translations', () => {
  const more = {
    ...{ ...DE, description: 'Zu viel' },
    config: { labels: { low: 'Kaum', high: 'Sehr' }, options: { x: 'X' } },
    follow_ups: { ...DE.follow_ups, gone: { title: 'Weg' } },
    thanks: { ...DE.thanks, body: 'Zu viel' },
  };
  expect(pruneTranslations(withDe(more))).toEqual({ de: DE });
});

test('a version lists each changed text of each language', () => {
  const after = withDe({ ...DE, title: 'Wie sehr?', follow_ups: { ...DE.follow_ups, x: { title: 'Neu' } } });
  expect(versionChanges(withDe(), after)).toEqual([
    { pointer: '/translations/de/title', before: 'Wie wahrscheinlich?', after: 'Wie sehr?' },
    { pointer: '/translations/de/follow_ups/x/title', before: null, after: 'Neu' },
  ]);
});

describe('a recall', () => {
  const TEXT = 'Is {{identity.attributes.plan|your plan}} good?';
  test.each([
    [{ plan: 'Pro' }, 'Is Pro good?'],
    [{ plan: 12.5 }, 'Is 12.5 good?'],
    [{ plan: true }, 'Is true good?'],
    [{ plan: false }, 'Is false good?'],
    [{ plan: '2026-11-21' }, 'Is 2026-11-21 good?'],
    [{ plan: 0 }, 'Is 0 good?'],
    [{ plan: '' }, 'Is your plan good?'],
    [{ plan: ' \n ' }, 'Is your plan good?'],
    [{ plan: 'a\nb\u0007' }, 'Is a b good?'],
    [{ plan: TEXT }, `Is ${TEXT} good?`],
    [{ plan: "$& $1 $' <b>" }, "Is $& $1 $' <b> good?"],
    [{}, 'Is your plan good?'],
  ])('with %j is %j', (attributes, expected) => {
    expect(recall(TEXT, attributes as never)).toBe(expected);
  });

  test('reads no inherited attribute', () => {
    expect(recall('{{identity.attributes.constructor|x}}{{ identity.attributes.a.b-c | y }}', {})).toBe('xy');
  });

  test.each([
    ['no braces', undefined],
    ['{ one } }}', undefined],
    [TEXT, undefined],
    ['{{ identity.attributes.a.b-c | a | b }}', undefined],
    ['{{identity.attributes.plan}}', 'fallback-missing'],
    ['{{identity.attributes.plan|}}', 'fallback-missing'],
    [`${TEXT} {{identity.attributes.plan| }}`, 'fallback-missing'],
    ['{{plan|x}}', 'invalid-format'],
    ['{{identity.attributes.|x}}', 'invalid-format'],
    ['{{identity.attributes.plan|x', 'invalid-format'],
    ['{{identity.attributes.plan|{{x}}}}', 'invalid-format'],
    ['{{{identity.attributes.plan|x}}}', 'invalid-format'],
    ['{{identity.name|x}}', 'invalid-format'],
    ['{{}}', 'invalid-format'],
  ])('in %j has the fault %s', (text, code) => {
    expect(findRecallFault(text)?.[0]).toBe(code);
  });

  test('is replaced wherever no fault is found, and never leaves braces', () => {
    const part = fc.constantFrom('{{', '}}', 'identity.attributes.', 'plan', '|', 'x', ' ', '{', '}', TEXT);
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), parts => {
        const text = parts.join('');
        if (findRecallFault(text) === undefined) expect(recall(text, { plan: 'Pro' })).not.toContain('{{');
      }),
    );
  });

  test('in any text and language makes the question personal', () => {
    const text = '{{identity.attributes.plan|x}}';
    const personal = withDe({ ...DE, title: text, description: '{{identity.attributes.unused|x}}' });
    expect([...recalledAttributes(personal)]).toEqual(['plan']);
    expect(recalledAttributes(withDe()).size).toBe(0);
    expect(personalize(translate(personal, 'de'), { plan: 'Pro' }).title).toBe('Pro');
  });
});
