import { z } from 'zod';
import { EXAMPLE_TIME, int32 } from '../documented.ts';
import { issueOf, rule } from '../field-errors.ts';
import { Problem, type ProblemError } from '../problem.ts';
import { Timestamp, TimestampOut } from '../text.ts';
import { type Audience, AudienceInput, AudienceOut, privateLeaves } from './audiences.ts';
import { type Trigger, TriggerInput, TriggerOut } from './triggers.ts';

/** Maximum number of days after which a question is due again, and of times that its card is shown. */
const MAX_EVERY_DAYS = 730;
const MAX_DISPLAYS = 100;
/** Maximum number of answers of a limit. */
const MAX_LIMIT = 1_000_000_000;

const Repeat = z.enum(['once', 'until_answered', 'always', 'every_days']).meta({
  description:
    "When the card disappears. `once`: after any answer, including views and dismissals. `until_answered`: after a partial or completed answer. `always`: never. `every_days`: as `until_answered`, until `every_days` days after the person's last answer.",
  example: 'until_answered',
});

const SnoozeDays = z
  .int()
  .min(0)
  .max(365)
  .meta({ description: 'Days for which a dismissed card is hidden', example: 30 });
const EveryDays = z.int().min(1).max(MAX_EVERY_DAYS).nullable().meta({
  description: "Days from the person's last answer until the card appears again; only with `repeat: every_days`",
});
const MaxDisplays = z.int().min(1).max(MAX_DISPLAYS).nullable().meta({
  description: 'How often the card is shown to one person; null: without limit',
});
const IgnoresCooldown = z.boolean().meta({ description: "Ignores the tenant's cooldown and does not start one" });

/** How often a question is shown to one person, as the team sends it. */
export const FrequencyInput = z
  .strictObject({
    repeat: Repeat.default('until_answered'),
    every_days: EveryDays.default(null),
    max_displays: MaxDisplays.default(null),
    snooze_after_dismiss_days: SnoozeDays.default(30),
    ignore_cooldown: IgnoresCooldown.default(false),
  })
  .check(({ value, issues }) => {
    const fault = faultOfPeriod(value);
    if (fault) issues.push({ ...issueOf(fault.code, fault.detail, value.every_days), path: ['every_days'] });
  })
  .meta({ id: 'FrequencyInput' });
export type Frequency = z.output<typeof FrequencyInput>;

export const FrequencyPatch = z
  .strictObject({
    repeat: Repeat,
    every_days: EveryDays,
    max_displays: MaxDisplays,
    snooze_after_dismiss_days: SnoozeDays,
    ignore_cooldown: IgnoresCooldown,
  })
  .partial()
  .meta({ id: 'FrequencyPatch' });

export const FrequencyOut = z
  .object({
    repeat: Repeat,
    every_days: int32(1).nullable().meta({ description: 'null unless `repeat` is `every_days`' }),
    max_displays: int32(1).nullable().meta({ description: 'null: without limit' }),
    snooze_after_dismiss_days: SnoozeDays,
    ignore_cooldown: IgnoresCooldown,
  })
  .meta({ id: 'Frequency' });

const DEFAULT_FREQUENCY: Frequency = FrequencyInput.parse({});

/** A frequency as it is stored: earlier versions did not store all members. */
export type StoredFrequency = Partial<Frequency>;

/** Returns a stored frequency with the members that earlier versions did not store. */
export const completeFrequency = (stored: StoredFrequency): Frequency => ({ ...DEFAULT_FREQUENCY, ...stored });

function faultOfPeriod({ repeat, every_days }: Frequency) {
  const isPeriodic = repeat === 'every_days';
  if (isPeriodic && every_days === null)
    return { code: 'required', detail: 'Required for the repeat "every_days".' } as const;
  if (isPeriodic || every_days === null) return undefined;
  return { code: 'not-allowed', detail: 'Must be omitted unless the repeat is "every_days".' } as const;
}

const times = {
  start_at: Timestamp.nullable().meta({ description: 'From when the card is shown; null: from publication' }),
  end_at: Timestamp.nullable().meta({ description: 'When the question closes; null: never' }),
};

export const ScheduleInput = z
  .strictObject({ start_at: times.start_at.default(null), end_at: times.end_at.default(null) })
  .meta({ id: 'ScheduleInput' });
export const SchedulePatch = z.strictObject(times).partial().meta({ id: 'SchedulePatch' });

/** The period in which cards are shown. The clock decides, not the status of the question. */
export const ScheduleOut = z
  .object({
    start_at: TimestampOut.nullable().meta({ description: 'From when the card is shown; null: from publication' }),
    end_at: TimestampOut.nullable().meta({ description: 'When the question closes; null: never' }),
  })
  .meta({ id: 'Schedule', example: { start_at: EXAMPLE_TIME } });

const LimitPeriod = z.enum(['total', 'day', 'week', 'month']).meta({
  example: 'month',
  description: "The period in which answers are counted, in the tenant's time zone. A full `total` closes the question",
});
export const ResponseLimitInput = z
  .strictObject({ count: z.int().min(1).max(MAX_LIMIT), per: LimitPeriod.default('total') })
  .meta({ id: 'ResponseLimitInput', description: 'Maximum number of completed answers' });
export const ResponseLimitOut = z
  .object({ count: int32(1).meta({ example: 1000 }), per: LimitPeriod })
  .meta({ id: 'ResponseLimit', description: 'Maximum number of completed answers' });
export type ResponseLimit = z.output<typeof ResponseLimitInput>;

/** The step of samples. */
const MIN_PERCENT = 0.01;
export const SamplingPercent = z
  .number()
  .min(MIN_PERCENT, rule('out-of-range', `Must be at least ${MIN_PERCENT}.`))
  .max(100)
  .meta({
    description:
      'Share of people who are asked, in steps of 0.01. The same people are chosen at every fetch, and a higher share keeps those of a lower one',
    example: 20,
  });

