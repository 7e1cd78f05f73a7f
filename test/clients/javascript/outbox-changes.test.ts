import { describe, expect, test } from 'vitest';
import type { NewAnswer, Receipt } from '../../../clients/javascript/src/index.ts';
import { changesBySettling, changesToRecord, MAX_ANSWERS } from '../../../clients/javascript/src/outbox/changes.ts';
import type { Entry } from '../../../clients/javascript/src/outbox/storage.ts';

const OWNER = { tenant: 'tenant_a', identity: 'user|1' };
const NOW = 1_000_000;

const answerOf = (id: string, revision = 1): NewAnswer => ({
  ...{ id, revision, card_id: 'card_a', question_id: 'question_a', question_version: 1 },
  ...{ state: 'completed', values: { main: 5 } },
});

const entryOf = (id: string, fields: Partial<Entry> = {}): Entry => ({
  ...{ ...OWNER, id, answer: answerOf(id), recordedAt: NOW, place: 1 },
  ...fields,
});

const receiptOf = (id: string, fields: Partial<Receipt> = {}): Receipt => ({
  ...{ id, revision: 1, status: 'accepted' },
  ...fields,
});

describe('recording an answer', () => {
  test('puts a new one behind the last', () => {
    const entries = [entryOf('a', { place: 3 }), entryOf('b', { place: 7 })];
    expect(changesToRecord(entries, answerOf('c'), OWNER, NOW)).toEqual([{ put: entryOf('c', { place: 8 }) }]);
    expect(changesToRecord([], answerOf('c'), OWNER, NOW)).toEqual([{ put: entryOf('c', { place: 1 }) }]);
  });

  test('replaces an earlier revision, which keeps its place, time and owner', () => {
    const first = entryOf('a', { place: 3, recordedAt: 5, identity: 'user|2' });
    const answer = answerOf('a', 2);
    expect(changesToRecord([first], answer, OWNER, NOW)).toEqual([{ put: { ...first, answer } }]);
  });

  test.each([2, 3])('has no effect if revision %i is stored', revision => {
    const stored = entryOf('a', { answer: answerOf('a', revision) });
    expect(changesToRecord([stored], answerOf('a', 2), OWNER, NOW)).toEqual([]);
  });

  test('gives up the oldest beyond the limit, but not for a new revision', () => {
    const full = Array.from({ length: MAX_ANSWERS }, (_, index) => entryOf(`a${index}`, { place: index + 1 }));
    const [, ...rest] = changesToRecord(full, answerOf('b'), OWNER, NOW);
    expect(rest).toEqual([{ remove: full[0], code: 'outbox-full' }]);
    expect(changesToRecord(full, answerOf('a0', 2), OWNER, NOW)).toHaveLength(1);
    expect(changesToRecord(full.slice(1), answerOf('b'), OWNER, NOW)).toHaveLength(1);
  });
});

describe('the receipts of a batch', () => {
  const [a, b, c] = [entryOf('a'), entryOf('b'), entryOf('c')];

  test('remove accepted entries and give up rejected ones, in order', () => {
    const receipts = [
      receiptOf('a', { status: 'rejected', code: 'question-closed' }),
      receiptOf('b'),
      receiptOf('c', { status: 'rejected' }),
    ];
    expect(changesBySettling([a, b, c], receipts, [a, b, c])).toEqual([
      { remove: a, code: 'question-closed' },
      { remove: b },
      { remove: c, code: 'validation-failed' },
    ]);
  });

  test('keep entries without a receipt', () => {
    expect(changesBySettling([a, b, c], [receiptOf('a')], [a, b, c])).toEqual([{ remove: a }]);
    const receipts = [null, receiptOf('b')] as unknown as Receipt[];
    expect(changesBySettling([a, b], receipts, [a, b])).toEqual([{ remove: b }]);
  });

  test('keep a newer revision, and ignore entries that are gone', () => {
    const newer = entryOf('a', { answer: answerOf('a', 2) });
    const rejected = [receiptOf('a', { status: 'rejected' }), receiptOf('b')];
    expect(changesBySettling([a, b], rejected, [newer])).toEqual([]);
  });
});
