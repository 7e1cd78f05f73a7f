import { z } from 'zod';
import { typeIdOut } from './ids.ts';
import { TimestampOut } from './text.ts';

export const MemberRole = z.enum(['owner', 'admin', 'agent', 'analyst']);
export type MemberRole = z.infer<typeof MemberRole>;

export const NewMember = z.strictObject({
  email: z.email().max(254).toLowerCase(),
  role: MemberRole,
  password: z.string().min(12, 'must have at least 12 characters').max(256),
});

export const Member = z
  .object({ id: typeIdOut('member'), email: z.string(), role: MemberRole, created_at: TimestampOut })
  .meta({ id: 'Member' });
