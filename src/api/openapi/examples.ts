import { type IdPrefix, toTypeId } from '../../domain/ids.ts';
import { inboxExamples } from './inbox-examples.ts';
import { APPEARANCE, teamExamples } from './team-examples.ts';

/** Returns the identifier of an example. */
const idOf = (prefix: IdPrefix): string => toTypeId(prefix, '01936d5e-8f00-7000-8000-000000000001');

const AT = '2026-11-21T07:00:00.000Z';
const LATER = '2026-11-21T07:05:00.000Z';
const ANSWER_ID = '01936d5e-8f00-7000-8000-000000000002';

const labels = { low: 'Not likely', high: 'Very likely' };
const content = { type: 'nps', title: 'How likely are you to recommend us?', description: '', config: { labels } };
const frequency = {
  ...{ repeat: 'until_answered', every_days: null, max_displays: null },
  ...{ snooze_after_dismiss_days: 30, ignore_cooldown: false },
};

/** Who is asked, when and how many. */
const rules = {
  audience: {
    all: [{ attribute: 'plan', op: 'eq', value: 'pro' }, { platform: { op: 'in', value: ['ios', 'android'] } }],
  },
  schedule: { start_at: AT, end_at: null },
  trigger: {
    ...{ event: 'order_completed', click: null, where: [{ property: 'total', op: 'gte', value: 50 }], url: null },
    ...{ count: 1, delay_s: 5, cancel_on: [] },
  },
  sampling_percent: 20,
  response_limit: { count: 1000, per: 'month' },
};

/** A follow-up to an NPS. */
const followUp = {
  key: 'reason',
  type: 'text',
  title: 'What is the main reason?',
  description: '',
  config: { min_length: 0, max_length: 1000, input: 'text' },
  required: false,
  show_if: { step: 'main', op: 'lte', value: 6 },
};

/** The text shown after an answer. */
const thanks = {
  title: 'Thank you!',
  body: 'We read every answer.',
  link: { label: 'See what is new', url: 'https://example.com/news' },
};

/** The question and its follow-up in German. */
const translations = {
  de: {
    title: 'Wie wahrscheinlich ist es, dass Sie uns weiterempfehlen?',
    config: { labels: { low: 'Unwahrscheinlich', high: 'Sehr wahrscheinlich' } },
    follow_ups: { reason: { title: 'Was sollen wir verbessern?' } },
    thanks: { title: 'Vielen Dank!', body: 'Wir lesen jede Antwort.', link: { label: 'Das ist neu' } },
  },
};

const complete = { ...content, follow_ups: [followUp], thanks, locale: 'en', translations };

/** The figures of a step that some saw. */
const passed = (shown: number, answered: number, skipped: number) => ({
  ...{ shown, answered, skipped },
  left: shown - answered - skipped,
});

/** A template of a question. */
const template = {
  id: 'nps',
  name: 'Net Promoter Score',
  description: 'How likely users are to recommend you, and why.',
  question: {
    ...{ name: 'Net Promoter Score', ...content, follow_ups: [followUp], locale: 'en' },
    ...{ frequency, allow_public: false, priority: 0 },
  },
};

/** Questions, their cards and their results. */
function questionExamples(): Record<string, unknown> {
  const question = {
    id: idOf('question'),
    name: 'NPS',
    status: 'live',
    version: 2,
    ...complete,
    ...rules,
    frequency,
    allow_public: false,
    priority: 10,
    placement: null,
    created_at: AT,
    updated_at: LATER,
    published_at: LATER,
    closed_at: null,
  };
  const score = { measure: 'nps', value: 40, answers: 120, interval: { low: 26.42, high: 53.58 } };
  const figures = { displays: 300, answered: 120, response_rate: 0.4, score };
  const detailed = { ...figures, values: [{ value: 10, count: 54, share: 0.45 }] };
  return {
    QuestionInput: {
      name: 'NPS',
      priority: 10,
      ...complete,
      frequency: { repeat: 'until_answered' },
    },
    'QuestionInput.single_choice': {
      type: 'single_choice',
      title: 'What did you come here to do?',
      config: {
        options: [
          { id: 'buy', label: 'Buy something' },
          { id: 'look', label: 'Just look around' },
        ],
        allow_other: true,
      },
      allow_public: true,
    },
    QuestionPatch: { title: 'Would you recommend us?', priority: 20 },
    Question: question,
    QuestionListItem: { ...question, results: { ...figures, answered_7_days: 31 } },
    QuestionVersion: {
      question_id: question.id,
      version: 2,
      ...complete,
      created_at: LATER,
      changes: [{ pointer: '/title', before: 'Would you recommend us?', after: content.title }],
    },
    Results: {
      question_id: question.id,
      type: 'nps',
      from: '2026-11-01',
      to: null,
      group_by: 'month',
      version: null,
      verified: null,
      step: 'main',
      test: false,
      seen: 150,
      dismissed: 30,
      partial: 0,
      completed: 120,
      written: 48,
      ...detailed,
      steps: [
        { key: 'main', type: 'nps', title: content.title, ...passed(300, 120, 0), score, values: detailed.values },
        { key: 'reason', type: 'text', title: followUp.title, ...passed(40, 31, 5), score: null, values: [] },
      ],
      over_time: [{ start: '2026-11-01', ...detailed }],
      versions: [{ version: 2, ...detailed }],
    },
    QuestionTemplates: { data: [template] },
    CardList: cardListOf(question.id, content),
  };
}

