import { z } from 'zod';
import { arrayOf } from './bounded.ts';
import { type CustomField, CustomFields } from './conversations/custom-fields.ts';
import { OfficeHours, type OfficePeriod, ReplyTargets } from './conversations/reply-targets.ts';
import { int32 } from './documented.ts';
import { rule } from './field-errors.ts';
import { toTypeId, typeIdOut } from './ids.ts';
import { Locale, MAX_LOCALES } from './locales.ts';
import { AttributeName, MAX_ATTRIBUTES } from './people/identities.ts';
import { Appearance, AppearancePatch, changeAppearance, completeAppearance } from './rules/appearance.ts';
import { label, TimestampOut } from './text.ts';

/** Default number of days between any two questions for one identity. */
export const DEFAULT_COOLDOWN_DAYS = 7;

/** The default language of a new tenant. */
export const DEFAULT_LOCALE = 'en';

const isTimezone = (name: string): boolean => {
  if (/^[+-]/.test(name)) return false; // an offset has no daylight saving time
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false; // there is no other way to check
  }
};

const Timezone = z
  .string()
  .max(64)
  .refine(isTimezone, rule('invalid-format', 'Must be an IANA time zone such as Europe/Berlin.'))
  .meta({ description: 'IANA time zone', example: 'Europe/Berlin' });

export const IpMode = z.enum(['none', 'truncated', 'full']);
export type IpMode = z.infer<typeof IpMode>;

/** Retention period in days; null for unlimited. */
const RetentionDays = z.int().min(1).max(3650).nullable();

/** How long a tenant keeps its users' data. The worker permanently deletes older data within minutes. */
const Retention = z.strictObject({
  answers_days: RetentionDays.meta({
    description:
      'Days after receipt at which answers are deleted, including quarantined ones; null: never. Results of questions are kept, and so is the record that a user was asked.',
  }),
  conversations_days: RetentionDays.meta({
    description:
      'Days after its resolution, or its last message, at which a resolved conversation is deleted with its messages; null: never',
  }),
});

const AutoResolveDays = z.int().min(1).max(365).nullable().meta({
  description: 'Days without any change after which a conversation that waits for its user is resolved; null: never',
});

const AllowedAttributes = arrayOf(AttributeName)
  .max(MAX_ATTRIBUTES)
  .refine(names => new Set(names).size === names.length, rule('repeated-item', 'Must not contain a name twice.'))
  .meta({
    description: `Attributes that the user's app may set (\`PATCH /v1/me/attributes\`), at most ${MAX_ATTRIBUTES}`,
    uniqueItems: true,
  });

export const NewTenant = z.strictObject({ name: label(120) });

export const TenantPatch = z
  .strictObject({
    name: label(120),
    default_locale: Locale,
    locales: arrayOf(Locale).min(1).max(MAX_LOCALES),
    timezone: Timezone,
    cooldown_days: z.int().min(0).max(365),
    retention: Retention.partial().meta({ id: 'RetentionPatch' }),
    ip_mode: IpMode,
    identity_attributes_allowed: AllowedAttributes,
    auto_resolve_days: AutoResolveDays,
    office_hours: OfficeHours,
    reply_targets: ReplyTargets,
    custom_fields: CustomFields,
    appearance: AppearancePatch,
  })
  .partial()
  .meta({
    id: 'TenantPatch',
    example: { timezone: 'Europe/Berlin', retention: { answers_days: 730 }, appearance: { accent: '#0f766e' } },
  });
export type TenantPatch = z.output<typeof TenantPatch>;

export const Tenant = z
  .object({
    id: typeIdOut('tenant'),
    name: z.string().meta({ example: 'Acme' }),
    default_locale: z.string().meta({ example: DEFAULT_LOCALE }),
    locales: z.array(z.string()).meta({ example: ['en', 'de'] }),
    timezone: z.string().meta({ example: 'Europe/Berlin' }),
    cooldown_days: int32().meta({
      description: 'Minimum number of days between two questions for the same identity',
      example: DEFAULT_COOLDOWN_DAYS,
    }),
    retention: z.object(Retention.shape).meta({ id: 'Retention', example: { answers_days: 730 } }),
    ip_mode: IpMode.meta({
      description:
        'How IP addresses are stored in the audit log and with sessions; a session follows the strictest of its tenants',
      example: 'truncated',
    }),
    identity_attributes_allowed: z
      .array(z.string())
      .meta({ description: "Attributes that the user's app may set", example: ['plan'] }),
    auto_resolve_days: AutoResolveDays.meta({ example: 14 }),
    office_hours: OfficeHours,
    reply_targets: ReplyTargets,
    custom_fields: CustomFields,
    appearance: Appearance,
    demo: z.boolean().meta({
      description: 'Whether the tenant was created with demo data, by `POST /v1/demo-tenants` or `parley demo create`',
    }),
    created_at: TimestampOut,
  })
  .meta({ id: 'Tenant' });

/** A tenant's settings as they are stored. */
export interface TenantSettings {
  name: string;
  default_locale: string;
  locales: string[];
  timezone: string;
  cooldown_days: number;
  retention_answers_days: number | null;
  retention_conversations_days: number | null;
  ip_mode: IpMode;
  identity_attributes_allowed: string[];
  auto_resolve_days: number | null;
  office_hours: OfficePeriod[];
  reply_targets: ReplyTargets;
  custom_fields: CustomField[];
  /** The fields that were set; the others have their defaults. */
  appearance: Partial<Appearance>;
}

/** Returns a stored tenant as the API shows it. */
export const presentTenant = (row: TenantSettings & { id: string; is_demo: boolean; created_at: Date }) => ({
  id: toTypeId('tenant', row.id),
  name: row.name,
  default_locale: row.default_locale,
  locales: row.locales,
  timezone: row.timezone,
  cooldown_days: row.cooldown_days,
  retention: { answers_days: row.retention_answers_days, conversations_days: row.retention_conversations_days },
  ip_mode: row.ip_mode,
  identity_attributes_allowed: row.identity_attributes_allowed,
  auto_resolve_days: row.auto_resolve_days,
  office_hours: row.office_hours,
  reply_targets: row.reply_targets,
  custom_fields: row.custom_fields,
  appearance: completeAppearance(row.appearance),
  demo: row.is_demo,
  created_at: row.created_at,
});

/** Returns the settings of a patch in their stored form. Throws 422 for an appearance that is hard to read. */
export function changedSettings(before: TenantSettings, patch: TenantPatch): Partial<TenantSettings> {
  const { retention = {}, appearance, ...rest } = patch;
  const { answers_days: retention_answers_days, conversations_days: retention_conversations_days } = retention;
  const changes = {
    ...rest,
    retention_answers_days,
    retention_conversations_days,
    appearance: appearance && changeAppearance(completeAppearance(before.appearance), appearance),
  };
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}
