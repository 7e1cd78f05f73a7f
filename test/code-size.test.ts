import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './support/modules.ts';
import { isFunction, isNode, parse, type SyntaxNode } from './support/syntax.ts';

const MAX_FILE_LINES = 400;
const MAX_FUNCTION_LINES = 80;
const MAX_PARAMETERS = 5;

/** Folders whose modules are measured, except for built, installed and generated files. */
const MEASURED = ['src', 'dashboard', 'bench', 'clients/javascript', 'test', 'docs', 'helm'];
const LEFT_OUT = /(^|\/)(node_modules|dist|built[^/]*|results)\//;

/** Files without a limit: migrations, which do not change later, and generated tables. */
const UNLIMITED = [/^src\/storage\/migrations\//, /^dashboard\/api\/schema\.ts$/];

/** Functions that may exceed the limit, by file and name, with the reason. */
const LONG_FUNCTIONS: Record<string, string> = {
  'clients/javascript/runner/app-steps.ts#createAppSteps': 'a table of steps',
  'clients/javascript/runner/server-steps.ts#createServerSteps': 'a table of steps',
  'clients/javascript/src/feedback/stage.ts#openStage':
    'a class in form of a closure: the names of class members are not minified',
  'dashboard/screenshots/inbox-scenes.ts#inboxStatesOf': 'a table of pages',
  'dashboard/screenshots/scenes.ts#statesOf': 'a table of pages',
};

interface Measured {
  path: string;
  text: string;
}

interface FoundFunction {
  /** The file, `#`, and the name of the function or of the call that receives it. */
  name: string;
  lines: number;
  parameters: number;
}

const nameIn = (node: unknown): string | undefined =>
  isNode(node) ? ((node.name as string | undefined) ?? nameIn(node.property ?? node.object ?? node.callee)) : undefined;

/** The first name of a callee: `describe` of `describe.runIf(…)`. */
const firstNameIn = (node: unknown): string | undefined =>
  isNode(node) ? (firstNameIn(node.object ?? node.callee) ?? (node.name as string | undefined)) : undefined;

/** The name that a node gives to a function directly below it. */
const nameGiven = (node: SyntaxNode): string | undefined =>
  node.type === 'CallExpression' && firstNameIn(node.callee) === 'describe'
    ? 'describe'
    : nameIn(
        { VariableDeclarator: node.id, Property: node.key, MethodDefinition: node.key, CallExpression: node.callee }[
          node.type
        ],
      );

/** Every function of a module, except the callbacks of `describe`. */
function functionsOf({ path, text }: Measured): FoundFunction[] {
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
  const found: FoundFunction[] = [];
  const visit = (value: unknown, given: string): void => {
    if (Array.isArray(value)) for (const each of value) visit(each, given);
    if (!isNode(value)) return;
    if (isFunction(value) && given !== 'describe')
      found.push({
        name: `${path}#${nameIn(value.id) ?? given}`,
        lines: lineAt(value.end) - lineAt(value.start) + 1,
        parameters: (value.params as unknown[]).length,
      });
    const name = nameGiven(value) ?? given;
    for (const child of Object.values(value)) visit(child, name);
  };
  visit(parse(path, text), 'module');
  return found;
}

const longFiles = (modules: Measured[]): string[] =>
  modules
    .filter(
      ({ path, text }) => text.trimEnd().split('\n').length > MAX_FILE_LINES && !UNLIMITED.some(of => of.test(path)),
    )
    .map(({ path }) => path);

const longFunctions = (functions: FoundFunction[]): string[] => [
  ...new Set(
    functions
      .filter(({ name, lines }) => lines > MAX_FUNCTION_LINES && !UNLIMITED.some(of => of.test(name)))
      .map(({ name }) => name),
  ),
];

const manyParameters = (functions: FoundFunction[]): string[] =>
  functions.filter(({ parameters }) => parameters > MAX_PARAMETERS).map(({ name }) => name);

const modules = MEASURED.flatMap(folder =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map(path => `${folder}/${path}`)
    .filter(path => /\.(tsx?|mjs)$/.test(path) && !LEFT_OUT.test(path)),
).map(path => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
const functions = modules.flatMap(functionsOf);

const linesOf = (count: number, line: string): string => Array.from({ length: count }, () => line).join('\n');

describe('the code', () => {
  test('has no file over 400 lines', () => {
    expect(modules.length).toBeGreaterThan(400);
    expect(longFiles(modules)).toEqual([]);
    expect(longFiles([{ path: 'src/x.ts', text: linesOf(400, '//') }])).toEqual([]);
    expect(longFiles([{ path: 'src/x.ts', text: linesOf(401, '//') }])).toEqual(['src/x.ts']);
    expect(longFiles([{ path: 'src/storage/migrations/x.ts', text: linesOf(401, '//') }])).toEqual([]);
  });

  test('has no function over 80 lines', () => {
    expect(longFunctions(functions).sort()).toEqual(Object.keys(LONG_FUNCTIONS).sort());
    const body = (lines: number) => `{\n${linesOf(lines, 'x();')}\n}`;
    const found = (text: string) => longFunctions(functionsOf({ path: 'src/x.ts', text }));
    expect(found(`function f() ${body(78)}`)).toEqual([]);
    expect(found(`function f() ${body(79)}`)).toEqual(['src/x.ts#f']);
    expect(found(`const g = () => ${body(79)};`)).toEqual(['src/x.ts#g']);
    expect(found(`test('x', () => ${body(79)});`)).toEqual(['src/x.ts#test']);
    expect(found(`describe('x', () => ${body(79)});`)).toEqual([]);
    expect(found(`describe.each([1])('x', () => ${body(79)});`)).toEqual([]);
  });

  test('has no function with more than five positional parameters', () => {
    expect(manyParameters(functions)).toEqual([]);
    const found = (text: string) => manyParameters(functionsOf({ path: 'src/x.ts', text }));
    expect(found('const f = (a, b, c, d, e) => a;')).toEqual([]);
    expect(found('const f = (a, b, c, d, e, { f }) => a;')).toEqual(['src/x.ts#f']);
    expect(found('class A { m(a, b, c, d, e, f) {} }')).toEqual(['src/x.ts#m']);
  });
});
