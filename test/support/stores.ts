import { inject } from 'vitest';

/** The stores of this test run. */
export interface TestStores {
  /** The server's maintenance database; test databases are created next to it. */
  postgresUrl: string;
  /** A Valkey that writes to disk before it replies; absent if no containers can be started. */
  valkeyUrl?: string;
}

let requested: Promise<TestStores> | undefined;

/** Returns the stores of this test run, started by the first call of the run. Rejects if they cannot be started. */
export function stores(): Promise<TestStores> {
  requested ??= fetch(inject('storesUrl')).then(async reply => {
    if (!reply.ok) throw new Error(`the stores of the test run could not be started: ${await reply.text()}`);
    return reply.json() as Promise<TestStores>;
  });
  return requested;
}
