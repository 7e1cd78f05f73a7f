import {
  calleeName,
  childrenOf,
  functionName,
  isFunction,
  isNode,
  parse,
  returnsValue,
  type SyntaxNode,
} from '../support/syntax.ts';
import { isSql, sqlEdits } from './sql-operators.ts';

/** A single change of a module that a test should notice. */
export interface Fault {
  /** The module, from the repository's top folder. */
  path: string;
  operator: string;
  /** Offsets of the replaced text. */
  start: number;
  end: number;
  after: string;
  line: number;
  /** The nearest named function; absent for code that runs when the module is loaded. */
  within?: string;
}

/** Values that a state can have instead, such as `pending` for `open`. */
export type States = Map<string, string>;

interface Place {
  text: string;
  states: States;
  parent: SyntaxNode | undefined;
}

interface Change {
  node: SyntaxNode;
  after: string;
}

type Operator = (node: SyntaxNode, place: Place) => Change[];

const source = (node: unknown, { text }: Place): string => (isNode(node) ? text.slice(node.start, node.end) : '');

const ORDERED: Record<string, string> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const OPPOSITE: Record<string, string> = { '===': '!==', '!==': '===', '<': '>=', '<=': '>', '>': '<=', '>=': '<' };
const SWAPPED: Record<string, string> = { '+': '-', '-': '+', '*': '/', '/': '*' };

/** Times: a comparison that differs only in one exact millisecond is not a fault that a test can be expected to notice. */
const TIME = /now\b|time|date|Ms\b|_MS\b|At\b|until|\bage/i;

const withOperator = (node: SyntaxNode, operator: string, place: Place): Change[] => [
  { node, after: `${source(node.left, place)} ${operator} ${source(node.right, place)}` },
];

const isText = (node: unknown): boolean =>
  isNode(node) &&
  (typeof node.value === 'string' || node.type === 'TemplateLiteral' || isText(node.left) || isText(node.right));

const isCalled = (node: SyntaxNode, ...names: string[]): boolean =>
  node.type === 'CallExpression' && names.includes(calleeName(node) as string);

/** The call of a statement: of `f();`, `await f();` and `void f();`. */
const callOf = (node: SyntaxNode): SyntaxNode | undefined => {
  const inner = (node.argument ?? node.expression) as SyntaxNode | undefined;
  if (node.type === 'CallExpression') return node;
  return ['AwaitExpression', 'UnaryExpression', 'ChainExpression'].includes(node.type) && inner
    ? callOf(inner)
    : undefined;
};

/** Steps of a chain without which the chain still yields a value of the same kind. */
const STEPS = ['filter', 'slice', 'sort', 'toSorted', 'reverse', 'toReversed', 'trim', 'toLowerCase'];

const OPERATORS: Record<string, Operator> = {
  'boundary moved': (node, place) => {
    const operator = ORDERED[node.operator as string];
    return operator && !TIME.test(source(node, place)) ? withOperator(node, operator, place) : [];
  },
  'comparison negated': (node, place) => {
    const operator = node.type === 'BinaryExpression' && OPPOSITE[node.operator as string];
    return operator ? withOperator(node, operator, place) : [];
  },
  'condition negated': (node, place) =>
    (node.type === 'IfStatement' || node.type === 'ConditionalExpression') && isNode(node.test)
      ? [{ node: node.test, after: `!(${source(node.test, place)})` }]
      : [],
  'guard removed': node =>
    node.type === 'IfStatement' && isNode(node.test) && !node.alternate ? [{ node: node.test, after: 'false' }] : [],
  'operand dropped': (node, place) => {
    if (node.type !== 'LogicalExpression') return [];
    const left = { node, after: `(${source(node.left, place)})` };
    return node.operator === '??' ? [left] : [left, { node, after: `(${source(node.right, place)})` }];
  },
  'statement removed': node => {
    if (node.type !== 'ExpressionStatement' || !isNode(node.expression)) return [];
    const isChange = ['AssignmentExpression', 'UpdateExpression'].includes(node.expression.type);
    return isChange || callOf(node.expression) ? [{ node, after: ';' }] : [];
  },
  'await removed': (node, place) =>
    node.type === 'ExpressionStatement' && isNode(node.expression) && node.expression.type === 'AwaitExpression'
      ? [{ node, after: `void ${source(node.expression.argument, place)};` }]
      : [],
  'number changed': (node, { parent }) => {
    if (typeof node.value !== 'number' || (parent?.type === 'MemberExpression' && parent.computed)) return [];
    return [{ node, after: String(node.value < 10 ? node.value + 1 : node.value * 10) }];
  },
  'boolean flipped': node => (typeof node.value === 'boolean' ? [{ node, after: String(!node.value) }] : []),
  'state swapped': (node, { states, parent }) => {
    const other = typeof node.value === 'string' && states.get(node.value);
    const isValue = parent?.type !== 'Property' || parent.key !== node;
    return other && isValue && parent?.type !== 'ArrayExpression' ? [{ node, after: `'${other}'` }] : [];
  },
  'step dropped': (node, place) => {
    if (!isCalled(node, ...STEPS) || (node.callee as SyntaxNode).type !== 'MemberExpression') return [];
    return [{ node, after: source((node.callee as SyntaxNode).object, place) }];
  },
  'minimum and maximum swapped': (node, place) => {
    if (!isCalled(node, 'min', 'max') || source((node.callee as SyntaxNode).object, place) !== 'Math') return [];
    return [{ node: node.callee as SyntaxNode, after: calleeName(node) === 'min' ? 'Math.max' : 'Math.min' }];
  },
  'arithmetic swapped': (node, place) => {
    const operator = node.type === 'BinaryExpression' && SWAPPED[node.operator as string];
    return operator && !isText(node) ? withOperator(node, operator, place) : [];
  },
  'returns early': node => {
    const body = isFunction(node) ? (node.body as SyntaxNode) : undefined;
    const isWorth = body?.type === 'BlockStatement' && (body.body as SyntaxNode[]).length > 1 && !returnsValue(body);
    return isWorth ? [{ node: body, after: '{}' }] : [];
  },
};

