import { expect, test } from 'vitest';
import { findPublishFaults } from '../../../src/domain/questions/question-checks.ts';
import { NewQuestion, type QuestionContent } from '../../../src/domain/questions/questions.ts';
import { findTextFaults } from '../../../src/domain/questions/text-checks.ts';
import { aBlock, aSurvey, type Element, elementOf, type Survey } from './formbricks-survey.ts';

const EXAMPLES = '../../../clients/javascript/examples/formbricks';
interface Step {
  element: Element;
  key: string;
}
const { planSurvey } = (await import(`${EXAMPLES}/plan.mjs`)) as {
  planSurvey(survey: object): { steps: Step[]; losses: string[] };
};
const { contentOf } = (await import(`${EXAMPLES}/content.mjs`)) as { contentOf(element: Element): object };
const { localesOf } = (await import(`${EXAMPLES}/languages.mjs`)) as {
  localesOf(
    survey: object,
    steps: Step[],
    ending: object | undefined,
  ): { locale?: string; translations: Record<string, object>; losses: string[] };
};
const { endingOf, thanksIn } = (await import(`${EXAMPLES}/endings.mjs`)) as {
  endingOf(survey: object): object | undefined;
  thanksIn(ending: object | undefined): object | null;
};

const language = (code: string, more: object = {}) => ({ default: false, enabled: true, language: { code }, ...more });
const LANGUAGES = [language('de-AT', { default: true }), language('en'), language('pt-br')];

/** Texts in the survey's own language under `default`, and in two others. */
const inThree = (text: string) => ({ default: `${text}?`, en: `${text} (en)`, 'pt-br': `${text} (pt)` });

/** A survey with texts of each kind. */
const survey = (more: object = {}): Survey & object => ({
  ...aSurvey(
    aBlock('b1', [
      { ...elementOf('nps', 'nps'), headline: inThree('<b>Nps</b>'), lowerLabel: inThree('Low') } as Element,
      {
        ...elementOf('place', 'multipleChoiceSingle'),
        headline: inThree('Place'),
        subheader: inThree('One of'),
        choices: [0, 1].map(id => ({ id: `c${id}`, label: inThree(`Choice ${id}`) })),
      } as unknown as Element,
    ]),
  ),
  languages: LANGUAGES,
  ...more,
});

/** The question that a survey becomes, and everything that is left out. */
function imported(from: object) {
  const { steps, losses } = planSurvey(from);
  const ending = endingOf(from);
  const { losses: missing, ...languages } = localesOf(from, steps, ending);
  const [main, ...followUps] = steps.map(({ element, key }) => ({
    ...contentOf(element),
    ...(key === 'main' ? {} : { key }),
  }));
  const question = NewQuestion.parse({ ...main, follow_ups: followUps, ...languages, thanks: thanksIn(ending) });
  return { question, losses: [...missing, ...losses] };
}

test('complete languages become translations with canonical tags, and the question can be published', () => {
  const { question, losses } = imported(survey());
  expect(losses).toEqual([]);
  expect(question.locale).toBe('de-AT');
  expect(question.translations).toEqual({
    en: {
      title: 'Nps (en)',
      config: { labels: { low: 'Low (en)' } },
      follow_ups: {
        place: {
          title: 'Place (en)',
          description: 'One of (en)',
          config: { options: { c0: 'Choice 0 (en)', c1: 'Choice 1 (en)' } },
        },
      },
    },
    'pt-BR': expect.objectContaining({ title: 'Nps (pt)' }),
  });
  const content = { thanks: null, ...question } as unknown as QuestionContent;
  expect([...findPublishFaults(content), ...findTextFaults(content)]).toEqual([]);
});

test('a language that lacks a text is left out, with the texts that it lacks', () => {
  const from = survey();
  const place = from.blocks[0]?.elements[1];
  const headline: Record<string, string> = { ...inThree('Place'), 'pt-br': ' ' };
  Object.assign(place as object, { headline });
  const { question, losses } = imported(from);
  expect(Object.keys(question.translations)).toEqual(['en']);
  expect(losses).toEqual(['the language "pt-br": 1 of 6 texts are missing ("Place?")']);
});

test.each([
  [language('es', { enabled: false }), 'the language "es": it is disabled in Formbricks'],
  [language('x_klingon'), 'the language "x_klingon": its code is not a BCP 47 tag'],
  [language('de-at'), 'the language "de-at": it is the language of the survey itself'],
  [language('fr'), 'the language "fr": none of its texts exist'],
])('a language that cannot be imported is left out: %j', (other, reason) => {
  const { question, losses } = imported(survey({ languages: [...LANGUAGES, other] }));
  expect(Object.keys(question.translations)).toEqual(['en', 'pt-BR']);
  expect(losses).toEqual([reason]);
});

test('a survey without languages has neither a locale nor translations', () => {
  const { question, losses } = imported(survey({ languages: [] }));
  expect([question.locale, question.translations, losses]).toEqual([undefined, {}, []]);
});

