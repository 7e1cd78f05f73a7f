import type { Operation } from '../operation.ts';
import { answerRoutes } from './answers.ts';
import { cardRoutes } from './cards.ts';
import { conversationRoutes } from './conversations.ts';
import { identityRoutes } from './identities.ts';
import { ingestionRoutes } from './ingestion.ts';
import { probeRoutes } from './probes.ts';
import { questionRoutes } from './questions.ts';
import { resultRoutes } from './results.ts';
import { tokenRoutes } from './tokens.ts';

/** Every operation of the API; those that apps call all the time come first, since the router tries them in order. */
export const OPERATIONS: Operation[] = [
  ...cardRoutes,
  ...answerRoutes,
  ...tokenRoutes,
  ...conversationRoutes,
  ...questionRoutes,
  ...resultRoutes,
  ...identityRoutes,
  ...ingestionRoutes,
  ...probeRoutes,
];
