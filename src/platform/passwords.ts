import { hash, verify } from '@node-rs/argon2';

/** OWASP's parameters for argon2id: 19 MiB, two passes, one lane. A login takes a tenth of a second of one core. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** How many are computed at once, each on a thread of its own: the threads also read files and look up names. */
const AT_ONCE = 2;

/** A hash of the same cost that no password has: what an unknown account's password is compared with. */
const NOBODY = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}$c29tZXNhbHRzb21lc2FsdA$${'A'.repeat(43)}`;

let running = 0;
const waiting: (() => void)[] = [];

/** How many passwords wait to be hashed or compared in this process. */
export const passwordsWaiting = (): number => waiting.length;

/** Takes turns: whoever ends hands its place to the first who waits. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) await new Promise<void>(resolve => void waiting.push(resolve));
  else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

/** A password as it is kept: argon2id in the PHC format, computed off the event loop. */
export const hashPassword = (password: string): Promise<string> => inTurn(() => hash(password, COST));

/** Whether a password is the one that was hashed. Without a hash it takes as long, and is not. */
export const verifyPassword = (password: string, hashed: string | null | undefined): Promise<boolean> =>
  inTurn(async () => (await verify(hashed ?? NOBODY, password)) && typeof hashed === 'string');