const about = {
  audience: { description: 'Who is asked; null: everyone' },
  trigger: { description: 'What must happen on the device before the card is shown; null: nothing' },
  response_limit: { description: 'null: without limit' },
};

/** The rules of a new question that decide who sees its card, and when. */
export const newRules = {
  audience: AudienceInput.nullable().default(null).meta(about.audience),
  schedule: ScheduleInput.default({ start_at: null, end_at: null }),
  trigger: TriggerInput.nullable().default(null).meta(about.trigger),
  frequency: FrequencyInput.default(DEFAULT_FREQUENCY),
  sampling_percent: SamplingPercent.default(100),
  response_limit: ResponseLimitInput.nullable().default(null).meta(about.response_limit),
};

/** The rules in the body that changes a question: schedule and frequency by member, the others as a whole. */
export const changedRules = {
  audience: AudienceInput.nullable().meta(about.audience),
  schedule: SchedulePatch,
  trigger: TriggerInput.nullable().meta(about.trigger),
  frequency: FrequencyPatch,
  sampling_percent: SamplingPercent,
  response_limit: ResponseLimitInput.nullable().meta(about.response_limit),
};

/** The rules in replies. */
export const shownRules = {
  audience: AudienceOut.nullable().meta({ ...about.audience, example: {} }),
  schedule: ScheduleOut,
  trigger: TriggerOut.nullable().meta({ ...about.trigger, example: {} }),
  frequency: FrequencyOut,
  sampling_percent: z.number().meta({ description: 'Share of people who are asked', example: 20 }),
  response_limit: ResponseLimitOut.nullable().meta({ ...about.response_limit, example: {} }),
};

/**
 * The rules of a question that decide who sees its card, and when, as they are stored. They are no content: a change
 * makes no new version, since it changes no text and no meaning of an answer.
 */
export interface CardRules {
  audience: Audience | null;
  start_at: Date | null;
  end_at: Date | null;
  trigger: Trigger | null;
  frequency: StoredFrequency;
  sampling_percent: number;
  response_limit: ResponseLimit | null;
  allow_public: boolean;
}

/** The rules that a request contains. */
export interface RulesPatch {
  audience?: Audience | null | undefined;
  schedule?: { start_at?: Date | null | undefined; end_at?: Date | null | undefined } | undefined;
  trigger?: Trigger | null | undefined;
  frequency?: Partial<{ [Name in keyof Frequency]: Frequency[Name] | undefined }> | undefined;
  sampling_percent?: number | undefined;
  response_limit?: ResponseLimit | null | undefined;
  allow_public?: boolean | undefined;
}

/** Returns the rules with the columns of a schedule. */
export const toCardRules = <Rules extends { schedule: { start_at: Date | null; end_at: Date | null } }>({
  schedule,
  ...rules
}: Rules) => ({ ...rules, ...schedule });

/** Applies the rules of a patch. Throws 422 if the rules do not fit together, with pointers into the patch. */
export function patchRules(rules: CardRules, patch: RulesPatch, now: Date): void {
  const { audience, schedule, trigger, frequency, sampling_percent, response_limit, allow_public } = patch;
  const replaced = { audience, trigger, sampling_percent, response_limit, allow_public, ...schedule };
  Object.assign(rules, defined(replaced));
  if (frequency) {
    const isOther = frequency.repeat !== undefined && frequency.repeat !== 'every_days';
    const kept = completeFrequency(rules.frequency);
    rules.frequency = { ...kept, ...(isOther ? { every_days: null } : {}), ...defined(frequency) };
  }
  refuseRules(rules, patch, now);
}

/** Returns the fields that a request has. */
export const defined = <Values extends object>(values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Values;

/** Throws 422 for rules that do not fit together. `sent` are those of the request, to which the pointers refer. */
export function refuseRules(rules: CardRules, sent: RulesPatch, now: Date): void {
  const errors = findRuleFaults(rules, sent, now);
  if (errors.length > 0)
    throw new Problem('validation-failed', 'The rules of the question do not fit together.', { errors });
}

function findRuleFaults(rules: CardRules, sent: RulesPatch, now: Date): ProblemError[] {
  const { audience, start_at, end_at, frequency, allow_public } = rules;
  const errors: ProblemError[] = [];
  const add = (pointer: string, code: ProblemError['code'], detail: string) => errors.push({ pointer, code, detail });
  const period = faultOfPeriod(completeFrequency(frequency));
  if (period) add('/frequency/every_days', period.code, period.detail);
  if (start_at && end_at && end_at <= start_at)
    add(
      sent.schedule?.end_at ? '/schedule/end_at' : '/schedule/start_at',
      'conflicting',
      '`end_at` must be after `start_at`.',
    );
  else if (sent.schedule?.end_at && sent.schedule.end_at <= now)
    add('/schedule/end_at', 'out-of-range', 'Must lie ahead.');
  const leaves = allow_public && audience ? privateLeaves(audience, '/audience') : [];
  for (const pointer of sent.audience ? leaves : leaves.slice(0, 1).map(() => '/allow_public'))
    add(pointer, 'audience-not-public', NOT_PUBLIC);
  return errors;
}

const NOT_PUBLIC =
  'A question that is open to public access tokens can only depend on platform, app_version and locale.';

/** Returns the rules of a copy: those of the original without its schedule, which may have passed. */
export const copyRules = ({
  audience,
  trigger,
  frequency,
  sampling_percent,
  response_limit,
  allow_public,
}: CardRules) => ({
  ...{ audience, trigger, sampling_percent, response_limit, allow_public, start_at: null, end_at: null },
  frequency: completeFrequency(frequency),
});