/** The card of a question with a follow-up. */
const cardListOf = (questionId: string, content: object) => ({
  data: [
    {
      id: idOf('card'),
      question_id: questionId,
      question_version: 2,
      kind: 'question',
      steps: [{ key: 'main', ...content, required: true, show_if: null }, followUp],
      locale: 'en',
      trigger: null,
      in_cooldown: true,
      priority: 10,
      expires_at: null,
      thanks,
      placement: null,
      reply: null,
    },
  ],
  poll_after_s: 300,
  appearance: APPEARANCE,
});

/** Answers on their way and as stored. */
function answerExamples(): Record<string, unknown> {
  const sync = {
    id: ANSWER_ID,
    revision: 1,
    card_id: idOf('card'),
    question_id: idOf('question'),
    question_version: 2,
    state: 'completed',
    values: { main: 9 },
    comment: 'Fast and friendly.',
    displayed_at: AT,
    answered_at: AT,
    duration_ms: 5400,
    metadata: { platform: 'ios', app_version: '4.2.0' },
  };
  const owner = { identity: 'user|42', identity_verified: true };
  const answer = {
    ...sync,
    ...owner,
    received_at: AT,
    stored_at: AT,
    updated_at: AT,
    clock_skew_ms: -120,
    tags: ['vip'],
    counted: true,
    over_quota: false,
    status: 'stored',
  };
  const { tags, updated_at, ...own } = answer;
  return {
    AnswerBatch: { client_time: AT, answers: [sync] },
    Receipts: {
      results: [
        { id: ANSWER_ID, revision: 1, status: 'accepted' },
        {
          id: '01936d5e-8f00-7000-8000-000000000003',
          revision: 1,
          status: 'rejected',
          code: 'invalid-value',
          detail: 'must be an integer from 0 to 10',
          pointer: '/values/main',
        },
      ],
    },
    AnswerPatch: { tags: ['vip'] },
    OwnAnswer: own,
    Answer: answer,
    AnswerView: answer,
    'AnswerView.own': own,
    'AnswerView.public': { id: ANSWER_ID, state: 'completed', status: 'stored' },
    QuarantinedAnswer: {
      id: idOf('quarantine'),
      answer_id: ANSWER_ID,
      reason: 'revision-conflict',
      detail: 'The revision was stored with different content.',
      payload: { ...sync, ...owner },
      quarantined_at: LATER,
    },
    Ingestion: {
      oldest_queued_age_ms: 12,
      queued: 3,
      accepted: 120_403,
      stored: 119_880,
      repeated: 519,
      quarantined: 1,
      rejected: 7,
      first_card_at: AT,
    },
  };
}

/** Users. */
function userExamples(): Record<string, unknown> {
  const attributes = { plan: 'pro', seats: 5 };
  const device = { locale: 'en', platform: 'ios', app_version: '4.2.0' };
  return {
    IdentityInput: { attributes, ...device },
    IdentityPatch: { attributes: { plan: 'free', seats: null } },
    IdentityBatch: { identities: [{ identity: 'user|42', attributes, locale: 'en' }] },
    IdentityResults: {
      results: [
        { identity: 'user|42', verified: true, status: 'unchanged' },
        {
          identity: 'user|43',
          verified: true,
          status: 'rejected',
          code: 'unknown-field',
          detail: 'This field is not known here. Remove it or correct its name.',
          pointer: '/surname',
        },
      ],
    },
    IdentityAttributes: { data: [{ name: 'plan', types: ['string'], values: ['pro', 'free'] }] },
    ProfileChangePage: {
      data: [
        {
          number: 2,
          at: LATER,
          by: { type: 'api_key', id: idOf('key') },
          changes: [
            { field: 'attribute', name: 'plan', from: 'free', to: 'pro' },
            { field: 'locale', name: null, from: 'en', to: 'de' },
          ],
        },
      ],
      has_more: false,
      next_cursor: null,
    },
    OwnAttributesPatch: { attributes: { plan: 'pro' } },
    OwnAttributes: { attributes: { plan: 'pro' } },
    IdentityProfile: {
      identity: 'user|42',
      verified: true,
      attributes,
      ...device,
      first_seen_at: AT,
      last_seen_at: LATER,
      answer_count: 4,
      conversation_count: 1,
      status: 'active',
    },
  };
}

/** Decisions on the cards of a user, and of many. */
const decisionExamples = (): Record<string, unknown> => ({
  CardDecisions: {
    identity: 'user|42',
    verified: true,
    data: [
      {
        question_id: idOf('question'),
        name: 'NPS',
        shown: false,
        gates: [
          { gate: 'status', passed: true, passes_at: null },
          { gate: 'cooldown', passed: false, passes_at: LATER },
        ],
      },
    ],
  },
  ReachRequest: { sampling_percent: 20 },
  Reach: { judged: 5000, reached: 612, withheld: { frequency: 1204, sampling: 3184 } },
});

/** Returns an example of each request and reply, by component. Further ones of a component are named `component.variant`. */
export const examples = (): Record<string, unknown> => ({
  ...questionExamples(),
  ...answerExamples(),
  ...userExamples(),
  ...inboxExamples(idOf, AT, LATER),
  ...decisionExamples(),
  ...teamExamples(idOf, AT),
});
