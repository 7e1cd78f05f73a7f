import { z } from 'zod';
import { arrayOf } from '../bounded.ts';
import { DAY_MS, MINUTE_MS } from '../durations.ts';
import { issueOf, rule } from '../field-errors.ts';
import { ConversationPriority } from './conversations.ts';
import { clockAt, instantOf } from './zoned-time.ts';

/** Maximum reply target: a week of office time. */
export const MAX_TARGET_MINUTES = 10_080;

/** Maximum number of periods of a week. */
export const MAX_PERIODS = 50;

/** Minimum length of a period, so that a target is reached after a bounded number of weeks. */
const MIN_PERIOD_MINUTES = 30;

const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));

const clockText = (pattern: RegExp, example: string) =>
  z
    .string()
    .regex(pattern, `Must be a time of the day such as "${example}".`)
    .meta({ description: "Time of the day in the tenant's time zone", example });

const OfficePeriod = z
  .strictObject({
    day: z.int().min(1).max(7).meta({ description: '1 is Monday, 7 Sunday' }),
    from: clockText(/^([01]\d|2[0-3]):[0-5]\d$/, '09:00'),
    to: clockText(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, '12:30'),
  })
  .check(({ value: { from, to }, issues }) => {
    if (minutesOf(to) - minutesOf(from) < MIN_PERIOD_MINUTES)
      issues.push({
        ...issueOf('out-of-range', `Must be at least ${MIN_PERIOD_MINUTES} minutes after "from", on the same day.`, to),
        path: ['to'],
      });
  })
  .meta({ id: 'OfficePeriod', example: { day: 1 } });
export type OfficePeriod = z.output<typeof OfficePeriod>;

const overlap = (one: OfficePeriod, other: OfficePeriod): boolean =>
  one.day === other.day && minutesOf(one.from) < minutesOf(other.to) && minutesOf(other.from) < minutesOf(one.to);

export const OfficeHours = arrayOf(OfficePeriod)
  .max(MAX_PERIODS)
  .refine(
    periods => !periods.some((one, index) => periods.slice(index + 1).some(other => overlap(one, other))),
    rule('conflicting', 'Must not contain periods that overlap.'),
  )
  .meta({
    description:
      "Periods of the week, in the tenant's time zone, in which the time of reply targets runs; empty: always",
  });

const Minutes = z.int().min(1).max(MAX_TARGET_MINUTES);

export const ReplyTargets = z
  .strictObject(
    Object.fromEntries(ConversationPriority.options.map(priority => [priority, Minutes])) as Record<
      ConversationPriority,
      typeof Minutes
    >,
  )
  .partial()
  .meta({
    id: 'ReplyTargets',
    description:
      'Minutes of office time in which a user who waits should have a reply, by priority. They apply to later messages',
    example: { urgent: 60, high: 240 },
  });
export type ReplyTargets = z.output<typeof ReplyTargets>;

/** The settings of a tenant from which the time of a reply follows. */
export interface ReplyPlan {
  timezone: string;
  office_hours: OfficePeriod[];
  reply_targets: ReplyTargets;
}

interface OpenTime {
  opens: number;
  closes: number;
}

/**
 * The periods of days, by plan. A long target with few office hours passes hundreds of weeks, and time zones make each
 * period expensive; a bulk change passes the same ones for 100 conversations.
 */
const knownPeriods = new WeakMap<ReplyPlan, Map<number, OpenTime[]>>();

/** Returns the periods of a day, as instants in order. `day` is its number since 1970. */
function periodsOf(day: number, plan: ReplyPlan): OpenTime[] {
  const known = knownPeriods.get(plan) ?? new Map<number, OpenTime[]>();
  knownPeriods.set(plan, known);
  const periods = known.get(day) ?? computePeriods(day, plan);
  known.set(day, periods);
  return periods;
}

function computePeriods(day: number, { office_hours, timezone }: ReplyPlan): OpenTime[] {
  const weekday = ((day + 3) % 7) + 1; // 1970-01-01 was a Thursday
  const instant = (clock: string) => instantOf(day * DAY_MS + minutesOf(clock) * MINUTE_MS, timezone);
  return office_hours
    .filter(period => period.day === weekday)
    .map(({ from, to }) => ({ opens: instant(from), closes: instant(to) }))
    .sort((one, other) => one.opens - other.opens);
}

/**
 * Returns when a user who waits since a time should have a reply; null without a target for the priority.
 *
 * The target's minutes elapse only within office hours. They are minutes of real time: a period begins and ends when the
 * clock first reaches its times, so it is an hour shorter or longer on a day on which the clock is set forward or back
 * within it, and it has no time if the clock skips it.
 */
export function replyDueAt(since: Date, priority: ConversationPriority, plan: ReplyPlan): Date | null {
  const target = plan.reply_targets[priority];
  if (target === undefined) return null;
  let left = target * MINUTE_MS;
  if (plan.office_hours.length === 0) return new Date(since.getTime() + left);
  let reached = since.getTime();
  for (let day = Math.floor(clockAt(reached, plan.timezone) / DAY_MS); ; day += 1) {
    for (const { opens, closes } of periodsOf(day, plan)) {
      const start = Math.max(opens, reached);
      if (closes <= start) continue;
      if (start + left <= closes) return new Date(start + left);
      left -= closes - start;
      reached = closes;
    }
  }
}
