import { z } from 'zod';
import { typeIdOut } from './ids.ts';
import { TimestampOut, text } from './text.ts';

/** Days between any two questions for one identity, where the tenant chose nothing else. */
export const DEFAULT_COOLDOWN_DAYS = 7;

export const MAX_LOCALES = 50;

/** Whether the tag has a language of two or three letters and is in its one canonical form (BCP 47). */
const isCanonicalLocale = (tag: string): boolean => {
  try {
    return /^[a-z]{2,3}(-|$)/.test(tag) && Intl.getCanonicalLocales(tag)[0] === tag;
  } catch {
    return false; // the language has no other way to ask
  }
};

const Locale = z.string().max(35).refine(isCanonicalLocale, 'must be a BCP 47 tag such as en or pt-BR');

const isTimezone = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false; // the language has no other way to ask
  }
};

const Timezone = z.string().max(64).refine(isTimezone, 'must be an IANA time zone such as Europe/Berlin');

export const IpMode = z.enum(['none', 'truncated', 'full']);
export type IpMode = z.infer<typeof IpMode>;

export const NewTenant = z.strictObject({ name: text(120, 1) });

export const TenantPatch = z
  .strictObject({
    name: text(120, 1),
    default_locale: Locale,
    locales: z.array(Locale).min(1).max(MAX_LOCALES),
    timezone: Timezone,
    cooldown_days: z.int().min(0).max(365),
    ip_mode: IpMode,
  })
  .partial()
  .meta({ id: 'TenantPatch' });
export type TenantPatch = z.output<typeof TenantPatch>;

export const Tenant = z
  .object({
    id: typeIdOut('tenant'),
    name: z.string(),
    default_locale: z.string(),
    locales: z.array(z.string()),
    timezone: z.string(),
    cooldown_days: z.int().meta({ description: 'Days between any two questions for one identity' }),
    ip_mode: IpMode.meta({ description: 'How much of the addresses of its team the audit log keeps' }),
    created_at: TimestampOut,
  })
  .meta({ id: 'Tenant' });

/** The address as far as a mode keeps it: whole, its network (/24, /48), or nothing. */
export function keptIp(ip: string, mode: IpMode): string | null {
  if (mode === 'none') return null;
  if (mode === 'full') return ip;
  const mapped = ip.replace(/^::ffff:(?=\d+\.)/i, '');
  if (mapped.includes('.')) return mapped.replace(/\.\d+$/, '.0');
  const [head = ''] = mapped.split('::');
  return `${[...head.split(':').filter(Boolean), '0', '0', '0'].slice(0, 3).join(':')}::`;
}
