import { z } from 'zod';
import { arrayOf } from '../bounded.ts';
import { int32 } from '../documented.ts';
import { type FieldCode, issueOf } from '../field-errors.ts';
import { text } from '../text.ts';
import { ComparedValue, ComparedValueOut, faultOfOperand } from './operators.ts';

/** Maximum number of comparisons of an event's properties, and of events that cancel a trigger. */
const MAX_CONDITIONS = 5;
/** Maximum number of seconds between an event and its card. */
const MAX_DELAY_S = 600;
/** Maximum number of times an event must happen. */
const MAX_COUNT = 100;

const EventName = text(100, 1, 'order_completed');

const PROPERTY_OPERATORS = [
  'eq',
  'ne',
  'in',
  'not_in',
  'lt',
  'lte',
  'gt',
  'gte',
  'contains',
  'starts_with',
  'ends_with',
  'set',
  'not_set',
] as const;

const PropertyCondition = z
  .strictObject({
    property: text(64, 1).meta({ description: 'Name of a property of the event' }),
    op: z.enum(PROPERTY_OPERATORS),
    value: ComparedValue.optional(),
  })
  .check(({ value: { op, value }, issues }) => {
    const fault = faultOfOperand(op, value);
    if (fault) issues.push({ ...issueOf(...fault, value), path: ['value'] });
  })
  .meta({ id: 'PropertyConditionInput' });

const UrlOperator = z.enum(['eq', 'contains', 'starts_with', 'ends_with']);
const UrlCondition = z.strictObject({ op: UrlOperator, value: text(2000, 1) }).meta({ id: 'UrlConditionInput' });

const described = {
  event: { description: 'Name of the event that `track` reports; null: a click or a page view' },
  click: { description: 'CSS selector of the element that is clicked; null: an event or a page view' },
  where: { description: `Comparisons of the event's properties, all of which must hold; at most ${MAX_CONDITIONS}` },
  url: { description: 'Address of the page; without `event` and `click`, each view of such a page counts' },
  count: { description: 'How often it must happen, from the time at which the device has the card' },
  delay_s: { description: 'Seconds from then until the card is shown' },
  cancel_on: { description: 'Events that prevent the card during the delay' },
};

/** Reports a rule that JSON Schema does not express. */
const fault = (path: string, code: FieldCode, detail: string, input: unknown) => ({
  ...issueOf(code, detail, input),
  path: [path],
});

/** What must happen on the device before a card is shown, as the team sends it. */
export const TriggerInput = z
  .strictObject({
    event: EventName.nullable().default(null).meta(described.event),
    click: text(500, 1, '#checkout .done').nullable().default(null).meta(described.click),
    where: arrayOf(PropertyCondition).max(MAX_CONDITIONS).default([]).meta(described.where),
    url: UrlCondition.nullable().default(null).meta(described.url),
    count: z.int().min(1).max(MAX_COUNT).default(1).meta(described.count),
    delay_s: z.int().min(0).max(MAX_DELAY_S).default(0).meta(described.delay_s),
    cancel_on: arrayOf(EventName).max(MAX_CONDITIONS).default([]).meta(described.cancel_on),
  })
  .check(({ value, issues }) => {
    const { event, click, url, where } = value;
    if (event !== null && click !== null)
      issues.push(fault('click', 'conflicting', 'Must be null next to "event": a trigger has one of both.', click));
    if (event === null && click === null && url === null)
      issues.push(fault('event', 'required', 'Required: one of event, click or url.', event));
    if (event === null && where.length > 0)
      issues.push(
        fault('where', 'not-allowed', 'Must be omitted without "event": only events have properties.', where),
      );
  })
  .meta({
    id: 'TriggerInput',
    description:
      'What must happen on the device before the card is shown. Exactly one of `event` and `click`, or `url` without both: a page view. Events are never sent',
  });
export type Trigger = z.output<typeof TriggerInput>;

/** `TriggerInput` in replies, and in cards. */
export const TriggerOut = z
  .object({
    event: z.string().nullable().meta(described.event),
    click: z.string().nullable().meta(described.click),
    where: z
      .array(
        z
          .object({ property: z.string(), op: z.string(), value: ComparedValueOut.optional() })
          .meta({ id: 'PropertyCondition' }),
      )
      .meta(described.where),
    url: z.object({ op: UrlOperator, value: z.string() }).meta({ id: 'UrlCondition' }).nullable().meta(described.url),
    count: int32(1).meta(described.count),
    delay_s: int32().meta(described.delay_s),
    cancel_on: z.array(z.string()).meta(described.cancel_on),
  })
  .meta({
    id: 'Trigger',
    description: 'What must happen on the device before the card is shown',
    example: { event: 'order_completed', where: [{ property: 'total', op: 'gte', value: 50 }], delay_s: 5 },
  });
