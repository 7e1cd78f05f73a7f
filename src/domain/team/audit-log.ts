import { z } from 'zod';
import { exampleId, typeIdOut } from '../ids.ts';
import { TimestampOut } from '../text.ts';

export const ActorType = z.enum(['member', 'api_key', 'system']);
export type ActorType = z.infer<typeof ActorType>;

/** Every audited action, spelled as the types of events: `resource.past_verb`. Stable; operations refer to them. */
export const ACTIONS = [
  'tenant.created',
  'tenant.updated',
  'demo_tenant.created',
  'demo_tenant.deleted',
  'session.started',
  'session.ended',
  'sessions.ended',
  'account.updated',
  'password.changed',
  'password.reset',
  'totp.enrolled',
  'totp.enabled',
  'totp.removed',
  'member.created',
  'member.invited',
  'member.joined',
  'member.updated',
  'member.removed',
  'invitation.revoked',
  'api_key.created',
  'api_key.updated',
  'api_key.rotated',
  'api_key.revoked',
  'question.created',
  'question.updated',
  'question.deleted',
  'question.published',
  'question.paused',
  'question.resumed',
  'question.closed',
  'question.archived',
  'question.cloned',
  'identity.replaced',
  'identity.updated',
  'answer.tagged',
  'answer.deleted',
  'quarantine.replayed',
  'quarantine.discarded',
  'conversation.updated',
  'conversation.merged',
  'conversations.updated',
  'macro.created',
  'macro.updated',
  'macro.deleted',
  'macro.applied',
  'webhook.created',
  'webhook.updated',
  'webhook.disabled',
  'webhook.deleted',
  'webhook.rotated',
  'webhook.tested',
  'webhook.replayed',
  'assignment_rules.replaced',
  'view.created',
  'view.updated',
  'view.deleted',
  'conversation.deleted',
  'message.updated',
  'message.redacted',
] as const;
export const Action = z.enum(ACTIONS);
export type Action = z.infer<typeof Action>;

/** Returns a URL's host, which names a target that has no name. The rest of a webhook's URL is often a secret. */
export const hostFromUrl = (url: string | undefined): string | null => URL.parse(url ?? '')?.host ?? null;

/** Maximum number of field names per entry. */
export const MAX_FIELDS = 20;

export const AuditEntry = z
  .object({
    id: typeIdOut('audit'),
    at: TimestampOut,
    actor: z
      .object({
        type: ActorType,
        id: typeIdOut('member', 'key')
          .nullable()
          .meta({ description: '`member_…` or `key_…`; null for commands on the command line' }),
        name: z.string().meta({ description: 'Name at the time of the action' }),
      })
      .meta({ id: 'AuditActor', example: { id: exampleId('member'), name: 'Ada Lovelace' } }),
    action: Action.meta({ example: 'question.published' }),
    target: z
      .object({ id: z.string().nullable(), name: z.string().nullable() })
      .meta({ id: 'AuditTarget', example: { id: exampleId('question'), name: 'NPS' } }),
    fields: z.array(z.string()).meta({ description: 'Names of the fields in the request, without their values' }),
    ip: z.string().nullable().meta({
      description: "IP address, shortened or omitted as set by the tenant's `ip_mode`",
      example: '203.0.113.0',
    }),
    request_id: z.string().nullable().meta({ example: '4f0c1c52-3a0e-4d6e-9a51-6e3c9e4a7c11' }),
  })
  .meta({ id: 'AuditEntry' });
