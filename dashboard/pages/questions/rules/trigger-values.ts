import type { Schemas } from '../../../api/schema.ts';
import {
  type ComparisonValues,
  comparisonOf,
  comparisonValuesOf,
  newComparison,
} from '../../../components/comparison/comparisons.ts';

type Trigger = Schemas['Trigger'];
type PropertyInput = Schemas['PropertyConditionInput'];

/** Maximum number of comparisons of an event's properties. */
export const MAX_PROPERTIES = 5;

/** A condition on a property of the event. */
export interface PropertyValues extends ComparisonValues {
  property: string;
}

/** The trigger of a card. It has the values of every kind, so that switching it keeps them. */
export interface TriggerValues {
  kind: 'none' | 'event' | 'click' | 'view';
  event: string;
  click: string;
  where: PropertyValues[];
  url: { op: Schemas['UrlConditionInput']['op']; value: string };
  count: number;
  delay_s: number;
  /** Names of events, separated by commas. */
  cancel_on: string;
}

export const NO_TRIGGER: TriggerValues = {
  ...{ kind: 'none', event: '', click: '', where: [], url: { op: 'contains', value: '' } },
  ...{ count: 1, delay_s: 0, cancel_on: '' },
};

export const newProperty = (): PropertyValues => ({ ...newComparison('string'), property: '' });

/** Editor values of a stored trigger. */
export function triggerValuesOf(trigger: Trigger | null | undefined): TriggerValues {
  if (!trigger) return NO_TRIGGER;
  const { event, click, where, url, count, delay_s, cancel_on } = trigger;
  return {
    kind: event !== null ? 'event' : click !== null ? 'click' : 'view',
    event: event ?? '',
    click: click ?? '',
    where: where.map(each => ({ ...comparisonValuesOf(each), property: each.property })),
    url: url ?? NO_TRIGGER.url,
    ...{ count, delay_s, cancel_on: cancel_on.join(', ') },
  };
}

/** Returns the trigger as the API expects it; null: the card is shown at once. */
export function triggerOf(values: TriggerValues): Schemas['TriggerInput'] | null {
  const { kind, event, click, where, url, count, delay_s, cancel_on } = values;
  if (kind === 'none') return null;
  return {
    event: kind === 'event' ? event : null,
    click: kind === 'click' ? click : null,
    where:
      kind === 'event' ? where.map(each => ({ property: each.property, ...comparisonOf(each) }) as PropertyInput) : [],
    url: kind === 'view' || url.value !== '' ? url : null,
    ...{ count, delay_s },
    cancel_on: cancel_on
      .split(',')
      .map(name => name.trim())
      .filter(Boolean),
  };
}
