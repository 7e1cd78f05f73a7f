import { MAIN_STEP } from '../../domain/cards.ts';
import { toTypeId } from '../../domain/ids.ts';
import type { LiveQuestionRow } from '../../storage/questions.ts';

/** The language in which questions are written, until they have translations. */
export const LOCALE = 'en';

/** What every card of a question says, as JSON without its beginning `{"id":"…"`. */
export const cardTail = (question: LiveQuestionRow): string =>
  JSON.stringify({
    question_id: toTypeId('question', question.id),
    question_version: question.version,
    kind: 'question',
    steps: [
      {
        key: MAIN_STEP,
        type: question.type,
        title: question.title,
        description: question.description,
        config: question.config,
        required: question.type !== 'statement',
        show_if: null,
      },
    ],
    locale: LOCALE,
    priority: question.priority,
    expires_at: null,
    reply: null,
  }).slice(1);