const END = {
  id: 'e1',
  type: 'endScreen',
  headline: inThree('Thanks #recall:nps/fallback:friend#'),
  subheader: inThree('Bye'),
  buttonLabel: inThree('More'),
  buttonLink: 'https://a.example/',
};

test('an ending becomes the thanks, with its texts in every language', () => {
  const { question, losses } = imported(survey({ endings: [END] }));
  expect(losses).toEqual([]);
  expect(question.thanks).toEqual({
    title: 'Thanks friend?',
    body: 'Bye?',
    link: { label: 'More?', url: 'https://a.example/' },
  });
  expect(question.translations.en?.thanks).toEqual({
    title: 'Thanks friend (en)',
    body: 'Bye (en)',
    link: { label: 'More (en)' },
  });
});

test('the thank you card of an earlier Formbricks becomes the thanks', () => {
  const { headline, subheader } = END;
  const { question, losses } = imported(survey({ thankYouCard: { enabled: true, headline, subheader } }));
  expect(losses).toEqual([]);
  expect(question.thanks).toEqual({ title: 'Thanks friend?', body: 'Bye?', link: null });
  expect(imported(survey({ thankYouCard: { enabled: false, headline } })).question.thanks).toBeNull();
});

test('what cannot be imported of the cards before and after the questions is reported with the reason', () => {
  const endings = [
    { id: 'r', type: 'redirectToUrl', label: 'Shop', url: 'https://shop.example' },
    { ...END, buttonLink: 'mailto:a@a.example', videoUrl: 'https://a.example/v' },
    { ...END, id: 'e2', headline: inThree('Sorry') },
    { id: 'e3', type: 'endScreen' },
  ];
  const welcomeCard = { enabled: true, headline: inThree('Welcome'), html: inThree('Hi') };
  const { question, losses } = imported(survey({ endings, welcomeCard }));
  expect(question.thanks).toMatchObject({ title: 'Thanks friend?', link: null });
  expect(losses).toEqual([
    'the welcome card "Welcome?": Parley begins with the first question',
    'the ending "Shop": Parley does not lead users to https://shop.example',
    'the button "More?" of the ending "Thanks friend?": its address is neither http nor https',
    'a video of the ending "Thanks friend?": Parley shows texts only',
    'the ending "Sorry?": a question has one text after the answer',
    'an ending without a text: Parley thanks users in its own words',
  ]);
});

test('an image of a question is reported', () => {
  const from = survey();
  Object.assign(from.blocks[0]?.elements[0] as object, { imageUrl: 'https://a.example/i.png' });
  expect(imported(from).losses).toEqual(['an image of "Nps?": Parley shows texts only']);
});

test('everything else that a survey and its elements lose is reported', () => {
  const lossesOf = (change: object, more: object = {}) => {
    const from = survey(more);
    Object.assign(from.blocks[0]?.elements[0] as object, change);
    return imported(from).losses;
  };
  const headline = {
    ...inThree('Nps'),
    default: 'How is #recall:plan/fallback:yournbspplan#, #recall:plan/fallback:it#?',
  };
  const text = { type: 'openText', inputType: 'phone', charLimit: { enabled: true, max: 9 } };
  expect(lossesOf(text)).toEqual([
    'the length limits of "Nps?": set min_length and max_length after the last import',
    'the form of phone numbers of "Nps?": Parley takes any text',
  ]);
  const rules = ['email', 'minLength', 'email'].map((type, id) => ({ id: String(id), type, params: {} }));
  const losses: [object, string][] = [
    [{ charLimit: { enabled: false }, validation: { logic: 'and', rules: [] } }, ''],
    [
      { validation: { logic: 'and', rules } },
      'the validation of "Nps?" by email, minLength: add limits after the last import',
    ],
    [
      { type: 'consent', label: inThree('I accept 5 %') },
      'the label "I accept 5 %?" of "Nps?": Parley\'s says "I agree"',
    ],
    [{ headline }, 'the value of "plan" in the text of "How is your plan, it?": its fallback is shown'],
  ];
  for (const [change, loss] of losses) expect(lossesOf(change)).toEqual(loss ? [loss] : []);
  const button = {
    id: 'cta',
    type: 'cta',
    headline: inThree('Look'),
    buttonExternal: true,
    ctaButtonLabel: inThree('Go'),
  };
  const [block] = survey().blocks;
  const withButton = (buttonUrl: string) =>
    imported({ ...survey(), blocks: [block, aBlock('b2', [{ ...button, buttonUrl } as unknown as Element])] }).losses;
  expect(withButton('https://a.example')).toEqual(['the button "Go?" of "Look?": Parley\'s has its own text']);
  expect(withButton('mailto:a@a.example')).toEqual(['the button "Go?" of "Look?": it is no web address']);
  expect(lossesOf({}, { hiddenFields: { enabled: true, fieldIds: ['plan', 'source'] }, followUps: [{}, {}] })).toEqual([
    'the hidden fields plan, source: send such values as attributes or context',
    '2 emails after a response: webhooks report answers instead',
  ]);
  expect(lossesOf({}, { hiddenFields: { enabled: true }, followUps: [] })).toEqual([]);
});
