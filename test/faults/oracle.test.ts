import { expect, test } from 'vitest';
import type { Fate, LedgerEntry } from './ledger.ts';
import { type Evidence, judge } from './oracle.ts';

const sentBy = (id: string, fate: Fate, fields: Partial<LedgerEntry> = {}): LedgerEntry => ({
  tenant: 'acme',
  id,
  identity: `user|${id}`,
  fate,
  ...fields,
});
const rowOf = (id: string, fields = {}) => ({ tenant: 'acme', id, identity: `user|${id}`, ...fields });

/** Sent answers with their correct results. Each test falsifies one of them. */
const honest = (): Evidence => ({
  sent: [sentBy('a', 'acknowledged'), sentBy('b', 'ambiguous'), sentBy('c', 'refused'), sentBy('d', 'acknowledged')],
  stored: [rowOf('a'), rowOf('b')],
  quarantined: [rowOf('d')],
  totals: [{ tenant: 'acme', stored: 2, quarantined: 1 }],
});
const kindsIn = (evidence: Evidence) => judge(evidence).violations.map(violation => violation.kind);

test('a correct run has no violations, and its counts are reported', () => {
  expect(judge(honest())).toEqual({ sent: 4, acknowledged: 2, stored: 2, quarantined: 1, violations: [] });
});

test('an ambiguous answer may be missing', () => {
  const evidence = { ...honest(), stored: [rowOf('a')], totals: [{ tenant: 'acme', stored: 1, quarantined: 1 }] };
  expect(kindsIn(evidence)).toEqual([]);
});

test('a missing acknowledged answer is lost', () => {
  expect(kindsIn({ ...honest(), stored: [rowOf('b')], totals: [] })).toEqual(['lost']);
  expect(kindsIn({ ...honest(), quarantined: [], totals: [] })).toEqual(['lost']);
});

test('two rows of one id are doubled', () => {
  expect(kindsIn({ ...honest(), stored: [rowOf('a'), rowOf('a'), rowOf('b')], totals: [] })).toEqual(['doubled']);
});

test('a total above the rows is doubled, although every row is single', () => {
  expect(kindsIn({ ...honest(), totals: [{ tenant: 'acme', stored: 3, quarantined: 1 }] })).toEqual(['doubled']);
  expect(kindsIn({ ...honest(), totals: [{ tenant: 'acme', stored: 2, quarantined: 2 }] })).toEqual(['doubled']);
});

test('each revision counts at most once', () => {
  const stored = [rowOf('a', { revision: 3 }), rowOf('b')];
  const countedAs = (number: number) =>
    kindsIn({ ...honest(), stored, totals: [{ tenant: 'acme', stored: number, quarantined: 1 }] });
  expect([1, 2, 4, 5].map(countedAs)).toEqual([['doubled'], [], [], ['doubled']]);
});

test('an answer under another tenant or identity is misplaced, and lost where it belongs', () => {
  const elsewhere = [rowOf('a', { tenant: 'umbrella' }), rowOf('b')];
  expect(kindsIn({ ...honest(), stored: elsewhere, totals: [] })).toEqual(['lost', 'misplaced']);
  const someoneElse = [rowOf('a', { identity: 'user|b' }), rowOf('b')];
  expect(kindsIn({ ...honest(), stored: someoneElse, totals: [] })).toEqual(['lost', 'misplaced']);
});

test('a row that was never sent is unexplained, and so is one whose every request was rejected', () => {
  expect(kindsIn({ ...honest(), stored: [rowOf('a'), rowOf('z')], totals: [] })).toEqual(['unexplained']);
  expect(kindsIn({ ...honest(), stored: [rowOf('a'), rowOf('c')], totals: [] })).toEqual(['unexplained']);
  expect(kindsIn({ ...honest(), quarantined: [rowOf('d'), rowOf('z')], totals: [] })).toEqual(['unexplained']);
});
