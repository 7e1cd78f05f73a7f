/** The questions of a Formbricks survey as Parley's steps, and the values of its responses. */

/**
 * Plain text of a Formbricks text, which is localized, may repeat an earlier answer and, since version 4, is formatted. With `language`
 * it is the translation, an empty text if there is none.
 */
export function plain(text, limit, language) {
  const texts = typeof text === 'object' && text !== null ? text : { default: text };
  const chosen = language ? texts[language] : (texts.default ?? Object.values(texts)[0]);
  const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };
  const words = String(chosen ?? '')
    .replace(/#recall:[A-Za-z0-9_-]+\/fallback:([^#]*)#/g, (_, fallback) => fallback.replaceAll('nbsp', ' '))
    .replace(/<\/?(p|div|br|li|ul|ol|h\d)\b[^>]*>/gi, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name) => ENTITIES[name])
    .replace(/\s+/g, ' ')
    .trim();
  return [...words].slice(0, limit).join('');
}

const ends = ({ lowerLabel, upperLabel }, language) => ({
  labels: { low: plain(lowerLabel, 80, language), high: plain(upperLabel, 80, language) },
});

const isOther = choice => choice.id === 'other';

const choices = (element, language) => ({
  options: element.choices
    .filter(choice => !isOther(choice))
    .map(({ id, label }) => ({ id, label: plain(label, 200, language) })),
  allow_other: element.choices.some(isOther),
  shuffle: (element.shuffleOption ?? 'none') !== 'none',
});

/** The selected option. Formbricks stores its label in the user's language. */
function choose(element, labels) {
  const option = label =>
    element.choices.find(each => Object.values(Object(each.label)).includes(label) && !isOther(each));
  const option_ids = labels.flatMap(label => option(label)?.id ?? []);
  const other_text = labels.filter(label => label !== '' && !option(label)).join('; ');
  return { option_ids, ...(other_text ? { other_text } : {}) };
}

const number = value => Number(value);

/** By Formbricks type: Parley's type and config, and the conversion of values. A statement has no value. */
export const TYPES = {
  nps: { type: 'nps', config: ends, value: number },
  csat: {
    type: 'csat',
    config: (element, language) => ({ style: element.scale, ...ends(element, language) }),
    value: number,
  },
  ces: {
    type: 'ces',
    config: (element, language) => ({ scale: element.range, ...ends(element, language) }),
    value: number,
  },
  rating: {
    type: 'rating',
    config: (element, language) => ({ scale: element.range, style: element.scale, ...ends(element, language) }),
    value: number,
  },
  openText: {
    type: 'text',
    config: ({ inputType }) => ({ input: ['email', 'url', 'number'].includes(inputType) ? inputType : 'text' }),
    value: String,
  },
  multipleChoiceSingle: {
    type: 'single_choice',
    config: choices,
    value(value, element) {
      const { option_ids, other_text } = choose(element, [value]);
      return other_text ? { other_text } : { option_id: option_ids[0] };
    },
  },
  multipleChoiceMulti: {
    type: 'multi_choice',
    config: choices,
    value: (value, element) => choose(element, [value].flat()),
  },
  date: { type: 'date', config: () => ({}), value: value => String(value).slice(0, 10) },
  consent: { type: 'consent', config: () => ({}), value: value => value === 'accepted' },
  cta: {
    type: 'statement',
    config: ({ buttonExternal, buttonUrl }) => (buttonExternal && /^https?:/.test(buttonUrl) ? { url: buttonUrl } : {}),
  },
};

const isAnswered = value =>
  value !== undefined && value !== null && value !== '' && value !== 'dismissed' && String(value) !== '';

/** The value of an element in a response, as Parley stores it; undefined if it was not answered. */
export const valueIn = (response, element) =>
  isAnswered(response.data[element.id]) ? TYPES[element.type].value?.(response.data[element.id], element) : undefined;

const JUMPS = ['jumpToBlock', 'jumpToQuestion'];

const rulesOf = (logic, id) =>
  (logic ?? []).map(({ conditions, actions, condition, destination }, index) =>
    actions
      ? {
          conditions,
          target: actions.find(({ objective }) => JUMPS.includes(objective))?.target,
          others: actions.map(({ objective }) => objective).filter(objective => !JUMPS.includes(objective)),
        }
      : { conditions: earlierCondition(`${id}-${index}`, condition), target: destination, others: [] },
  );

/** The condition of a rule before Formbricks 2.6, whose values have another form, as one that is not known. */
const earlierCondition = (id, operator) => ({
  id: `${id}-group`,
  connector: 'and',
  conditions: [{ id, leftOperand: { type: 'earlier' }, operator }],
});

/** The pages of a survey in order, with their rules. A page of an earlier Formbricks has one question. */
export const blocksOf = survey =>
  survey.blocks?.length
    ? survey.blocks.map(({ id, elements, logic, logicFallback: fallback }) => ({
        id,
        elements,
        rules: rulesOf(logic, id),
        fallback,
      }))
    : survey.questions.map(question => ({
        id: question.id,
        elements: [question],
        rules: rulesOf(question.logic, question.id),
        fallback: question.logicFallback,
      }));
