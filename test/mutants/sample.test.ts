import { describe, expect, test } from 'vitest';
import type { Calls } from './calls.ts';
import type { Fault } from './operators.ts';
import { createOrder } from './order.ts';
import { describeChange, isSame, type Result, scoreOf } from './report.ts';
import { sampleFaults } from './sample.ts';

const LONG = Array.from({ length: 90 }, (_, index) => `if (a${index} > ${index}) f(${index});`).join('\n');
const SHORT = Array.from({ length: 10 }, (_, index) => `if (a${index} > ${index}) f(${index});`).join('\n');
const MODULES = [
  { path: 'src/domain/long.ts', text: LONG },
  { path: 'src/queue/short.ts', text: SHORT },
];
const sample = (seed: number, count: number) => sampleFaults(MODULES, seed, count, () => false);

describe('a sample', () => {
  test('is the same for the same seed', () => {
    expect(sample(7, 30)).toEqual(sample(7, 30));
    expect(sample(7, 30)).not.toEqual(sample(8, 30));
  });

  test('of a smaller size is the beginning of a larger one', () => {
    expect(sample(7, 30).slice(0, 10)).toEqual(sample(7, 10));
  });

  test('has more faults in longer modules', () => {
    const long = sample(7, 60).filter(({ path }) => path === 'src/domain/long.ts').length;
    expect(long).toBeGreaterThan(45);
    expect(long).toBeLessThan(60);
  });

  test('has each place once, and ends when there are no more', () => {
    const all = sample(7, 10_000);
    expect(new Set(all.map(({ path, start }) => `${path}:${start}`)).size).toBe(all.length);
    expect(new Set(all.map(({ path }) => path)).size).toBe(2);
  });

  test('keeps its other faults when one is excluded as equivalent', () => {
    const [first, ...others] = sample(7, 30);
    expect(sampleFaults(MODULES, 7, 29, fault => fault.start === first?.start && fault.path === first.path)).toEqual(
      others,
    );
  });
});

const aFault = (fault: Partial<Fault>): Fault => ({
  path: 'src/domain/cards.ts',
  operator: 'number changed',
  start: 0,
  end: 1,
  after: '',
  line: 1,
  within: 'decideCards',
  ...fault,
});

describe('the tests of a fault', () => {
  const fileCalls = (durationMs: number, names: string[], fails = false) => ({
    digest: '',
    durationMs,
    fails,
    calls: { 'src/domain/cards.ts': names },
  });
  const calls: Calls = {
    'test/e2e/processes.check.ts': fileCalls(1, ['decideCards']),
    'test/api/cards.test.ts': fileCalls(900, ['decideCards']),
    'test/api/slow.test.ts': fileCalls(500, ['decideCards']),
    'test/api/fast.test.ts': fileCalls(100, ['decideCards']),
    'test/domain/results.test.ts': fileCalls(800, ['decideCards']),
    'test/api/other.test.ts': fileCalls(100, ['nextChange']),
    'test/api/broken.test.ts': fileCalls(100, ['decideCards'], true),
    'test/platform/log.test.ts': { digest: '', durationMs: 1, fails: false, calls: {} },
  };

  const module = 'one();\nconst wait = cooldownDays;\nif (cooldownDays > 1) skip();\n';
  const order = createOrder(
    calls,
    new Map(
      Object.keys(calls).map(file => [
        file,
        file.includes('results') ? "test('the cooldown of a card')" : "test('a card')",
      ]),
    ),
  );
  const start = module.indexOf('> 1');
  const aFaultThere = aFault({ start, end: start + 3 });

  test('are those that call its function: of its name, with rare words of its lines, fast ones, and processes last', () => {
    expect(order(aFaultThere, module)).toEqual([
      'test/api/cards.test.ts',
      'test/domain/results.test.ts',
      'test/api/fast.test.ts',
      'test/api/slow.test.ts',
      'test/e2e/processes.check.ts',
    ]);
  });

  test('outside any function are those that load the module', () => {
    const { within, ...loaded } = aFaultThere;
    expect(within).toBeDefined();
    expect(order(loaded, module)).toContain('test/api/other.test.ts');
    expect(order(loaded, module)).not.toContain('test/platform/log.test.ts');
  });
});

describe('a result', () => {
  test('names the changed lines, wherever they are in the file', () => {
    const text = 'one();\n  two(\n    2,\n  );\nthree();\n';
    const start = text.indexOf('2');
    const change = describeChange(aFault({ start, end: start + 1, after: '3' }), text);
    expect(change).toEqual({ path: 'src/domain/cards.ts', before: '2,', after: '3,' });
    const moved = describeChange(aFault({ start: start + 1, end: start + 2, after: '3' }), `\n${text}`);
    expect(isSame(change, moved)).toBe(true);
    expect(isSame(change, { ...moved, after: '4,' })).toBe(false);
  });

  test('counts into the score', () => {
    const result = (noticed: boolean) => ({ noticed }) as Result;
    expect(scoreOf([result(true), result(true), result(true), result(false)])).toBe(0.75);
    expect(scoreOf([])).toBe(1);
  });
});
