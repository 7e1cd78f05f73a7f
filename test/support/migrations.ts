import { Client } from 'pg';

/** A connection of the owner, closed at the end of the scope. */
export async function connect(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
