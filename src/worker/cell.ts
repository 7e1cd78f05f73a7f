import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Problem } from '../domain/problem.ts';
import { within } from '../platform/shutdown.ts';
import type { RecordedCounts } from '../storage/recording.ts';
import type { CellReply, CellWork } from './cell-process.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
const STARTED_WITHIN_S = 30;
/** The process says each second that it is alive; one that is silent for so long hangs. */
const SILENT_S = 5;
/** A process that is out of work for so long is ended: it takes some 100 MB. */
const IDLE_MS = 30_000;
const CLOSE_WITHIN_MS = 1500;

/** A process beside the worker's that stores one flush or answer at a time: whatever that does there, it does alone. */
export interface Cell {
  /**
   * Stores the answers, after what came before. Rejects with a `Problem` when the infrastructure is at fault, and with any
   * other error when the answers are: storing them failed, ended the process, or kept it from answering for 5 s.
   */
  store(work: CellWork): Promise<RecordedCounts>;
  /** Ends the process, with the answer that it may be at. */
  close(): Promise<void>;
}

/** The process is started when there is something to store, and again after its death. `requireDurable` is the storage's. */
export function openCell(databaseUrl: string, requireDurable = true): Cell {
  let child: ChildProcess | undefined;
  let isReady = false;
  let closing = false;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** The next answer gets another process: one that is about to end would be counted against it. */
  const forget = (own: ChildProcess) => {
    if (child === own) child = undefined;
  };

  const start = (): ChildProcess => {
    const started = fork(MAIN, ['cell'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    isReady = false;
    started.once('message', () => {
      isReady = true;
    });
    started.once('exit', () => forget(started));
    started.on('error', () => undefined); // a process that can't be started or told anything ends, which is heard
    started.send({ databaseUrl, requireDurable });
    return started;
  };

  const hand = (own: ChildProcess, work: CellWork) =>
    new Promise<RecordedCounts>((resolve, reject) => {
      let handed = false;
      let silentS = 0;
      // By ticks, not by the clock: a worker that stood still itself has heard nothing either.
      const tick = setInterval(() => {
        silentS++;
        if (silentS <= (handed ? SILENT_S : STARTED_WITHIN_S)) return;
        forget(own);
        own.kill('SIGKILL');
        fail(`did not respond for ${handed ? SILENT_S : STARTED_WITHIN_S} s`);
      }, 1000);
      const end = () => {
        clearInterval(tick);
        own.off('message', hear).off('exit', mourn);
      };
      const fail = (what: string) => {
        end();
        if (handed && !closing) reject(new Error(`the process storing it ${what}`));
        else reject(new Problem('service-stopping', `The process for isolated answers ${what}.`));
      };
      const mourn = (code: number | null, signal: string | null) => fail(`exited (${signal ?? code})`);
      const give = () => {
        handed = true;
        own.send(work);
      };
      const hear = (message: unknown) => {
        silentS = 0;
        if (!handed) give();
        const { counts, failure } = message as CellReply;
        if (counts || failure) end();
        if (counts) resolve(counts);
        if (failure)
          reject(failure.passing ? new Problem('database-unavailable', failure.message) : new Error(failure.message));
      };
      own.on('message', hear).once('exit', mourn);
      if (isReady) give();
    });

  const stop = async () => {
    const own = child;
    if (!own) return;
    forget(own);
    const ended = new Promise(done => own.once('exit', done));
    if (own.connected) own.disconnect();
    await within(ended, CLOSE_WITHIN_MS, 'stopping the process for isolated answers').catch(() => own.kill('SIGKILL'));
  };

  const storeNow = async (work: CellWork): Promise<RecordedCounts> => {
    if (closing) throw new Problem('service-stopping', 'The process for isolated answers is stopping.');
    clearTimeout(idle);
    try {
      child ??= start();
      return await hand(child, work);
    } finally {
      if (!closing) idle = setTimeout(stop, IDLE_MS).unref();
    }
  };

  return {
    store(work) {
      const stored = last.then(() => storeNow(work));
      last = stored.catch(() => undefined); // its own caller hears of it
      return stored;
    },
    async close() {
      closing = true;
      clearTimeout(idle);
      await stop();
    },
  };
}
