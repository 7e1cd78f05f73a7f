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

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

export const isFunction = (node: SyntaxNode): boolean => FUNCTIONS.has(node.type);
