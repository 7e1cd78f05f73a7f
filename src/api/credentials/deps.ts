import type { Config } from '../../platform/config.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { Keychain } from '../../platform/secrets.ts';
import type { Storage } from '../../storage/database/orm.ts';
import type { FoundSession, WantedSession } from '../../storage/team/sessions.ts';
import type { KeyRing } from './key-ring.ts';
import type { TokenVerifier } from './token-verifier.ts';

/** The dependencies needed to verify a credential or to start a session. `ApiDeps` includes them. */
export interface CredentialDeps {
  config: Config;
  metrics: Metrics;
  now: () => Date;
  keychain: Keychain;
  storage: Storage;
  keyRing: KeyRing;
  /** Returns an active session. Read for each request. */
  findSession(wanted: WantedSession): Promise<FoundSession | undefined>;
  tokens: TokenVerifier;
}
