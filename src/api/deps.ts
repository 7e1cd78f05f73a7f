import type { Notices } from '../coordination/notices.ts';
import type { RateLimits } from '../coordination/rate-limits.ts';
import type { Log } from '../platform/log.ts';
import type { Outbound } from '../platform/outbound.ts';
import type { Spans } from '../platform/spans.ts';
import type { Producer } from '../queue/producer.ts';
import type { AnswerValidator } from './cache/answer-validator.ts';
import type { CardLists } from './cache/card-lists.ts';
import type { Catalog } from './cache/catalog.ts';
import type { CredentialDeps } from './credentials/deps.ts';
import type { OidcLogin } from './credentials/oidc.ts';
import type { HeavyReads } from './http/heavy-reads.ts';
import type { Overload } from './http/overload.ts';
import type { OpenApiFile } from './site/openapi-file.ts';
import type { IncrementalReads } from './watch/incremental-reads.ts';
import type { Readiness } from './watch/readiness.ts';
import type { RejectionTally } from './watch/rejection-tally.ts';

/** The dependencies of handlers, created once per process in `server.ts`. */
export interface ApiDeps extends CredentialDeps {
  log: Log;
  /** Tracing, if enabled. */
  spans: Spans | undefined;
  queue: Producer;
  notices: Notices;
  limits: RateLimits;
  overload: Overload;
  heavyReads: HeavyReads;
  /** The check of URLs that tenants choose. */
  outbound: Outbound;
  /** Logins by the identity provider, if configured. */
  oidc: OidcLogin | undefined;
  catalog: Catalog;
  cardLists: CardLists;
  answerValidator: AnswerValidator;
  incrementalReads: IncrementalReads;
  rejections: RejectionTally;
  /** Whether the process is shutting down. */
  isStopping: () => boolean;
  readiness: Readiness;
  openApi: () => Promise<OpenApiFile>;
}