const isType = (node: SyntaxNode): boolean =>
  node.type.startsWith('TS') && !/^TS(?:As|NonNull|Satisfies)Expression$/.test(node.type);

/** Calls without an effect on behaviour that a test could check: log lines, texts of the API document, `unref`. */
const SILENT = ['unref', 'describe', 'meta', 'createThrottle'];
const isLog = (call: SyntaxNode): boolean => {
  const { object } = call.callee as SyntaxNode;
  return isNode(object) && /^(?:log|logger)$/.test(String(object.name ?? (object.property as SyntaxNode)?.name));
};
const isSilent = (call: SyntaxNode): boolean => isLog(call) || isCalled(call, ...SILENT);

const isError = (node: SyntaxNode): boolean =>
  node.type === 'NewExpression' && /Error$|^Problem$/.test(calleeName(node) as string);

/** The parts of a node in which a fault can change behaviour. */
function partsOf(node: SyntaxNode): SyntaxNode[] {
  if (isError(node)) return (node.arguments as SyntaxNode[]).slice(2); // a code has its own type; the detail is a text
  if (isCalled(node, ...SILENT)) return childrenOf(node.callee as SyntaxNode);
  return childrenOf(node);
}

const isSkipped = (node: SyntaxNode): boolean => {
  const call = node.type === 'ExpressionStatement' ? callOf(node.expression as SyntaxNode) : callOf(node);
  return (
    isType(node) ||
    /^Import|^ExportAll/.test(node.type) ||
    (call !== undefined && isLog(call)) ||
    isSilentStatement(node)
  );
};

const isSilentStatement = (node: SyntaxNode): boolean => {
  const call = node.type === 'ExpressionStatement' ? callOf(node.expression as SyntaxNode) : undefined;
  return call !== undefined && isSilent(call);
};

const sqlChanges = (node: SyntaxNode, place: Place): (Change & { operator: string })[] => {
  const literal = source(node, place);
  if (!(typeof node.value === 'string' || node.type === 'TemplateLiteral') || !isSql(literal)) return [];
  return sqlEdits(literal).map(({ operator, start, end, after }) => ({
    operator,
    node: { ...node, start: node.start + start, end: node.start + end },
    after,
  }));
};

/** Returns every fault of a module, in the order of its text. */
export function faultsOf(path: string, text: string, states: States): Fault[] {
  const found: Fault[] = [];
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
  const visit = (node: SyntaxNode, parent: SyntaxNode | undefined, within: string | undefined): void => {
    if (isSkipped(node)) return;
    const place = { text, states, parent };
    const changes = Object.entries(OPERATORS).flatMap(([operator, of]) =>
      of(node, place).map(change => ({ operator, ...change })),
    );
    const name = isFunction(node) ? (functionName(node, parent) ?? within) : within;
    for (const { operator, node: at, after } of [...changes, ...sqlChanges(node, place)])
      found.push({ path, operator, start: at.start, end: at.end, after, line: lineAt(at.start), within: name });
    for (const child of partsOf(node)) visit(child, node, name);
  };
  visit(parse(path, text), undefined, undefined);
  return found.sort((a, b) => a.start - b.start || a.end - b.end || a.after.localeCompare(b.after));
}

/** Returns the module's text with the fault. */
export const applyFault = (text: string, { start, end, after }: Fault): string =>
  text.slice(0, start) + after + text.slice(end);

const literalsOf = (nodes: SyntaxNode[]): string[] =>
  nodes
    .map(node => (node.literal as SyntaxNode | undefined)?.value ?? node.value)
    .filter(value => typeof value === 'string');

/** Returns the states of all modules: the members of unions of string literals and of `z.enum([…])`. */
export function statesOf(modules: { path: string; text: string }[]): States {
  const states: States = new Map();
  const visit = (node: SyntaxNode): void => {
    const list = isCalled(node, 'enum') ? (node.arguments as SyntaxNode[])[0] : undefined;
    const values = literalsOf(((node.type === 'TSUnionType' ? node.types : list?.elements) ?? []) as SyntaxNode[]);
    if (values.length > 1)
      values.forEach((value, index) => {
        if (!states.has(value)) states.set(value, values[(index + 1) % values.length] as string);
      });
    childrenOf(node).forEach(visit);
  };
  for (const { path, text } of modules) visit(parse(path, text));
  return states;
}
