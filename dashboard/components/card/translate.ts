import type { CardText, StepText, TextTranslation } from './card-source.ts';

type Option = { id: string; label: string };

/** Returns a step with the texts that the translation has, and its own for all others. */
function translateStep<Step extends StepText>(
  step: Step,
  translation: Omit<TextTranslation, 'follow_ups'> | undefined,
): Step {
  if (!translation) return step;
  const { labels, options } = step.config as { labels?: object; options?: Option[] };
  const { title, description, config } = translation;
  return {
    ...step,
    title: title || step.title,
    description: description || step.description,
    config: {
      ...step.config,
      ...(labels ? { labels: { ...labels, ...config?.labels } } : {}),
      ...(options ? { options: options.map(({ id, label }) => ({ id, label: config?.options?.[id] || label })) } : {}),
    },
  };
}

function translateThanks(thanks: CardText['thanks'], translation: TextTranslation['thanks']): CardText['thanks'] {
  if (!thanks || !translation) return thanks;
  const { title, body, link } = thanks;
  return {
    title: translation.title || title,
    body: translation.body || body,
    link: link && { ...link, label: translation.link?.label || link.label },
  };
}

/** Returns the texts of a question in another language; its own where the translation lacks one. */
export const translateCard = (text: CardText, translation: TextTranslation | undefined): CardText => ({
  ...translateStep(text, translation),
  thanks: translateThanks(text.thanks, translation?.thanks),
  ...(text.follow_ups
    ? { follow_ups: text.follow_ups.map(step => translateStep(step, translation?.follow_ups?.[step.key])) }
    : {}),
});
