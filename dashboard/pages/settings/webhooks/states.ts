import type { Delivery, Webhook } from '../../../api/names.ts';
import type { Tone } from '../../../components/badge.tsx';
import { formatNumber, t } from '../../../i18n.ts';

/** Seconds behind from which a webhook is shown as delayed and as failing. */
const SLOW_S = 60;
const FAILING_S = 3600;

/** The status at a glance: an enabled webhook that is far behind needs attention too. */
export function stateOf({ status, lag }: Webhook): [text: string, tone: Tone] {
  if (status === 'disabled') return [t('Disabled'), 'neutral'];
  if (lag.seconds < SLOW_S) return [t('Enabled'), 'good'];
  return [t('Delayed'), lag.seconds < FAILING_S ? 'warn' : 'bad'];
}

export const deliveryStatus = (status: Delivery['status']): string =>
  ({ delivered: t('Delivered'), failed: t('Failed'), waiting: t('Waiting') })[status];

export const DELIVERY_TONE: Record<Delivery['status'], Tone> = { delivered: 'good', failed: 'bad', waiting: 'warn' };

/** Formats seconds in the largest fitting unit: “5 min”. */
export function secondsText(seconds: number): string {
  const [size, unit] = (
    [
      [86_400, 'day'],
      [3600, 'hour'],
      [60, 'minute'],
    ] as const
  ).find(([least]) => seconds >= least) ?? [1, 'second'];
  return formatNumber(Math.trunc(seconds / size), { style: 'unit', unit, unitDisplay: 'short' });
}

/** How far a webhook is behind the feed, in words. */
export function lagText({ events, seconds }: Webhook['lag']): string {
  if (events === 0) return t('Up to date');
  const count = t('{count, plural, one {# event} other {# events}}', { count: events });
  return `${count}, ${secondsText(seconds)}`;
}

export const disabledReason = (reason: NonNullable<Webhook['disabled_reason']>): string =>
  ({
    manual: t('Disabled by your team.'),
    gone: t('The receiver replied with 410: it no longer wants events.'),
    failing: t('No attempt succeeded for 5 days.'),
  })[reason];
