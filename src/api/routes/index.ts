import type { Operation } from '../operation.ts';
import { accountRoutes } from './accounts.ts';
import { answerRoutes } from './answers.ts';
import { apiKeyRoutes } from './api-keys.ts';
import { assignmentRuleRoutes } from './assignment-rules.ts';
import { auditLogRoutes } from './audit-log.ts';
import { cardDecisionRoutes } from './card-decisions.ts';
import { cardRoutes } from './cards.ts';
import { conversationChangeRoutes } from './conversation-changes.ts';
import { conversationRoutes } from './conversations.ts';
import { eventRoutes } from './events.ts';
import { identityRoutes } from './identities.ts';
import { ingestionRoutes } from './ingestion.ts';
import { invitationRoutes } from './invitations.ts';
import { macroRoutes } from './macros.ts';
import { memberRoutes } from './members.ts';
import { messageRoutes } from './messages.ts';
import { probeRoutes } from './probes.ts';
import { questionRoutes } from './questions.ts';
import { resultRoutes } from './results.ts';
import { sessionRoutes } from './sessions.ts';
import { subjectRoutes } from './subjects.ts';
import { tenantRoutes } from './tenants.ts';
import { tokenRoutes } from './tokens.ts';
import { viewRoutes } from './views.ts';
import { webhookRoutes } from './webhooks.ts';

/** Every operation of the API. The most frequent ones come first, since the router tries them in order. */
export const OPERATIONS: Operation[] = [
  ...cardRoutes,
  ...answerRoutes,
  ...tokenRoutes,
  ...viewRoutes,
  ...conversationRoutes,
  ...messageRoutes,
  ...conversationChangeRoutes,
  ...macroRoutes,
  ...assignmentRuleRoutes,
  ...questionRoutes,
  ...resultRoutes,
  ...identityRoutes,
  ...cardDecisionRoutes,
  ...ingestionRoutes,
  ...sessionRoutes,
  ...subjectRoutes,
  ...accountRoutes,
  ...tenantRoutes,
  ...memberRoutes,
  ...invitationRoutes,
  ...apiKeyRoutes,
  ...webhookRoutes,
  ...auditLogRoutes,
  ...eventRoutes,
  ...probeRoutes,
];

/** The purpose of the operations of each tag. */
export const TAGS: Record<string, string> = {
  Cards: 'The questions that a user sees now. For apps.',
  Answers: 'Sending answers from apps, and reading, tagging and deleting them as the team.',
  Tokens: 'Public access tokens, and checks of tokens.',
  Conversations: 'Messages between users and the team.',
  Macros: 'Saved replies and changes of conversations.',
  'Assignment rules': 'Who gets conversations without an assignee.',
  Views: 'Saved filters of the inbox, and their counts.',
  Questions: 'Creating and publishing questions, and their results.',
  Identities: "The users, with attributes from the tenant's own systems.",
  Ingestion: 'The way of answers into the database: totals, and the quarantine of answers that could not be stored.',
  Sessions: 'Login and logout of the team in the dashboard.',
  Account: "A person's own name, password and authenticator.",
  Tenant: 'The settings of the tenant, and demo tenants.',
  Members: 'The team: members, roles and invitations.',
  'API keys': 'Keys for servers and for public tokens.',
  Webhooks: 'Events sent to your own systems, and their deliveries.',
  Events: 'The events of the tenant, in order.',
  'Audit log': 'The actions of the team.',
  Operating: 'Probes, and this document.',
};
