import { AcceptedAnswer } from '../domain/answers.ts';
import { Problem } from '../domain/problem.ts';
import { createLog } from '../platform/log.ts';
import { openStorage, type Storage } from '../storage/orm.ts';
import type { RecordedCounts } from '../storage/recording.ts';
import { recordFlush } from './handlers/answers.ts';

/** What is stored at one go: the answers of a suspected flush, or one of them. */
export interface CellWork {
  flush: string;
  part_of?: string;
  /** Each answer as JSON in base64. */
  sealed: string[];
}

/** What the process tells the worker: what became of its work, or with neither field that it is alive. */
export interface CellReply {
  counts?: RecordedCounts;
  /** `passing` when the infrastructure is at fault, and not the answers. */
  failure?: { message: string; passing: boolean };
}

const ALIVE_EVERY_MS = 1000;

const reply = (message: CellReply): void => void process.send?.(message);

const open = (sealed: string): AcceptedAnswer =>
  AcceptedAnswer.parse(JSON.parse(Buffer.from(sealed, 'base64').toString()));

async function store(storage: Storage, { flush, part_of, sealed }: CellWork): Promise<CellReply> {
  try {
    return { counts: await recordFlush(storage, { flush, part_of, answers: sealed.map(open) }) };
  } catch (error) {
    return { failure: { message: String(error), passing: error instanceof Problem && error.kind === 'unavailable' } };
  }
}

/**
 * The other side of `openCell`: stores what it is sent until the worker is gone.
 *
 * The first message names the database. Signals are left to the worker: a terminal sends them to both.
 */
export function runCell(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  process.once('disconnect', () => process.exit(0));
  process.once('message', message => {
    const { databaseUrl, requireDurable } = message as { databaseUrl: string; requireDurable: boolean };
    const log = createLog('warn', 'cell');
    const storage = openStorage({ url: databaseUrl, role: 'parley_worker', connections: 1, requireDurable, log });
    process.on('message', async work => reply(await store(storage, work as CellWork)));
    setInterval(reply, ALIVE_EVERY_MS, {});
    reply({});
  });
}
