import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Problem } from '../domain/problem.ts';
import { withTimeout } from '../platform/shutdown.ts';
import type { RecordedCounts } from '../storage/recording.ts';
import type { SandboxReply, SandboxTask } from './sandbox-process.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
const START_TIMEOUT_S = 30;
/** The process sends a sign of life each second. If it is silent for this long, it hangs. */
const MAX_SILENCE_S = 5;
/** An idle process is ended after this time; it uses about 100 MB. */
const IDLE_MS = 30_000;
const CLOSE_TIMEOUT_MS = 1500;

/** A child process that stores one flush or answer at a time, so that a crash affects only that one. */
export interface Sandbox {
  /**
   * Stores the answers, after all earlier tasks. Rejects with a `Problem` for an outage of the infrastructure. Rejects
   * with any other error if the answers are at fault: storing them failed, ended the process, or blocked it for 5 s.
   */
  store(work: SandboxTask): Promise<RecordedCounts>;
  /** Ends the process and the task in progress. */
  close(): Promise<void>;
}

/** Starts the process for the first task, and again after it has exited. `requireDurable` is passed to the storage. */
export function openSandbox(databaseUrl: string, requireDurable = true): Sandbox {
  let child: ChildProcess | undefined;
  let isReady = false;
  let closing = false;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** The next task starts another process: one that is about to exit would be counted against it. */
  const detach = (own: ChildProcess) => {
    if (child === own) child = undefined;
  };

  const start = (): ChildProcess => {
    const started = fork(MAIN, ['sandbox'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    isReady = false;
    started.once('message', () => {
      isReady = true;
    });
    started.once('exit', () => detach(started));
    started.on('error', () => undefined); // a process that cannot be started or reached exits, which is handled
    started.send({ databaseUrl, requireDurable });
    return started;
  };

  const runTask = (own: ChildProcess, work: SandboxTask) =>
    new Promise<RecordedCounts>((resolve, reject) => {
      let isSent = false;
      let silentS = 0;
      // Counts ticks, not time: while the worker itself was blocked, it received no messages.
      const tick = setInterval(() => {
        silentS++;
        if (silentS <= (isSent ? MAX_SILENCE_S : START_TIMEOUT_S)) return;
        detach(own);
        own.kill('SIGKILL');
        fail(`did not respond for ${isSent ? MAX_SILENCE_S : START_TIMEOUT_S} s`);
      }, 1000);
      const end = () => {
        clearInterval(tick);
        own.off('message', onMessage).off('exit', onExit);
      };
      const fail = (what: string) => {
        end();
        if (isSent && !closing) reject(new Error(`the process storing it ${what}`));
        else reject(new Problem('service-stopping', `The process for isolated answers ${what}.`));
      };
      const onExit = (code: number | null, signal: string | null) => fail(`exited (${signal ?? code})`);
      const sendTask = () => {
        isSent = true;
        own.send(work);
      };
      const onMessage = (message: unknown) => {
        silentS = 0;
        if (!isSent) sendTask();
        const { counts, failure } = message as SandboxReply;
        if (counts || failure) end();
        if (counts) resolve(counts);
        if (failure)
          reject(failure.passing ? new Problem('database-unavailable', failure.message) : new Error(failure.message));
      };
      own.on('message', onMessage).once('exit', onExit);
      if (isReady) sendTask();
    });

  const stop = async () => {
    const own = child;
    if (!own) return;
    detach(own);
    const ended = new Promise(done => own.once('exit', done));
    if (own.connected) own.disconnect();
    await withTimeout(ended, CLOSE_TIMEOUT_MS, 'stopping the process for isolated answers').catch(() =>
      own.kill('SIGKILL'),
    );
  };

  const storeNext = async (work: SandboxTask): Promise<RecordedCounts> => {
    if (closing) throw new Problem('service-stopping', 'The process for isolated answers is stopping.');
    clearTimeout(idle);
    try {
      child ??= start();
      return await runTask(child, work);
    } finally {
      if (!closing) idle = setTimeout(stop, IDLE_MS).unref();
    }
  };

  return {
    store(work) {
      const stored = last.then(() => storeNext(work));
      last = stored.catch(() => undefined); // its caller handles it
      return stored;
    },
    async close() {
      closing = true;
      clearTimeout(idle);
      await stop();
    },
  };
}
