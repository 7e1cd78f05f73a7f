import type { Card, CardStep, QuestionType } from '../../../../clients/javascript/src/index.ts';

export const stepOf = (type: QuestionType, title: string, more: Partial<CardStep> = {}): CardStep => ({
  ...{ key: 'main', type, title, description: '', config: {}, required: true, show_if: null },
  ...more,
});

export const cardOf = (steps: CardStep[], more: Partial<Card> = {}): Card => ({
  ...{ id: crypto.randomUUID(), question_id: 'question_1', question_version: 1, kind: 'question', steps, locale: 'en' },
  ...{ priority: 0, expires_at: null, thanks: null, placement: null, reply: null },
  ...more,
});

const options = ['Reports', 'Export', 'The new editor', 'Integrations'].map((label, index) => ({
  id: `${index}`,
  label,
}));
const ends = { low: 'Not at all likely', high: 'Extremely likely' };

/** A step of each type and style, by name. */
export const STEPS: Record<string, CardStep> = {
  nps: stepOf('nps', 'How likely are you to recommend us to a friend?', { config: { labels: ends } }),
  csat: stepOf('csat', 'How satisfied are you with your order?', {
    config: { style: 'smiley', labels: { low: 'Unhappy', high: 'Happy' } },
  }),
  ces: stepOf('ces', 'How easy was it to find what you need?', {
    config: { labels: { low: 'Very hard', high: 'Very easy' } },
  }),
  stars: stepOf('rating', 'How do you rate the new editor?', { config: { style: 'star', scale: 5 } }),
  'ten-stars': stepOf('rating', 'How do you rate the course?', {
    config: { style: 'star', scale: 10, labels: { low: 'Poor', high: 'Great' } },
  }),
  thumbs: stepOf('thumbs', 'Did this page help you?'),
  single: stepOf('single_choice', 'What did you come for today?', { config: { options, allow_other: true } }),
  multi: stepOf('multi_choice', 'Which of these do you use?', {
    description: 'Choose all that apply.',
    config: { options, allow_other: true },
  }),
  text: stepOf('text', 'What is missing?', { config: { max_length: 500 } }),
  date: stepOf('date', 'When do you start?'),
  consent: stepOf('consent', 'May we contact you about your answer?'),
  statement: stepOf('statement', 'The new reports are here.', {
    description: 'Filters, shared links and exports.',
    config: { url: 'https://example.com/news' },
  }),
};

const arabicOptions = ['التقارير', 'التصدير (CSV)', 'المحرر الجديد!', 'التكاملات.'].map((label, index) => ({
  id: `${index}`,
  label,
}));
const arabicEnds = { low: 'غير محتمل أبدًا!', high: 'محتمل جدًا.' };

/** Steps in Arabic, whose texts end with punctuation. */
export const ARABIC: CardStep[] = [
  stepOf('nps', 'ما مدى احتمال أن توصي بنا (Parley)؟', { description: 'رقم فقط.', config: { labels: arabicEnds } }),
  stepOf('multi_choice', 'أيًّا من هذه تستخدم؟', {
    description: 'اختر كل ما ينطبق.',
    config: { options: arabicOptions },
  }),
  stepOf('text', 'ما الذي ينقص؟', { required: false }),
];

/** The same in English. */
export const ENGLISH: CardStep[] = [
  stepOf('nps', 'How likely are you to recommend us (Parley)?', {
    description: 'Only a number.',
    config: { labels: { low: 'Not at all likely!', high: 'Extremely likely.' } },
  }),
  stepOf('multi_choice', 'Which of these do you use?', {
    description: 'Choose all that apply.',
    config: { options: ['Reports', 'Export (CSV)', 'The new editor!'].map((label, id) => ({ id: `${id}`, label })) },
  }),
  stepOf('text', 'What is missing?', { required: false }),
];

/** A card with several steps. */
export const FOLLOWED = [
  STEPS.nps as CardStep,
  stepOf('multi_choice', 'What should we improve?', { key: 'reason', required: false, config: { options } }),
  stepOf('text', 'Tell us more', { key: 'more', required: false }),
];
