/** A replacement within a piece of source text, by offsets from its start. */
export interface Edit {
  operator: string;
  start: number;
  end: number;
  after: string;
}

const SQL = /\b(?:select\b[\s\S]*\bfrom|insert into|update \w+ set|delete from|where|order by|for update)\b/;
const FRAGMENT = /^['`][\w."${}]+ (?:(?:=|<|>|<=|>=|<>|@@) |in \(|is (?:not |null|distinct))/;

/** Whether a string or template literal, with its quotes, is SQL: a statement, a part of one, or a condition. */
export const isSql = (literal: string): boolean => SQL.test(literal) || FRAGMENT.test(literal);

const CONDITION_END =
  /^(?:\s+(?:and|or|order by|group by|limit|returning|for (?:no key )?(?:update|share|key share)|union|on conflict|offset|then)\b|;)/;
/** An expression in a template that follows a whole condition is further SQL. */
const EXPRESSION = /^\s+\$\{/;
const OPENING = '([{';
const CLOSING = ')]}';

/** Returns where the condition that starts at `start` ends: at a keyword, a parenthesis or the literal's end. */
function conditionEnd(literal: string, start: number): number {
  const last = literal.length - 1;
  let depth = 0;
  for (let at = start; at < last; at++) {
    const character = literal[at] as string;
    const rest = literal.slice(at, at + 25);
    if (OPENING.includes(character)) depth++;
    if (CLOSING.includes(character) && --depth < 0) return at;
    if (
      depth === 0 &&
      (CONDITION_END.test(rest) || (EXPRESSION.test(rest) && !/[=<>]/.test(literal[at - 1] as string)))
    )
      return at;
  }
  return last;
}

/** Conditions on the caller's own tenant, which row-level security repeats: without them the rows are the same. */
const TENANT = /^(?:\w+\.)?tenant_id = (?:\$\d*(?:::uuid)?|\w+\.tenant_id)$/;

const CONDITION_START = /\b(?:where|and|on) (?=[\w("'$])/g;
const FRAGMENT_START = /^['`]|\b(?:where|and|on) (?=[\w("'$])/g;

/** Makes conditions true. Their parameters remain, because PostgreSQL rejects a statement with an unused one. */
const droppedConditions = (text: string): Edit[] =>
  [...text.matchAll(FRAGMENT.test(text) ? FRAGMENT_START : CONDITION_START)].flatMap(({ 0: keyword, index }) => {
    const start = index + keyword.length;
    const end = conditionEnd(text, start);
    const condition = text.slice(start, end).trimEnd();
    const isWhole =
      /[=<>]|\b(?:is|in|exists|not|any|like)\b/.test(condition) && !/^conflict|^\(.*\) do /.test(condition);
    if (!isWhole || TENANT.test(condition)) return [];
    return [
      { operator: 'SQL condition dropped', start, end: start + condition.length, after: `(${condition} or true)` },
    ];
  });

type Rule = [operator: string, pattern: RegExp, replace: (found: string) => string];

const TOGGLED: Record<string, string> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const NEGATED: Record<string, string> = { 'is null': 'is not null', 'is not null': 'is null' };
const REVERSED: Record<string, string> = { ' desc': ' asc', ' asc': ' desc' };

const RULES: Rule[] = [
  ['SQL boundary', /(?<= )(?:<=?|>=?)(?= )(?! (?:clock_timestamp|now)\b)/g, found => TOGGLED[found] as string],
  ['SQL null check negated', /\bis (?:not )?null\b/g, found => NEGATED[found] as string],
  ['SQL order reversed', / (?:desc|asc)\b/g, found => REVERSED[found] as string],
  ['SQL limit removed', /\blimit (?=[$\d])/g, () => 'limit 1000 + '],
  ['SQL lock removed', /\bfor (?:no key )?(?:update|key share|share)(?: skip locked)?\b/g, () => ''],
  ['SQL distinct removed', /\bdistinct (?!on\b)/g, () => ''],
  ['SQL conflict raised', /\bon conflict do nothing\b/g, () => ''],
  ['SQL sign reversed', /(?<=\w) [+-] (?=[\d$a-z])/g, found => (found.includes('+') ? ' - ' : ' + ')],
];

/** Returns the faults of a SQL literal, which includes its quotes and, in a template, its expressions. */
export function sqlEdits(text: string): Edit[] {
  const byRules = RULES.flatMap(([operator, pattern, replace]) =>
    [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
      operator,
      start: index,
      end: index + found.length,
      after: replace(found),
    })),
  );
  return [...droppedConditions(text), ...byRules].filter(({ start }) => !isInExpression(text, start));
}

/** Whether an offset lies within `${…}`: that is code, to which the other operators apply. */
function isInExpression(text: string, offset: number): boolean {
  const before = text.slice(0, offset);
  return before.lastIndexOf('${') > before.lastIndexOf('}');
}
