import type { Notices } from '../coordination/notices.ts';
import type { RateLimits } from '../coordination/rate-limits.ts';
import type { Log } from '../platform/log.ts';
import type { Mail } from '../platform/mail.ts';
import type { Spans } from '../platform/spans.ts';
import type { Producer } from '../queue/producer.ts';
import type { AnswerJudge } from './cache/answer-judge.ts';
import type { CardDeck } from './cache/card-deck.ts';
import type { Catalog } from './cache/catalog.ts';
import type { CredentialDeps } from './credentials/deps.ts';
import type { OidcLogin } from './credentials/oidc.ts';
import type { HeavyReads } from './http/heavy-reads.ts';
import type { Overload } from './http/overload.ts';
import type { IncrementalReads } from './watch/incremental-reads.ts';
import type { Readiness } from './watch/readiness.ts';
import type { RejectionTally } from './watch/rejection-tally.ts';

/** Everything that handlers work with; made once a process, in `server.ts`. */
export interface ApiDeps extends CredentialDeps {
  log: Log;
  /** The seam of traces, where they are kept. */
  spans: Spans | undefined;
  queue: Producer;
  notices: Notices;
  limits: RateLimits;
  overload: Overload;
  heavyReads: HeavyReads;
  /** The mail server, where one is set. */
  mail: Mail | undefined;
  /** Logins by the identity provider, where one is set. */
  oidc: OidcLogin | undefined;
  catalog: Catalog;
  deck: CardDeck;
  judge: AnswerJudge;
  incrementalReads: IncrementalReads;
  rejections: RejectionTally;
  /** Whether the process is on its way out. */
  isStopping: () => boolean;
  readiness: Readiness;
  /** The OpenAPI document as JSON, half a megabyte, and its entity tag; both are made once. */
  openApi: () => { json: Buffer; etag: string };
}
