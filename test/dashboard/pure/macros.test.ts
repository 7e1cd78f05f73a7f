import { describe, expect, test } from 'vitest';
import { changeTexts, spanText } from '../../../dashboard/pages/inbox/macros/change-texts.ts';
import { offeredFor } from '../../../dashboard/pages/inbox/macros/offered.ts';
import { recall, recallFault } from '../../../dashboard/pages/inbox/macros/recall.ts';
import type { Macro } from '../../../dashboard/pages/inbox/macros/use-macros.ts';
import { replaceTrigger, triggerBefore } from '../../../dashboard/pages/inbox/offers/trigger.ts';
import { macroOf, valuesOf } from '../../../dashboard/pages/settings/macros/macro-values.ts';
import { findRecallFault, recall as recallOfApi } from '../../../src/domain/questions/recall.ts';
import { activateTexts } from './activate-texts.ts';

activateTexts('en');

const macro = (fields: Partial<Macro>): Macro =>
  ({ id: 'macro_1', name: '', shortcut: null, body: null, kind: 'reply', changes: {}, ...fields }) as Macro;

describe('a slash in a text', () => {
  test.each([
    ['/', 1, { start: 0, query: '' }],
    ['Hello /ex', 9, { start: 6, query: 'ex' }],
    ['Hello\n/ex', 9, { start: 6, query: 'ex' }],
    ['Hello /ex and', 9, { start: 6, query: 'ex' }],
    ['Hello /ex and', 13, undefined],
    ['and/or', 6, undefined],
    ['https://x', 9, undefined],
    ['', 0, undefined],
  ])('%j with the cursor at %i', (text, cursor, slash) => {
    expect(triggerBefore('/', text, cursor)).toEqual(slash);
  });

  test('offers macros by shortcut first, then by the words of their names', () => {
    const macros = [
      macro({ id: 'a', name: 'Where the export is' }),
      macro({ id: 'b', name: 'Thanks', shortcut: 'export-thanks' }),
      macro({ id: 'c', name: 'Reexport' }),
    ];
    expect(offeredFor(macros, 'EXP').map(({ id }) => id)).toEqual(['b', 'a']);
    expect(offeredFor(macros, '')).toHaveLength(3);
    expect(offeredFor(macros, 'zzz')).toEqual([]);
  });

  test('is replaced by a text, with the cursor behind it', () => {
    expect(replaceTrigger('Hello /ex and', { start: 6, query: 'ex' }, 'there')).toEqual({
      text: 'Hello there and',
      cursor: 11,
    });
  });
});

describe('the variables of a macro', () => {
  const TEXTS = [
    'Plain',
    'On {{identity.attributes.plan|your plan}}, {{ identity.attributes.city | home }}',
    '{{identity.attributes.plan}}',
    '{{identity.attributes.plan| }}',
    '{{plan|x}}',
    'open {{identity.attributes.plan|x',
    '{{identity.attributes.note|x}}',
  ];
  const USERS: Record<string, string | number>[] = [
    {},
    { plan: 'Club', city: 42 },
    { plan: ' ', note: 'a\nb $& {{x}}' },
  ];
  test.each(TEXTS)('are those of the API: %s', text => {
    const fault = recallFault(text);
    expect(fault && [fault.code, fault.detail]).toEqual(findRecallFault(text));
    for (const attributes of USERS) expect(recall(text, attributes)).toBe(recallOfApi(text, attributes));
  });
});

describe('the changes of a macro', () => {
  const changes: Macro['changes'] = {
    status: 'snoozed',
    snooze_for_s: 2 * 86_400,
    assignee_id: 'member_1',
    priority: 'high',
    add_tags: ['a', 'b'],
    remove_tags: ['c'],
    custom: { tier: 'Gold', gift: true, order: null },
  };
  const names = { nameOf: () => 'Ada', labelOf: (key: string) => key.toUpperCase() };

  test('are short texts', () => {
    expect(changeTexts({ changes }, names)).toEqual([
      'Snooze for 2 days',
      'Assign to Ada',
      'Priority: High',
      'Add #a #b',
      'Remove #c',
      'TIER: Gold',
      'GIFT: Yes',
      'ORDER: no value',
    ]);
    expect(changeTexts({ changes: { status: 'resolved', assignee_id: null } }, names)).toEqual([
      'Set to “Resolved”',
      'Remove the assignee',
    ]);
    expect([3600, 5400, 61].map(spanText)).toEqual(['1 hour', '90 minutes', '61 seconds']);
  });

  test.each([
    ['all', changes],
    ['none', {}],
    ['nobody', { assignee_id: null } as Macro['changes']],
  ])('survive the form: %s', (_, kept) => {
    const before = macro({ name: 'x', shortcut: 'y', body: 'z', changes: kept });
    expect(macroOf(valuesOf(before))).toEqual({ name: 'x', shortcut: 'y', kind: 'reply', body: 'z', changes: kept });
  });
});
