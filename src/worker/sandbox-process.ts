import { AcceptedAnswer } from '../domain/answers/answers.ts';
import { Problem } from '../domain/problem.ts';
import { createLog } from '../platform/log.ts';
import type { RecordedCounts } from '../storage/answers/recording.ts';
import { openStorage, type Storage } from '../storage/database/orm.ts';
import { recordFlush } from './handlers/answers.ts';

/** The answers of a suspected flush, or one of them, to be stored at once. */
export interface SandboxTask {
  flush: string;
  part_of?: string;
  /** Each answer as JSON in base64. */
  encoded: string[];
}

/** The worker's first message to the sandbox: its database, and whether it must be durable. */
export interface SandboxSettings {
  databaseUrl: string;
  isPooled: boolean;
  rolePrefix: string;
  requireDurable: boolean;
}

/** The sandbox's message to the worker: the outcome of a task, or a sign of life if both fields are absent. */
export interface SandboxReply {
  counts?: RecordedCounts;
  /** `passing` is true for an outage of the infrastructure, false for a fault of the answers. */
  failure?: { message: string; passing: boolean };
}

const ALIVE_EVERY_MS = 1000;

const reply = (message: SandboxReply): void => void process.send?.(message);

const decode = (encoded: string): AcceptedAnswer =>
  AcceptedAnswer.parse(JSON.parse(Buffer.from(encoded, 'base64').toString()));

async function store(storage: Storage, { flush, part_of, encoded }: SandboxTask): Promise<SandboxReply> {
  try {
    return { counts: await recordFlush(storage, { flush, part_of, answers: encoded.map(decode) }) };
  } catch (error) {
    return { failure: { message: String(error), passing: error instanceof Problem && error.kind === 'unavailable' } };
  }
}

/**
 * The child side of `openSandbox`: stores the answers that it receives until the worker disconnects.
 *
 * The first message contains the database URL. Signals are ignored, since a terminal sends them to the worker as well,
 * which then ends this process.
 */
export function runSandbox(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  process.once('disconnect', () => process.exit(0));
  process.once('message', message => {
    const { databaseUrl, isPooled, rolePrefix, requireDurable } = message as SandboxSettings;
    const log = createLog('warn', 'sandbox');
    const readUrl = () => databaseUrl;
    const url = { readUrl, readDirectUrl: readUrl, isPooled, rolePrefix };
    const storage = openStorage({ url, role: 'parley_worker', connections: 1, requireDurable, log });
    process.on('message', async work => reply(await store(storage, work as SandboxTask)));
    setInterval(reply, ALIVE_EVERY_MS, {});
    reply({});
  });
}
