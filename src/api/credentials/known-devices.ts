import { z } from 'zod';
import { setCookie } from './cookies.ts';
import type { CredentialDeps } from './deps.ts';

/** The cookie of a browser with an earlier login, without its prefix. */
export const DEVICE_COOKIE = 'device';

/** Browsers keep no cookie for longer than 400 days (RFC 6265bis). */
const LIFETIME_SECONDS = 400 * 86_400;

/** The encrypted content of the cookie: an id of the browser, and the e-mail address of its logins. */
const KnownDevice = z.object({ id: z.string(), email: z.string(), endsAt: z.number() });
type KnownDevice = z.infer<typeof KnownDevice>;

const CONTEXT = 'device';

type DeviceDeps = Pick<CredentialDeps, 'config' | 'keychain' | 'now'>;

function readDevice(
  email: string,
  carried: string | undefined,
  { keychain, now }: Omit<DeviceDeps, 'config'>,
): KnownDevice | undefined {
  if (carried === undefined) return undefined;
  try {
    const device = KnownDevice.parse(JSON.parse(keychain.unseal(Buffer.from(carried, 'base64url'), CONTEXT)));
    return device.email === email && device.endsAt > now().getTime() ? device : undefined;
  } catch {
    return undefined; // made up, or encrypted with another SECRET_KEY
  }
}

/**
 * Returns the id of a browser in which the owner of this address has logged in before; `undefined` for any other.
 *
 * Its login attempts are counted separately, so that other people's guesses do not lock the owner out (OWASP: device
 * cookies). The cookie grants no other right: the password is still required.
 */
export const findKnownDevice = (
  email: string,
  carried: string | undefined,
  deps: Omit<DeviceDeps, 'config'>,
): string | undefined => readDevice(email, carried, deps)?.id;

/**
 * Returns the `Set-Cookie` that makes a browser known for an address; `undefined` while its cookie is valid for more
 * than half of its lifetime.
 *
 * `id` is derived from the proof, so that a stolen session does not get a new count with each request.
 */
export function rememberDevice(
  email: string,
  id: string,
  carried: string | undefined,
  deps: DeviceDeps,
): string | undefined {
  const known = readDevice(email, carried, deps);
  const now = deps.now().getTime();
  if (known && known.endsAt - now > LIFETIME_SECONDS * 500) return undefined;
  const device: KnownDevice = { id: known?.id ?? id, email, endsAt: now + LIFETIME_SECONDS * 1000 };
  const sealed = deps.keychain.seal(JSON.stringify(device), CONTEXT).toString('base64url');
  return setCookie(DEVICE_COOKIE, sealed, LIFETIME_SECONDS, deps.config);
}
