/**
 * Makes answers crash the process that stores them: `node --import <this file> src/main.ts work`.
 *
 * A statement to PostgreSQL with a parameter that contains `poison:kill` ends the process with SIGKILL, `poison:loop`
 * blocks its event loop for `POISON_LOOP_MS` (60,000), and `poison:throw` throws like a bug. Without this preload the
 * same answers are harmless.
 */
import { createRequire } from 'node:module';

const LOOP_MS = Number(process.env.POISON_LOOP_MS ?? 60_000);

function loop(): void {
  for (const until = Date.now() + LOOP_MS; Date.now() < until; );
}

const EFFECTS: Record<string, () => void> = {
  'poison:kill': () => process.kill(process.pid, 'SIGKILL'),
  'poison:loop': loop,
  'poison:throw': () => {
    throw new TypeError('This answer meets a bug.');
  },
};

interface ClientClass {
  prototype: { query(this: unknown, ...args: unknown[]): unknown };
}

/** The parameters of a call of `query`. */
const parametersOf = ([statement, values]: unknown[]): unknown[] =>
  (statement as { values?: unknown[] }).values ?? (Array.isArray(values) ? values : []);

/** A parameter as text, even if it is sent as bytes. */
const toText = (parameter: unknown): string =>
  Buffer.isBuffer(parameter) ? parameter.toString() : JSON.stringify(parameter);

function poison({ prototype }: ClientClass): void {
  const { query } = prototype;
  prototype.query = function (...args) {
    const parameters = parametersOf(args).map(toText).join();
    for (const [marker, effect] of Object.entries(EFFECTS)) if (parameters.includes(marker)) effect();
    return query.apply(this, args);
  };
}

// The ORM may have its own driver.
const here = createRequire(import.meta.url);
const drivers = [here, createRequire(here.resolve('@mikro-orm/postgresql'))].map(require => require('pg').Client);
for (const client of new Set<ClientClass>(drivers)) poison(client);
