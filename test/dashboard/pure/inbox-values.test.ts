import { expect, test } from 'vitest';
import type { Tenant } from '../../../dashboard/api/names.ts';
import {
  fieldsOf,
  fieldValuesOf,
  keyOf,
  newField,
  nextPeriod,
  repliesOf,
  replyValuesOf,
  usualHours,
} from '../../../dashboard/pages/settings/inbox/inbox-values.ts';

const REPLIES = {
  reply_targets: { urgent: 60, none: 480 },
  office_hours: [
    { day: 5, from: '09:00', to: '12:30' },
    { day: 5, from: '13:00', to: '24:00' },
    { day: 1, from: '00:00', to: '15:00' },
  ],
};

test('reply targets and office hours stay as they are when they are saved unchanged', () => {
  const values = replyValuesOf(REPLIES as Tenant);
  expect(values.reply_targets).toMatchObject({ urgent: 60, high: null, none: 480 });
  expect(values.office_hours[1]?.to).toBe('00:00'); // a time field has no 24:00
  expect(repliesOf(values)).toEqual(REPLIES);
});

test('a new period follows the last one of its day', () => {
  const monday = usualHours();
  expect(nextPeriod(monday, 6)).toEqual({ day: 6, from: '09:00', to: '17:00' });
  expect(nextPeriod(monday, 1)).toEqual({ day: 1, from: '17:00', to: '18:00' });
  expect(nextPeriod([{ day: 1, from: '09:00', to: '20:00' }], 1)).toEqual({ day: 1, from: '20:00', to: '23:00' });
});

test('custom fields stay as they are when they are saved unchanged', () => {
  const fields = [
    { key: 'plan', label: 'Plan', type: 'choice', options: ['Free', 'Pro plus'] },
    { key: 'order_number', label: 'Order number', type: 'text' },
  ] as const;
  expect(fieldsOf(fieldValuesOf(fields as never))).toEqual(fields);
});

test('options belong only to choices, without empty lines', () => {
  const typed = { ...newField(), key: 'plan', label: 'Plan', options: ' Free \n\nPro\n' };
  expect(fieldsOf([typed])).toEqual([{ key: 'plan', label: 'Plan', type: 'text' }]);
  expect(fieldsOf([{ ...typed, type: 'choice' }])[0]?.options).toEqual(['Free', 'Pro']);
});

test.each([
  ['Order number', 'order_number'],
  ['Größe (cm)', 'grosse_cm'],
  ['2nd contact', 'nd_contact'],
  ['日本', ''],
])('the key of %j is %j', (label, key) => {
  expect(keyOf(label)).toBe(key);
});
