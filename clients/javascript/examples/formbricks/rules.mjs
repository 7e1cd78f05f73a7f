/** When and to whom Formbricks shows a survey, as the rules of a question. What has no equivalent is a loss with its reason. */

class Loss extends Error {}

const MAX_CONDITIONS = 20;
const MAX_DELAY_S = 600;

/** By Formbricks operator: Parley's, and whether it is negated by a group. */
const OPERATORS = {
  equals: ['eq'],
  notEquals: ['ne'],
  contains: ['contains'],
  doesNotContain: ['contains', true],
  startsWith: ['starts_with'],
  endsWith: ['ends_with'],
  isSet: ['set'],
  isNotSet: ['not_set'],
  lessThan: ['lt'],
  lessEqual: ['lte'],
  greaterThan: ['gt'],
  greaterEqual: ['gte'],
  isBefore: ['before'],
  isAfter: ['after'],
  isOlderThan: ['older_than_days'],
  isNewerThan: ['newer_than_days'],
};

/** Units of time that are a number of days, which months and years are not. */
const DAYS = { days: 1, weeks: 7 };

/** The value with which a condition compares: for an age, Formbricks has an amount and a unit, and Parley a number of days. */
function comparedWith(op, value) {
  if (!op.endsWith('_days')) return value;
  if (!DAYS[value?.unit]) throw new Loss(`an age in ${value?.unit}, which Parley has in days`);
  return value.amount * DAYS[value.unit];
}

const NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/** A filter of a segment as a condition. */
function conditionOf({ root, qualifier, value }) {
  const attribute = root?.contactAttributeKey ?? root?.attributeClassName;
  if (root?.type !== 'attribute' || !attribute) throw new Loss(`a filter by ${root?.type ?? 'something unknown'}`);
  if (!NAME.test(attribute)) throw new Loss(`the attribute "${attribute}", whose name can have A-Z a-z 0-9 _ . - only`);
  const [op, isNegated] = OPERATORS[qualifier?.operator] ?? [];
  if (!op) throw new Loss(`the comparison ${qualifier?.operator}`);
  const compared = /set$/.test(op) ? { attribute, op } : { attribute, op, value: comparedWith(op, value) };
  return isNegated ? { all: [{ attribute, op: 'set' }, { none: [compared] }] } : compared; // needs a value in Formbricks
}

/** Filters that are all joined by "and", or all by "or", as a group. */
function groupOf(filters) {
  const connectors = new Set(filters.slice(1).map(({ connector }) => connector));
  if (connectors.size > 1) throw new Loss('filters joined by "and" as well as "or"');
  const nodes = filters.map(({ resource }) => (Array.isArray(resource) ? groupOf(resource) : conditionOf(resource)));
  return connectors.has('or') ? { any: nodes } : { all: nodes.flatMap(node => node.all ?? node) };
}

const depthOf = node =>
  1 + Math.max(0, ...Object.values(node).flatMap(each => (Array.isArray(each) ? each.map(depthIn) : [])));
const depthIn = node => (node.all || node.any || node.none ? depthOf(node) : 0);
const countOf = node =>
  [node.all, node.any, node.none]
    .flatMap(each => each ?? [])
    .reduce((sum, each) => sum + countOf(each), node.attribute ? 1 : 0);

function audienceIn({ segment }) {
  if (!segment?.filters?.length) return null;
  const audience = groupOf(segment.filters);
  if (depthOf(audience) > 3 || countOf(audience) > MAX_CONDITIONS)
    throw new Loss('more or deeper filters than an audience has');
  return audience;
}

const URL_RULES = { exactMatch: 'eq', contains: 'contains', startsWith: 'starts_with', endsWith: 'ends_with' };

function urlOf(filters = []) {
  if (filters.length === 0) return null;
  const [{ rule, value }] = filters;
  if (filters.length > 1 || !URL_RULES[rule]) throw new Loss('a trigger with several or excluded addresses');
  return { op: URL_RULES[rule], value };
}

/** The action that shows the survey; null for one that is always shown. */
function triggerIn({ triggers, delay }) {
  if (!triggers?.length) return null;
  if (triggers.length > 1) throw new Loss('several triggers');
  const { type, key, noCodeConfig } = triggers[0].actionClass ?? triggers[0];
  const delay_s = Math.min(delay || 0, MAX_DELAY_S);
  if (type === 'code') return { event: key, delay_s };
  const url = urlOf(noCodeConfig?.urlFilters);
  if (noCodeConfig?.type === 'pageView') return { url: url ?? { op: 'contains', value: '/' }, delay_s };
  const { cssSelector, innerHtml } = noCodeConfig?.elementSelector ?? {};
  if (noCodeConfig?.type === 'click' && innerHtml) throw new Loss('a trigger by the text of an element');
  if (noCodeConfig?.type !== 'click' || !cssSelector) throw new Loss(`a trigger by ${noCodeConfig?.type ?? type}`);
  return { click: cssSelector, ...(url ? { url } : {}), delay_s };
}

const FREQUENCIES = {
  displayOnce: () => ({ repeat: 'once' }),
  displayMultiple: () => ({ repeat: 'until_answered' }),
  displaySome: ({ displayLimit }) => ({ repeat: 'until_answered', max_displays: Math.min(displayLimit ?? 1, 100) }),
  respondMultiple: () => ({ repeat: 'always' }),
};

function frequencyIn(survey) {
  const { displayOption, recontactDays } = survey;
  const frequency = FREQUENCIES[displayOption]?.(survey);
  return frequency && { ...frequency, ...(recontactDays === 0 ? { ignore_cooldown: true } : {}) };
}

/** The start and the end of a survey. Until Formbricks 4 they had other names. */
const startOf = ({ publishOn, runOnDate }) => publishOn ?? runOnDate;
const endOf = ({ closeOn, closeOnDate }) => closeOn ?? closeOnDate;

const isAhead = time => Boolean(time) && Date.parse(time) > Date.now();

/** The time at which the survey closes, if it lies ahead. */
const scheduleIn = survey => (isAhead(endOf(survey)) ? { end_at: new Date(endOf(survey)).toISOString() } : undefined);

const RULES = {
  audience: audienceIn,
  trigger: triggerIn,
  frequency: frequencyIn,
  schedule: scheduleIn,
  sampling_percent: ({ displayPercentage }) => displayPercentage ?? undefined,
};

/** What a question does not have: nothing of it is imported. */
const lossesOf = ({ recontactDays, triggers, delay, autoComplete, ...survey }) => [
  ...(recontactDays ? [`a waiting time of ${recontactDays} days of its own: the cooldown of the tenant applies`] : []),
  ...(isAhead(startOf(survey)) ? [`the start at ${startOf(survey)}: resume the question then`] : []),
  ...(autoComplete
    ? [`the limit of ${autoComplete} responses: set response_limit after the last import, which it would stop`]
    : []),
  ...(delay && !triggers?.length ? ['a delay without a trigger'] : []),
  ...(delay > MAX_DELAY_S ? [`a delay of more than ${MAX_DELAY_S} seconds`] : []),
];

/** The rules of a survey as those of a question, with a reason for each that it cannot have. Those that it does not set are absent. */
export function rulesOf(survey) {
  const rules = {};
  const losses = lossesOf(survey);
  for (const [name, read] of Object.entries(RULES))
    try {
      const rule = read(survey);
      if (rule !== undefined && rule !== null) rules[name] = rule;
    } catch (error) {
      if (!(error instanceof Loss)) throw error;
      losses.push(`${name}: ${error.message}`);
    }
  return { rules, losses };
}
