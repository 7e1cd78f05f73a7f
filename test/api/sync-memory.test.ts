import fc from 'fast-check';
import { v4 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { createSyncMemory } from '../../src/api/cache/sync-memory.ts';
import { type AcceptedAnswer, AnswerState, compareSyncs } from '../../src/domain/answers/answers.ts';
import { createCaches } from '../../src/platform/caches.ts';
import { anAcceptedAnswer } from '../support/make.ts';

const digest = (content: number): string => `${content}${'x'.repeat(21)}`;
const aSync = (fields: Partial<AcceptedAnswer> = {}): AcceptedAnswer =>
  anAcceptedAnswer({ content_hash: digest(0), ...fields });

describe('the memory of syncs', () => {
  test('compares with the newest sync of an answer by the rules for two syncs', () => {
    const { tenant_id, id, question_id, identity } = aSync();
    const cards = [v4(), v4()];
    const sync = fc
      .record({
        revision: fc.constantFrom(1, 2, 2_147_483_647),
        state: fc.constantFrom(...AnswerState.options),
        card: fc.nat(1),
        content: fc.nat(1),
      })
      .map(({ card, content, ...fields }) =>
        aSync({
          ...{ tenant_id, id, question_id, identity, ...fields },
          card_id: cards[card] as string,
          content_hash: digest(content),
        }),
      );
    fc.assert(
      fc.property(fc.array(sync, { maxLength: 8 }), syncs => {
        const memory = createSyncMemory(createCaches());
        let newest: AcceptedAnswer | undefined;
        for (const incoming of syncs) {
          const comparison = newest ? compareSyncs(newest, incoming) : 'newer';
          expect(memory.compare(incoming)).toBe(comparison);
          memory.keep(incoming);
          if (comparison === 'newer') newest = incoming;
        }
      }),
    );
  });

  test('keeps newer syncs that arrived meanwhile', () => {
    const memory = createSyncMemory(createCaches());
    const first = aSync({ state: 'partial' });
    const second = { ...first, revision: 2, content_hash: digest(1) };
    memory.keep(second);
    memory.keep(first);
    expect(memory.compare(second)).toBe('duplicate');
    expect(memory.compare(first)).toBe('superseded');
  });

  test('separates tenants that use the same id', () => {
    const memory = createSyncMemory(createCaches());
    const one = aSync();
    const other = aSync({ id: one.id, tenant_id: v4(), card_id: v4() });
    memory.keep(one);
    expect(memory.compare(other)).toBe('newer');
    memory.keep(other);
    expect(memory.compare(other)).toBe('duplicate');
    expect(memory.compare(one)).toBe('newer');
  });

  test('keeps the latest 9,000 syncs by default, and drops what exceeds its share', () => {
    const memory = createSyncMemory(createCaches());
    const syncs = Array.from({ length: 60_000 }, () => aSync());
    for (const sync of syncs) memory.keep(sync);
    expect(syncs.slice(-9000).every(sync => memory.compare(sync) === 'duplicate')).toBe(true);
    expect(syncs.slice(0, 35_000).every(sync => memory.compare(sync) === 'newer')).toBe(true);
  });
});
