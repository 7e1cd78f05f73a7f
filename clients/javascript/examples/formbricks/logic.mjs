/**
 * Turns the jumps of a Formbricks survey into the conditions of Parley's steps (`show_if`).
 *
 * It follows the jumps for every combination of answers on which they depend. A condition is used only if it holds for exactly the
 * combinations for which Formbricks shows the page.
 */
import { isRequired } from './content.mjs';
import { classesOf, conditionOn, isKnown } from './domains.mjs';

/** The most kinds of answers that are tried. */
const MAX_CASES = 50_000;

/** The most conditions in a `show_if`. */
const MAX_CONDITIONS = 5;

const singles = ({ conditions }) => conditions.flatMap(each => (each.conditions ? singles(each) : each));

const leftOf = ({ leftOperand: { type, value } }) => (['element', 'question'].includes(type) ? value : undefined);

/** Whether a group of conditions holds, given the ids of those that do. */
function isMet(group, met) {
  const parts = group.conditions.map(each => (each.conditions ? isMet(each, met) : met.has(each.id)));
  return group.connector === 'or' ? parts.some(Boolean) : parts.every(Boolean);
}

/** What the rules of the survey depend on: elements with the classes of their values, and conditions that are not known. */
function dependenciesOf(blocks, mainId) {
  const elements = blocks.flatMap((block, page) => block.elements.map(element => ({ element, page })));
  const all = blocks.flatMap(({ rules }) => rules.flatMap(({ conditions }) => singles(conditions)));
  const known = all.filter(each => isKnown(elements.find(({ element }) => element.id === leftOf(each))?.element, each));
  const unknown = new Set(all.filter(each => !known.includes(each)).map(({ id }) => id));
  const questions = [];
  for (const { element, page } of elements) {
    const conditions = known.filter(each => leftOf(each) === element.id);
    if (conditions.length === 0) continue;
    const classes = classesOf(element, conditions);
    if (!classes) for (const { id } of conditions) unknown.add(id);
    // Parley always asks for the first value; a button is never required
    else questions.push({ element, page, classes, first: isRequired(element) || element.id === mainId ? 1 : 0 });
  }
  return { questions, unknown: [...unknown] };
}

/** Every combination of the classes of values, each with a truth for every condition that is not known; undefined if too many. */
function answersTo({ questions, unknown }) {
  const sizes = questions.map(({ classes, first }) => classes.length - first);
  const count = sizes.reduce((product, size) => product * size, 2 ** unknown.length);
  if (count > MAX_CASES) return undefined;
  return Array.from({ length: count }, (_, number) => {
    let rest = number;
    const next = size => {
      const digit = rest % size;
      rest = Math.floor(rest / size);
      return digit;
    };
    const chosen = questions.map(({ first }, index) => first + next(sizes[index]));
    return { chosen, met: unknown.filter(() => next(2) === 1) };
  });
}

/** The pages that Formbricks shows for an answer; undefined if it goes back to an earlier one. */
function walk(blocks, { questions }, { chosen, met }) {
  const shown = new Set();
  const holding = new Set(met);
  for (let page = 0; page < blocks.length && page >= 0; ) {
    shown.add(page);
    for (const [index, question] of questions.entries()) {
      const { met: ofClass } = question.classes[shown.has(question.page) ? chosen[index] : 0];
      for (const { met: others } of question.classes) for (const id of others) holding.delete(id);
      for (const id of ofClass) holding.add(id);
    }
    const { rules, fallback } = blocks[page];
    const target = rules.find(rule => rule.target && isMet(rule.conditions, holding))?.target ?? fallback;
    const next = target ? blocks.findIndex(({ id }) => id === target) : page + 1; // -1: an ending
    if (next >= 0 && next <= page) return undefined;
    page = next;
  }
  return shown;
}

/** Every kind of answer to a survey with the pages and the class of each question that it shows; undefined if that cannot be known. */
function casesOf(blocks, mainId) {
  const dependencies = dependenciesOf(blocks, mainId);
  const cases = answersTo(dependencies)?.map(answer => {
    const shown = walk(blocks, dependencies, answer);
    const seen = dependencies.questions.map(({ page }, index) => (shown?.has(page) ? answer.chosen[index] : 0));
    return { shown, seen };
  });
  return cases?.every(({ shown }) => shown) ? { cases, questions: dependencies.questions } : undefined;
}

/** The conditions on a question that together mean that its value is in one of `classes`: at most one for no value and one for the rest. */
function conditionsFor({ element, classes: all }, wanted) {
  const values = all.slice(1).flatMap(({ values }, index) => (wanted.has(index + 1) ? values : []));
  const everyValue = all.slice(1).flatMap(each => each.values);
  const positive = values.length > 0 ? conditionOn(element, everyValue, values) : null;
  if (positive === undefined) return undefined;
  return [...(wanted.has(0) ? [{ op: 'not_answered' }] : []), ...(positive ? [positive] : [])];
}

/** Leaves out each part without which the rest is still true for exactly the same answers. */
function reduce(parts, fits) {
  if (!fits(parts)) return undefined;
  return parts.reduce((kept, part) => {
    const less = kept.filter(each => each !== part);
    return less.length > 0 && fits(less) ? less : kept;
  }, parts);
}

/** Conditions that all hold, or of which one holds, for exactly the answers that show a page; undefined if there are none. */
function findConditions({ cases, questions }, isShown, usable) {
  const parts = (relevant, invert, most) =>
    questions.flatMap((question, index) => {
      if (!usable.has(question.element.id) || question.element.type === 'cta') return []; // a statement has no value
      const found = new Set(relevant.map(({ seen }) => seen[index]));
      const every = new Set(cases.map(({ seen }) => seen[index]));
      const wanted = invert ? new Set([...every].filter(each => !found.has(each))) : found;
      if (wanted.size === 0 || wanted.size === every.size) return [];
      const conditions = conditionsFor(question, wanted);
      return conditions && conditions.length <= most ? [{ index, wanted, step: question.element.id, conditions }] : [];
    });
  const holds = ({ index, wanted }, { seen }) => wanted.has(seen[index]);
  const narrow = parts(cases.filter(isShown), false, 1);
  const wide = parts(
    cases.filter(each => !isShown(each)),
    true,
    2,
  );
  const all = reduce(narrow, list => cases.every(each => list.every(part => holds(part, each)) === isShown(each)));
  const any = reduce(wide, list => cases.every(each => list.some(part => holds(part, each)) === isShown(each)));
  return [all && { name: 'all', parts: all }, any && { name: 'any', parts: any }].find(each => each?.parts.length > 0);
}

function toShowIf({ name, parts }) {
  const conditions = parts.flatMap(({ step, conditions: each }) => each.map(condition => ({ step, ...condition })));
  if (conditions.length > MAX_CONDITIONS) return undefined;
  return conditions.length === 1 ? conditions[0] : { [name]: conditions };
}

/**
 * For each page, when Parley would show it, as a function of the steps before it that can be referred to, by the ids of their elements.
 * The function returns null for always, a `show_if`, or the reason why there is none as `{ reason }`.
 */
export function readLogic(blocks, mainId) {
  const known = casesOf(blocks, mainId);
  return (page, usable) => {
    if (!known) return page === 0 ? null : { reason: 'its logic jumps back, or depends on too many answers' };
    const isShown = ({ shown }) => shown.has(page);
    if (known.cases.every(isShown)) return null;
    if (!known.cases.some(isShown)) return { reason: 'no answer leads to it' };
    const found = findConditions(known, isShown, usable);
    return (found && toShowIf(found)) ?? { reason: 'Parley has no condition like the logic that leads to it' };
  };
}
