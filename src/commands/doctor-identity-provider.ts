import { describeFault, discoverProvider } from '../api/credentials/identity-provider.ts';
import type { Config } from '../platform/config.ts';
import { type Check, ill, well } from './doctor-check.ts';

const NAME = 'identity provider';

/** Reads the metadata of the identity provider, if one is configured. */
export async function examineIdentityProvider(config: Config): Promise<Check[]> {
  if (!config.OIDC_ISSUER) return [];
  try {
    const metadata = (await discoverProvider(config)).serverMetadata();
    const check = well(NAME, `${metadata.issuer} replies with its metadata`);
    const claims = metadata.claims_supported as string[] | undefined;
    if (config.OIDC_TRUST_EMAIL === 'claim' && claims && !claims.includes('email_verified'))
      check.hint =
        'It does not list the claim email_verified, so new persons may be refused (email-unverified). For a directory that you trust, set OIDC_TRUST_EMAIL=issuer: docs/guides/mail-and-single-sign-on.md.';
    return [check];
  } catch (error) {
    return [
      ill(
        NAME,
        `the metadata of OIDC_ISSUER cannot be read: ${describeFault(error)}`,
        'Correct OIDC_ISSUER, or the network. For a private certificate authority, set NODE_EXTRA_CA_CERTS; for a proxy, HTTPS_PROXY and NODE_USE_ENV_PROXY=1.',
      ),
    ];
  }
}
