import { asKey, type Mistake, type Scene } from './mistake.ts';

const ofDraft = (scene: Scene) => `/v1/questions/${scene.draft}`;
const ofLive = (scene: Scene) => `/v1/questions/${scene.question}`;

/** Mistakes with translations and recalls of questions. */
export const LANGUAGE_MISTAKES: Mistake[] = [
  [
    'a language without every text',
    asKey('PATCH', ofLive, { description: 'Honestly', translations: { de: { title: 'Wie wahrscheinlich?' } } }),
    422,
    'missing-translation',
    '/translations/de/description',
    'Required: the text at /description in this language. Add it, or remove the language.',
  ],
  [
    'a recall without a fallback',
    asKey('PATCH', ofLive, { title: 'Is {{identity.attributes.plan}} good?' }),
    422,
    'fallback-missing',
    '/title',
    'Must have a text for users without the attribute, such as {{identity.attributes.plan|your plan}}.',
  ],
  [
    'a translation into the own language',
    asKey('PATCH', ofDraft, { translations: { en: { title: 'How likely?' } } }),
    422,
    'conflicting',
    '/translations/en',
    'Must be omitted: "en" is the language of the question\'s own texts (locale).',
  ],
  [
    'a language in another notation',
    asKey('PATCH', ofDraft, { translations: { de_DE: { title: 'Wie wahrscheinlich?' } } }),
    422,
    'invalid-format',
    '/translations/de_DE',
    'Must be a BCP 47 language tag such as en or pt-BR.',
  ],
];
