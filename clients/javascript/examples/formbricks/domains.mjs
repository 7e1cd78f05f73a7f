/** The possible values of an element, in classes that its conditions distinguish, and Parley's condition for a set of values. */

const range = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const idsOf = element => element.choices.map(({ id }) => id);
const SCORES = { nps: () => range(0, 10), csat: () => range(1, 5), ces: scaleOf, rating: scaleOf };
function scaleOf(element) {
  return range(1, element.range);
}

/** The most options of one multiple choice that conditions may name: every combination of them is tried. */
const MAX_NAMED = 5;

const namedIn = conditions => [...new Set(conditions.flatMap(({ rightOperand }) => rightOperand?.value ?? []))];

/** Combinations of the named options, with and without an option that is not named. */
function combinations(element, conditions) {
  const ids = idsOf(element);
  const named = namedIn(conditions).filter(id => ids.includes(id));
  const parts = [...named, ...ids.filter(id => !named.includes(id)).slice(0, 1)];
  return range(1, 2 ** parts.length - 1).map(bits => parts.filter((_, index) => (bits >> index) % 2 === 1));
}

const IS = {
  isSubmitted: left => left !== undefined,
  isSkipped: left => left === undefined,
};
const EQUALS = {
  equals: (left, right) => left === right,
  doesNotEqual: (left, right) => left !== right,
};
const LISTS = (left, right) => Array.isArray(left) && Array.isArray(right);

/** Formbricks' operators by type. Those of other types compare texts or dates, which Parley's conditions cannot. */
const ORDER = {
  isLessThan: (left, right) => left < Number(right),
  isLessThanOrEqual: (left, right) => left <= Number(right),
  isGreaterThan: (left, right) => left > Number(right),
  isGreaterThanOrEqual: (left, right) => left >= Number(right),
};
const OF_SCORES = { ...IS, ...EQUALS, ...ORDER };
const OPERATORS = {
  nps: OF_SCORES,
  csat: OF_SCORES,
  ces: OF_SCORES,
  rating: OF_SCORES,
  multipleChoiceSingle: {
    ...IS,
    ...EQUALS,
    equalsOneOf: (left, right) => left !== undefined && right.includes(left),
  },
  multipleChoiceMulti: {
    ...IS,
    equals: (left, right) => left?.length === 1 && left[0] === right,
    includesAllOf: (left, right) => LISTS(left, right) && right.every(id => left.includes(id)),
    includesOneOf: (left, right) => LISTS(left, right) && right.some(id => left.includes(id)),
    doesNotIncludeAllOf: (left, right) => LISTS(left, right) && right.every(id => !left.includes(id)),
    doesNotIncludeOneOf: (left, right) => LISTS(left, right) && !right.some(id => left.includes(id)),
  },
  consent: { ...IS, isAccepted: IS.isSubmitted },
  cta: { ...IS, isClicked: IS.isSubmitted, isNotClicked: IS.isSkipped },
};

const operatorOf = (element, { operator }) => (OPERATORS[element.type] ?? IS)[operator];

/** Whether a condition compares an element with something fixed, in a way that is known here. */
export function isKnown(element, condition) {
  if (!element || !operatorOf(element, condition)) return false;
  const { rightOperand: right } = condition;
  if (right && right.type !== 'static') return false;
  return element.type !== 'multipleChoiceMulti' || namedIn([condition]).length <= MAX_NAMED;
}

const holds = (element, condition, value) => operatorOf(element, condition)(value, condition.rightOperand?.value);

const valuesOf = (element, conditions) => {
  if (SCORES[element.type]) return SCORES[element.type](element);
  if (element.type === 'multipleChoiceSingle') return idsOf(element);
  return element.type === 'multipleChoiceMulti' ? combinations(element, conditions) : [true];
};

/**
 * The classes of an element's values between which its conditions differ: the first is no value. Each knows the conditions that
 * hold, by their ids. Null if there would be too many.
 */
export function classesOf(element, conditions) {
  if (element.type === 'multipleChoiceMulti' && namedIn(conditions).length > MAX_NAMED) return null;
  const classOf = value => conditions.filter(condition => holds(element, condition, value)).map(({ id }) => id);
  const classes = new Map();
  for (const value of valuesOf(element, conditions)) {
    const met = classOf(value);
    const found = classes.get(met.join()) ?? { values: [], met };
    classes.set(met.join(), found);
    found.values.push(value);
  }
  return [{ values: [undefined], met: classOf(undefined) }, ...classes.values()];
}

function scoreCondition(all, values) {
  const [low, high] = [values[0], values.at(-1)];
  const isRange = values.length === high - low + 1;
  if (values.length === 1) return { op: 'eq', value: low };
  if (isRange && low === all[0]) return { op: 'lte', value: high };
  if (isRange && high === all.at(-1)) return { op: 'gte', value: low };
  return { op: 'in', value: values };
}

function choiceCondition(all, values) {
  const rest = all.filter(id => !values.includes(id));
  if (values.length === 1) return { op: 'eq', value: values[0] };
  return rest.length === 1 ? { op: 'ne', value: rest[0] } : { op: 'in', value: values };
}

const CONTAINS = {
  contains_any: (value, ids) => ids.some(id => value.includes(id)),
  contains_all: (value, ids) => ids.every(id => value.includes(id)),
};

/** The condition on options of a multiple choice that holds for exactly these combinations, if there is one. */
function optionsCondition(all, values) {
  const ids = [...new Set(all.flat())];
  for (const list of range(1, 2 ** ids.length - 1).map(bits => ids.filter((_, index) => (bits >> index) % 2 === 1)))
    for (const [op, contains] of Object.entries(CONTAINS))
      if (all.every(value => contains(value, list) === values.includes(value))) return { op, value: list };
  return undefined;
}

/** Parley's condition that holds for exactly these values of an element, which are some of `all`; undefined if there is none. */
export function conditionOn(element, all, values) {
  if (values.length === all.length) return { op: 'answered' };
  if (SCORES[element.type])
    return scoreCondition(
      all,
      values.toSorted((a, b) => a - b),
    );
  if (element.type === 'multipleChoiceSingle') return choiceCondition(all, values);
  return element.type === 'multipleChoiceMulti' ? optionsCondition(all, values) : undefined;
}
