import type { Operation } from '../operation.ts';
import { accountRoutes } from './accounts.ts';
import { answerRoutes } from './answers.ts';
import { apiKeyRoutes } from './api-keys.ts';
import { auditLogRoutes } from './audit-log.ts';
import { cardRoutes } from './cards.ts';
import { conversationRoutes } from './conversations.ts';
import { identityRoutes } from './identities.ts';
import { ingestionRoutes } from './ingestion.ts';
import { memberRoutes } from './members.ts';
import { messageRoutes } from './messages.ts';
import { probeRoutes } from './probes.ts';
import { questionRoutes } from './questions.ts';
import { resultRoutes } from './results.ts';
import { sessionRoutes } from './sessions.ts';
import { tenantRoutes } from './tenants.ts';
import { tokenRoutes } from './tokens.ts';

/** Every operation of the API; those that apps call all the time come first, since the router tries them in order. */
export const OPERATIONS: Operation[] = [
  ...cardRoutes,
  ...answerRoutes,
  ...tokenRoutes,
  ...conversationRoutes,
  ...messageRoutes,
  ...questionRoutes,
  ...resultRoutes,
  ...identityRoutes,
  ...ingestionRoutes,
  ...sessionRoutes,
  ...accountRoutes,
  ...tenantRoutes,
  ...memberRoutes,
  ...apiKeyRoutes,
  ...auditLogRoutes,
  ...probeRoutes,
];
