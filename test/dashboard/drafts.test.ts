import { expect, test } from 'vitest';
import { type DraftStore, draftKey, dropDraft, readDraft, writeDraft } from '../../dashboard/drafts.ts';

function createStore(limit = Number.POSITIVE_INFINITY): DraftStore {
  const items = new Map<string, string>();
  return {
    getItem: key => items.get(key) ?? null,
    setItem(key, value) {
      if (value.length > limit) throw new DOMException('full', 'QuotaExceededError');
      items.set(key, value);
    },
    removeItem: key => void items.delete(key),
  };
}

const AT = '2026-11-24T10:00:00.000Z';

test('a draft is read as it was written, until it is dropped', () => {
  const store = createStore();
  writeDraft(store, 'key', { value: { title: 'Ümlaut “…”' }, at: AT, base: 'v1' });
  expect(readDraft(store, 'key')).toEqual({ value: { title: 'Ümlaut “…”' }, at: AT, base: 'v1' });
  dropDraft(store, 'key');
  expect(readDraft(store, 'key')).toBeUndefined();
});

test('each tenant, member and resource has its own draft', () => {
  const keys = [
    draftKey('tenant_1', 'member_1', 'question', 'a'),
    draftKey('tenant_2', 'member_1', 'question', 'a'),
    draftKey('tenant_1', 'member_2', 'question', 'a'),
    draftKey('tenant_1', 'member_1', 'reply', 'a'),
    draftKey('tenant_1', 'member_1', 'question', 'b'),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});

test.each(['', '{"value":', 'null', '7', '[]', '{"at":"x"}'])('an unreadable draft %s is ignored', text => {
  const store = createStore();
  store.setItem('key', text);
  expect(readDraft(store, 'key')).toBeUndefined();
});

test('a full store is reported and not thrown', () => {
  expect(writeDraft(createStore(10), 'key', { value: 'a long text', at: AT })).toBe(false);
});
