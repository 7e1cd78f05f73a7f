import { z } from 'zod';
import { typeIdOut } from './ids.ts';
import { TimestampOut, text } from './text.ts';

export const NewTenant = z.strictObject({ name: text(120, 1) });

export const Tenant = z
  .object({
    id: typeIdOut('tenant'),
    name: z.string(),
    cooldown_days: z.int().meta({ description: 'Days between any two questions for one identity' }),
    created_at: TimestampOut,
  })
  .meta({ id: 'Tenant' });

/** Days between any two questions for one identity, where the tenant chose nothing else. */
export const DEFAULT_COOLDOWN_DAYS = 7;
