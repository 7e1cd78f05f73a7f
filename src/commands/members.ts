import { hash } from '@node-rs/argon2';
import { toTypeId } from '../domain/ids.ts';
import { NewMember } from '../domain/members.ts';
import { insertMember } from '../storage/members.ts';
import { type CommandContext, type Options, required } from './command.ts';
import { tenantOf } from './tenant-option.ts';

/** `member create --tenant T --email E --role R`, the password on standard input: makes a member of the team. */
export async function createMember(context: CommandContext, options: Options) {
  const tenant = await tenantOf(context, options);
  const fields = {
    email: required(options, 'email'),
    role: required(options, 'role'),
    password: await context.readInput(),
  };
  const { email, role, password } = NewMember.parse(fields);
  // OWASP's parameters for argon2id: 19 MiB, two passes.
  const password_hash = await hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  const row = await insertMember(tenant, { email, role, password_hash }, context.now);
  return { id: toTypeId('member', row.id), email: row.email, role: row.role, created_at: row.created_at };
}
