import { z } from 'zod';
import { setCookie } from './cookies.ts';
import type { CredentialDeps } from './deps.ts';

/** Our cookie of a browser in which somebody was logged in before, without its prefix. */
export const DEVICE_COOKIE = 'device';

/** Browsers keep no cookie for longer than 400 days (RFC 6265bis). */
const LIFETIME_SECONDS = 400 * 86_400;

/** What the cookie holds, encrypted: a name for the browser, and whose logins it is known for. */
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
 * The name of a browser in which the owner of this address was logged in before; `undefined` for any other.
 *
 * Its login attempts are counted on their own, so that a stranger's guesses do not lock the owner out (OWASP: device
 * cookies). The cookie proves nothing else: a login takes the password all the same.
 */
export const findKnownDevice = (
  email: string,
  carried: string | undefined,
  deps: Omit<DeviceDeps, 'config'>,
): string | undefined => readDevice(email, carried, deps)?.id;

/**
 * The `Set-Cookie` by which a browser becomes known for an address; `undefined` while the one that it carries is good for
 * half of its lifetime.
 *
 * `id` is a name that follows from the proof: whoever has stolen a session must not get a new count from each request.
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
