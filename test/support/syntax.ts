import { parseSync } from 'vite';

/** A node of an ESTree syntax tree. */
export type SyntaxNode = Record<string, unknown> & { type: string; start: number; end: number };

export const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string';

/** Returns the syntax tree of a module. Throws if the module does not parse. */
export function parse(path: string, text: string): SyntaxNode {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  return program as unknown as SyntaxNode;
}

export const childrenOf = (node: SyntaxNode): SyntaxNode[] => Object.values(node).flat().filter(isNode);

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

export const isFunction = (node: SyntaxNode): boolean => FUNCTIONS.has(node.type);

const nameOf = (node: unknown): string | undefined => (isNode(node) ? (node.name as string | undefined) : undefined);

/**
 * Returns the name that V8 infers for a function, by which coverage data refers to it.
 *
 * Undefined for anonymous functions, getters and setters: those count as part of the function around them.
 */
export function functionName(node: SyntaxNode, parent: SyntaxNode | undefined): string | undefined {
  const own = nameOf(node.id);
  if (own || !parent) return own;
  if (parent.type === 'VariableDeclarator') return nameOf(parent.id);
  const isNamedByKey = parent.type === 'MethodDefinition' || parent.type === 'Property';
  const isAccessor = parent.kind === 'get' || parent.kind === 'set';
  return isNamedByKey && !isAccessor && !parent.computed ? nameOf(parent.key) : undefined;
}

/** Returns the member's name of a call such as `rows.filter(…)`, otherwise the function's name. */
export function calleeName(call: SyntaxNode): string | undefined {
  const callee = call.callee as SyntaxNode;
  return nameOf(callee.type === 'MemberExpression' ? callee.property : callee);
}

/** Whether a function returns a value: such a function is not emptied. */
export const returnsValue = (node: SyntaxNode): boolean =>
  childrenOf(node).some(
    child =>
      (child.type === 'ReturnStatement' && isNode(child.argument)) || (!isFunction(child) && returnsValue(child)),
  );
