import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesUnder, ROOT } from '../support/modules.ts';
import { parse } from '../support/syntax.ts';
import { applyFault, faultsOf, statesOf } from './operators.ts';

const STATES = statesOf([
  { path: 'states.ts', text: "type Status = 'open' | 'pending'; const Kind = z.enum(['user', 'team']);" },
]);

/** The texts that an operator makes of a module. */
const variantsOf = (operator: string, text: string): string[] =>
  faultsOf('src/x.ts', text, STATES)
    .filter(fault => fault.operator === operator)
    .map(fault => applyFault(text, fault));

const anyFault = (text: string): string[] => faultsOf('src/x.ts', text, STATES).map(({ operator }) => operator);

describe('an operator', () => {
  test.each([
    ['boundary moved', 'f = size > 3;', 'f = size >= 3;'],
    ['comparison negated', 'f = a === b;', 'f = a !== b;'],
    ['comparison negated', 'f = size > 3;', 'f = size <= 3;'],
    ['condition negated', 'if (a) f(); else g();', 'if (!(a)) f(); else g();'],
    ['condition negated', 'f = a ? b : c;', 'f = !(a) ? b : c;'],
    ['guard removed', 'if (a) throw b;', 'if (false) throw b;'],
    ['operand dropped', 'f = a ?? b;', 'f = (a);'],
    ['statement removed', 'cache.clear();', ';'],
    ['statement removed', 'count++;', ';'],
    ['statement removed', 'await insert(row);', ';'],
    ['await removed', 'await insert(row);', 'void insert(row);'],
    ['number changed', 'const MAX = 20;', 'const MAX = 200;'],
    ['number changed', 'const MAX = 2;', 'const MAX = 3;'],
    ['boolean flipped', 'f({ etag: true });', 'f({ etag: false });'],
    ['state swapped', "f({ status: 'open' });", "f({ status: 'pending' });"],
    ['state swapped', "f({ author: 'team' });", "f({ author: 'user' });"],
    ['step dropped', 'f = rows.filter(isDue).map(g);', 'f = rows.map(g);'],
    ['minimum and maximum swapped', 'f = Math.min(a, b);', 'f = Math.max(a, b);'],
    ['arithmetic swapped', 'f = a - b;', 'f = a + b;'],
    ['returns early', 'function f() { g(); h(); }', 'function f() {}'],
    ['SQL condition dropped', 'q(`delete from a where b = $1`);', 'q(`delete from a where (b = $1 or true)`);'],
    [
      'SQL condition dropped',
      "q('select b from a where tenant_id = $1 and expires_at > now() limit 5');",
      "q('select b from a where tenant_id = $1 and (expires_at > now() or true) limit 5');",
    ],
    ['SQL condition dropped', "where.and('identity = $', a);", "where.and('(identity = $ or true)', a);"],
    ['SQL boundary', "q('select from a where seq > $1');", "q('select from a where seq >= $1');"],
    ['SQL null check negated', "q('select from a where b is null');", "q('select from a where b is not null');"],
    ['SQL order reversed', "q('select from a order by b desc');", "q('select from a order by b asc');"],
    ['SQL limit removed', "q('select b from a limit $1');", "q('select b from a limit 1000 + $1');"],
    ['SQL lock removed', "q('select b from a for update');", "q('select b from a ');"],
    ['SQL distinct removed', "q('select distinct b from a');", "q('select b from a');"],
    ['SQL conflict raised', "q('insert into a on conflict do nothing');", "q('insert into a ');"],
    ['SQL sign reversed', "q('update a set b = b + 1');", "q('update a set b = b - 1');"],
  ])('%s: %s', (operator, text, variant) => {
    expect(variantsOf(operator, text)).toEqual([variant]);
  });

  test('keeps each operand once', () => {
    expect(variantsOf('operand dropped', 'f = a && b;')).toEqual(['f = (a);', 'f = (b);']);
  });

  test('makes each condition of a statement true', () => {
    const conditions = ['a.id = c.id', '(d = $1 or e is null)', `\${f} < \${g}`];
    const text = (of: string[]) => `q(\`update a set b = 1 from c where ${of.join(' and ')} \${h} returning i\`);`;
    expect(variantsOf('SQL condition dropped', text(conditions))).toEqual(
      conditions.map(dropped => text(conditions.map(each => (each === dropped ? `(${each} or true)` : each)))),
    );
  });
});

describe('a fault', () => {
  test.each([
    "log.warn({ size: 1 }, 'text');",
    "throw new Problem('not-found', a ? 'b' : 'c');",
    `throw new TypeError(\`more than \${a > 3}\`);`,
    'timer.unref();',
    "z.string().describe(a ? 'b' : 'c');",
    "import { a } from './a.ts';",
    "type A = 1 | 'open' | true;",
    "const rows = 'select b from a where tenant_id = $1';",
    'const first = rows[0];',
    "const text = 'an open door' + name;",
    "const text = 'Log in with a password, and try again.';",
  ])('is not put into %s', text => {
    expect(anyFault(text)).toEqual([]);
  });

  test('does not move a boundary by one millisecond', () => {
    expect(anyFault('const f = Date.now() > end;')).toEqual(['comparison negated']);
  });

  test('does not empty a function that returns a value', () => {
    expect(variantsOf('returns early', 'function f() { g(); return h; }')).toEqual([]);
  });

  test.each([
    ['function f() { g(); }', 'f'],
    ['const f = () => { h(() => { g(); }); };', 'f'],
    ['const o = { f() { g(); } };', 'f'],
    ['const f = () => ({ get a() { g(); return b; } });', 'f'],
    ['g();', undefined],
  ])('in `%s` belongs to the function that V8 names %s', (text, name) => {
    const faults = faultsOf('src/x.ts', text, STATES).filter(({ start }) => text.startsWith('g()', start));
    expect(faults.map(({ operator, within }) => ({ operator, within }))).toEqual([
      { operator: 'statement removed', within: name },
    ]);
  });

  test('in a module of the service leaves valid syntax', () => {
    const modules = filesUnder(join(ROOT, 'src/storage')).map(path => ({
      path,
      text: readFileSync(join(ROOT, 'src/storage', path), 'utf8'),
    }));
    const states = statesOf(modules);
    const faults = modules.flatMap(({ path, text }) => faultsOf(path, text, states).map(fault => ({ fault, text })));
    expect(faults.length).toBeGreaterThan(1000);
    for (const { fault, text } of faults.filter((_, index) => index % 10 === 0)) {
      const faulty = applyFault(text, fault);
      expect(faulty).not.toBe(text);
      parse(fault.path, faulty);
    }
  });
});
