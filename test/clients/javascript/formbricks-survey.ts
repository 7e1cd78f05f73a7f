/** Surveys as the management API of Formbricks returns them, and an interpreter of their logic. */

export interface Element {
  id: string;
  type: string;
  required: boolean;
  choices: { id: string; label: { default: string } }[];
}

interface Condition {
  id: string;
  leftOperand: { type: string; value: string };
  operator: string;
  rightOperand?: { type: string; value: unknown };
}

interface Rule {
  id: string;
  conditions: { id: string; connector: string; conditions: Condition[] };
  actions: { id: string; objective: string; target: string }[];
}

export interface Block {
  id: string;
  name: string;
  elements: Element[];
  logic?: Rule[];
  logicFallback?: string;
}

export interface Survey {
  id: string;
  name: string;
  blocks: Block[];
}

/** The answers of a response by element, as Formbricks stores them: a choice by its label. */
export type Data = Record<string, string | number | string[]>;

/** An element with all fields of its type. A choice has three options, `<id>-0` to `<id>-2`, and "other". */
export const elementOf = (id: string, type: string, { required = true } = {}) => ({
  id,
  type,
  required,
  headline: { default: `<p>About ${id}</p>` },
  ...(type === 'rating' ? { scale: 'star', range: 5 } : {}),
  ...(type === 'openText' ? { inputType: 'text', charLimit: { enabled: false } } : {}),
  ...(type === 'consent' ? { label: { default: 'Yes' } } : {}),
  choices: [
    ...[0, 1, 2].map(number => ({ id: `${id}-${number}`, label: { default: `Option ${number}` } })),
    { id: 'other', label: { default: 'Other' } },
  ],
});

let ids = 0;

/** A jump if all conditions hold. One whose left side is no element of the survey is about a hidden field. */
export const aRule = (target: string, ...conditions: [string, string, unknown?][]): Rule => ({
  id: `rule${++ids}`,
  conditions: {
    id: `group${++ids}`,
    connector: 'and',
    conditions: conditions.map(([value, operator, right]) => ({
      id: `condition${++ids}`,
      leftOperand: { type: value === 'plan' ? 'hiddenField' : 'element', value },
      operator,
      ...(right === undefined ? {} : { rightOperand: { type: 'static', value: right } }),
    })),
  },
  actions: [{ id: `action${++ids}`, objective: 'jumpToBlock', target }],
});

export const aBlock = (id: string, elements: Element[], { rules = [] as Rule[] } = {}): Block => ({
  id,
  name: id,
  elements,
  logic: rules,
});

export const aSurvey = (...blocks: Block[]): Survey => ({ id: 'cm5survey0000', name: 'Onboarding', blocks });

/** The option with a label; any other text is the option "other". */
const optionOf = ({ choices }: Element, label: string): string =>
  choices.find(choice => choice.label.default === label && choice.id !== 'other')?.id ?? 'other';

/** The left side of a comparison: a number, a text, the id of an option or several ids. */
function leftOf(element: Element, given: Data[string] | undefined): unknown {
  if (element.type === 'multipleChoiceSingle' && typeof given === 'string') return optionOf(element, given);
  return Array.isArray(given) ? given.map(label => optionOf(element, label)) : given;
}

function isMet({ operator, rightOperand }: Condition, left: unknown): boolean {
  const right = rightOperand?.value;
  const list = Array.isArray(left) ? left : undefined;
  const wanted = right as unknown[];
  switch (operator) {
    case 'isSubmitted':
      return list ? list.length > 0 : left !== undefined && left !== '';
    case 'isSkipped':
      return left === undefined || left === '' || list?.length === 0;
    case 'equals':
      return left === right || (list?.length === 1 && list[0] === right);
    case 'doesNotEqual':
      return left !== right;
    case 'isLessThan':
      return Number(left) < Number(right);
    case 'isLessThanOrEqual':
      return Number(left) <= Number(right);
    case 'isGreaterThan':
      return Number(left) > Number(right);
    case 'isGreaterThanOrEqual':
      return Number(left) >= Number(right);
    case 'equalsOneOf':
      return typeof left === 'string' && wanted.includes(left);
    case 'includesOneOf':
      return list?.some(id => wanted.includes(id)) ?? false;
    case 'includesAllOf':
      return list !== undefined && wanted.every(id => list.includes(id));
    case 'doesNotIncludeOneOf':
      return list !== undefined && !list.some(id => wanted.includes(id));
    case 'isAccepted':
      return left === 'accepted';
    case 'isClicked':
      return left === 'clicked';
    case 'isNotClicked':
      return left !== 'clicked';
    default:
      throw new Error(operator);
  }
}

/** The answer to an element that a number chooses; undefined if the user skips it. */
function chooseAnswer({ type, required, choices }: Element, number: number): Data[string] | undefined {
  if (type === 'cta') return number % 2 === 0 ? 'clicked' : undefined; // never required
  if (!required && number % 4 === 0) return undefined;
  const labels = choices.map(({ id, label }) => (id === 'other' ? 'My own words' : label.default));
  if (type === 'nps') return number % 11;
  if (type === 'rating') return 1 + (number % 5);
  if (type === 'multipleChoiceSingle') return labels[number % labels.length];
  if (type === 'multipleChoiceMulti') return labels.filter((_, index) => ((1 + (number % 15)) >> index) % 2 === 1);
  return type === 'consent' ? 'accepted' : 'Some words';
}

/**
 * The elements that Formbricks shows to a user whose answers the numbers choose, one for each element, and the response.
 * The element with the id `asked` is not skipped.
 */
export function shownElements({ blocks }: Survey, numbers: number[], asked?: string) {
  const all = blocks.flatMap(({ elements }) => elements);
  const data: Data = {};
  const shown: string[] = [];
  for (let block: Block | undefined = blocks[0]; block; ) {
    for (const element of block.elements) {
      shown.push(element.id);
      const number = numbers[all.indexOf(element)] ?? 0;
      const answer = chooseAnswer(element.id === asked ? { ...element, required: true } : element, number);
      if (answer !== undefined) data[element.id] = answer;
    }
    const holds = (condition: Condition) => {
      const element = all.find(({ id }) => id === condition.leftOperand.value) as Element;
      return isMet(condition, leftOf(element, data[element.id]));
    };
    const rule = block.logic?.find(({ conditions: { connector, conditions } }) =>
      connector === 'or' ? conditions.some(holds) : conditions.every(holds),
    );
    const next: string | undefined = rule?.actions[0]?.target ?? blocks[blocks.indexOf(block) + 1]?.id;
    block = blocks.find(({ id }) => id === next);
  }
  return { shown, data };
}
