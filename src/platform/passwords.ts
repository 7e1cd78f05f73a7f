import { hash, verify } from '@node-rs/argon2';

/** OWASP's parameters for argon2id: 19 MiB, two passes, one lane. A login uses a tenth of a second of one core. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Concurrent computations. Each uses a thread of the pool that also serves files and DNS. */
const AT_ONCE = 2;

/** A hash of the same cost without a password, to compare with when an account is unknown. */
const NOBODY = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}$c29tZXNhbHRzb21lc2FsdA$${'A'.repeat(43)}`;

let running = 0;
const waiting: (() => void)[] = [];

/** The number of passwords waiting to be hashed or compared in this process. */
export const passwordsWaiting = (): number => waiting.length;

/** Limits concurrency: a finished computation passes its slot to the first waiting one. */
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

/** Hashes a password with argon2id in PHC format, off the event loop. */
export const hashPassword = (password: string): Promise<string> => inTurn(() => hash(password, COST));

/** Whether a password matches a hash. Without a hash it returns false after the same time. */
export const verifyPassword = (password: string, hashed: string | null | undefined): Promise<boolean> =>
  inTurn(async () => (await verify(hashed ?? NOBODY, password)) && typeof hashed === 'string');
