import { toTypeId } from '../../domain/ids.ts';
import type { Attributes } from '../../domain/people/identities.ts';
import { completeLocales, personalize, recalledAttributes, translate } from '../../domain/questions/question-texts.ts';
import { definitionOf } from '../../domain/questions/types/index.ts';
import { MAIN_STEP } from '../../domain/steps.ts';
import type { LiveQuestionRow } from '../../storage/questions/questions.ts';
import { shortHash } from '../http/etag.ts';

/**
 * Returns a question's card as JSON, without its beginning `{"id":"…"`, in its own language or in that of one of its
 * complete translations. Recalls become the given attributes or their fallbacks; null if it has no recalls.
 */
export function renderCard(question: LiveQuestionRow, locale: string, attributes: Attributes | null): string {
  const translated = translate(question, locale);
  const { type, title, description, config, follow_ups, thanks } = attributes
    ? personalize(translated, attributes)
    : translated;
  return JSON.stringify({
    question_id: toTypeId('question', question.id),
    question_version: question.version,
    kind: 'question',
    steps: [
      { key: MAIN_STEP, type, title, description, config, required: !definitionOf(type).isOnlyRead, show_if: null },
      ...follow_ups.map(step => ({
        key: step.key,
        type: step.type,
        title: step.title,
        description: step.description,
        config: step.config,
        required: step.required && !definitionOf(step.type).isOnlyRead,
        show_if: step.show_if,
      })),
    ],
    locale,
    trigger: question.trigger,
    in_cooldown: !question.frequency.ignore_cooldown,
    priority: question.priority,
    expires_at: question.end_at,
    thanks,
    placement: question.placement,
    reply: null,
  }).slice(1);
}

/** A card in one language as users without a recalled attribute see it. */
export interface CardTexts {
  /** The JSON after the id. */
  json: string;
  /** A hash of that JSON. */
  tag: string;
}

/** The cards of a question in each of its languages. */
export interface CardLanguages {
  /** The question's own language, in which it can always be shown. */
  own: string;
  /** The question's card in each language, all of whose texts it has. */
  texts: ReadonlyMap<string, CardTexts>;
  /** The attributes that its texts recall. */
  recalled: ReadonlySet<string>;
  /** The question, for cards of users with such attributes; null if it has no recalls. */
  source: LiveQuestionRow | null;
}

/** Renders a question once per language. */
export function renderCards(question: LiveQuestionRow): CardLanguages {
  const recalled = recalledAttributes(question);
  const texts = [question.locale, ...completeLocales(question)].map((locale): [string, CardTexts] => {
    const json = renderCard(question, locale, recalled.size > 0 ? {} : null);
    return [locale, { json, tag: shortHash(json) }];
  });
  return { own: question.locale, texts: new Map(texts), recalled, source: recalled.size > 0 ? question : null };
}
