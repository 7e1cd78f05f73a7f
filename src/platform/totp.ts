import { createHmac, randomBytes } from 'node:crypto';
import { equalInConstantTime } from './secrets.ts';

/** The defaults of authenticator apps (RFC 6238 section 4, RFC 4226 section 5.3). */
const STEP_SECONDS = 30;
const DIGITS = 6;
const SECRET_BYTES = 20;
/** Accepted clock drift in steps, in both directions. */
const DRIFT_STEPS = 1;

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Encodes bytes as base32 without padding (RFC 4648 section 6). */
export function toBase32(bytes: Buffer): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{1,5}/g) ?? []).map(part => BASE32[Number.parseInt(part.padEnd(5, '0'), 2)]).join('');
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map(character => BASE32.indexOf(character).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)));
}

/** Returns a new authenticator secret in base32. */
export const newTotpSecret = (): string => toBase32(randomBytes(SECRET_BYTES));

/** Returns the URI for an authenticator app's QR code. */
export const totpUri = (secret: string, account: string, issuer = 'Parley'): string =>
  `otpauth://totp/${encodeURIComponent(`${issuer}:${account}`)}?secret=${secret}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`;

/** Returns the code of a time step (RFC 4226 section 5.3: dynamic truncation). */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const offset = (digest.at(-1) as number) & 0x0f;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** Returns the time step of a moment. */
export const totpStep = (now: Date): number => Math.floor(now.getTime() / 1000 / STEP_SECONDS);

/** Returns the step that matches the code, among the current one and its neighbours; `undefined` when none does. */
export function matchTotp(secret: string, code: string, now: Date): number | undefined {
  const current = totpStep(now);
  let matched: number | undefined;
  for (let step = current - DRIFT_STEPS; step <= current + DRIFT_STEPS; step++)
    if (equalInConstantTime(Buffer.from(totpCode(secret, step)), Buffer.from(code))) matched = step;
  return matched;
}
