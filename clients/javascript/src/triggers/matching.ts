import type { PropertyCondition, Trigger, TriggerOperator } from '../types.ts';

type Test = (given: unknown, wanted: unknown) => boolean;

const compare =
  (isMet: (given: number, wanted: number) => boolean): Test =>
  (given, wanted) =>
    typeof given === 'number' && typeof wanted === 'number' && isMet(given, wanted);
const search =
  (isMet: (given: string, wanted: string) => boolean): Test =>
  (given, wanted) =>
    typeof given === 'string' && typeof wanted === 'string' && isMet(given, wanted);
const isIn: Test = (given, wanted) => [wanted].flat().includes(given);

/** Tests of a property that is present. Types are not converted; `ne` and `not_in` need a value of the same type. */
const TESTS: Record<TriggerOperator, Test> = {
  eq: (given, wanted) => given === wanted,
  ne: (given, wanted) => typeof given === typeof wanted && given !== wanted,
  in: isIn,
  not_in: (given, wanted) => typeof given === typeof [wanted].flat()[0] && !isIn(given, wanted),
  lt: compare((given, wanted) => given < wanted),
  lte: compare((given, wanted) => given <= wanted),
  gt: compare((given, wanted) => given > wanted),
  gte: compare((given, wanted) => given >= wanted),
  contains: search((given, wanted) => given.includes(wanted)),
  starts_with: search((given, wanted) => given.startsWith(wanted)),
  ends_with: search((given, wanted) => given.endsWith(wanted)),
  set: () => true,
  not_set: () => false,
};

/** Values of an event's properties; others than texts, numbers and booleans count as missing. */
export type Properties = Readonly<Record<string, unknown>>;

function holds({ property, op, value }: PropertyCondition, properties: Properties): boolean {
  const given = Object.entries(properties).find(([name]) => name === property)?.[1];
  if (!/^(string|number|boolean)$/.test(typeof given)) return op === 'not_set';
  return TESTS[op]?.(given, value) ?? false; // a later server may send other operators
}

/** Whether the properties of an event meet all conditions. */
export const isMet = ({ where }: Trigger, properties: Properties): boolean =>
  where.every(condition => holds(condition, properties));

/** Whether the trigger may occur on this page. */
export const isOnPage = ({ url }: Trigger, page: string): boolean =>
  !url || (TESTS[url.op]?.(page, url.value) ?? false);
