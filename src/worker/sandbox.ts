import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Problem } from '../domain/problem.ts';
import { type DatabaseUrl, isPooled, rolePrefixOf, urlOf } from '../platform/store-urls.ts';
import { withTimeout } from '../platform/timeouts.ts';
import type { RecordedCounts } from '../storage/answers/recording.ts';
import type { SandboxReply, SandboxSettings, SandboxTask } from './sandbox-process.ts';
import { createTaskProgress, type TaskOutcome } from './sandbox-task.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
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

/** A started process. It is ready from its first message on. */
interface Child {
  process: ChildProcess;
  isReady: boolean;
}

/** Starts the process for the first task, and again after it has exited. `requireDurable` is passed to the storage. */
export function openSandbox(databaseUrl: DatabaseUrl, requireDurable = true): Sandbox {
  let child: Child | undefined;
  let closing = false;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** The next task starts another process: one that is about to exit would be counted against it. */
  const detach = (own: Child) => {
    if (child === own) child = undefined;
  };

  const start = (): Child => {
    const started = startChild({
      databaseUrl: urlOf(databaseUrl),
      isPooled: isPooled(databaseUrl),
      rolePrefix: rolePrefixOf(databaseUrl),
      requireDurable,
    });
    started.process.once('exit', () => detach(started));
    return started;
  };

  const stop = async () => {
    const own = child;
    if (!own) return;
    detach(own);
    await stopChild(own);
  };

  const storeNext = async (work: SandboxTask): Promise<RecordedCounts> => {
    if (closing) throw new Problem('service-stopping', 'The process for isolated answers is stopping.');
    clearTimeout(idle);
    try {
      child ??= start();
      const own = child;
      return await runTask(own, work, { isStopping: () => closing, onHang: () => detach(own) });
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

function startChild(settings: SandboxSettings): Child {
  const started: Child = {
    process: fork(MAIN, ['sandbox'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
    isReady: false,
  };
  started.process.once('message', () => {
    started.isReady = true;
  });
  started.process.on('error', () => undefined); // a process that cannot be started or reached exits, which is handled
  started.process.send(settings);
  return started;
}

async function stopChild({ process: own }: Child): Promise<void> {
  const ended = new Promise(done => own.once('exit', done));
  if (own.connected) own.disconnect();
  await withTimeout(ended, CLOSE_TIMEOUT_MS, 'stopping the process for isolated answers').catch(() =>
    own.kill('SIGKILL'),
  );
}

/** Sends a task to the process once it is ready. Resolves or rejects with the task's outcome. Kills a silent process. */
const runTask = (
  { process: own, isReady }: Child,
  work: SandboxTask,
  { isStopping, onHang }: { isStopping(): boolean; onHang(): void },
) =>
  new Promise<RecordedCounts>((resolve, reject) => {
    const progress = createTaskProgress(isStopping);
    const settle = (outcome: TaskOutcome | undefined) => {
      if (!outcome) return;
      clearInterval(watchdog);
      own.off('message', onMessage).off('exit', onExit);
      if ('counts' in outcome) resolve(outcome.counts);
      else reject(outcome.error);
    };
    const sendOnce = () => {
      if (progress.send()) own.send(work);
    };
    const onExit = (code: number | null, signal: string | null) => settle(progress.exit(signal ?? code));
    const onMessage = (message: unknown) => {
      sendOnce();
      settle(progress.receive(message as SandboxReply));
    };
    // Counts ticks, not time: while the worker itself was blocked, it received no messages.
    const watchdog = setInterval(() => {
      const outcome = progress.tick();
      if (!outcome) return;
      onHang();
      own.kill('SIGKILL');
      settle(outcome);
    }, 1000);
    own.on('message', onMessage).once('exit', onExit);
    if (isReady) sendOnce();
  });
