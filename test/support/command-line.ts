import { randomBytes } from 'node:crypto';
import { createDatabase } from './database.ts';
import { runCommand } from './process.ts';

/** The command line with its own database. */
export async function createCommandLine() {
  const database = await createDatabase();
  const environment = { DATABASE_URL: database.url, SECRET_KEY: randomBytes(32).toString('base64') };
  const run = (args: string[], input?: string) => runCommand(args, environment, input);
  return {
    database,
    environment,
    run,
    // biome-ignore lint/suspicious/noExplicitAny: tests read parts of any output
    async json(args: string[], input?: string): Promise<any> {
      const { code, stdout, stderr } = await run(args, input);
      if (code !== 0) throw new Error(stderr);
      return JSON.parse(stdout);
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
