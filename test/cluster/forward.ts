import { spawn } from 'node:child_process';

export interface Forward extends AsyncDisposable {
  /** The local port. */
  port: number;
}

/** Forwards a local port to an object of the cluster. It breaks when the pod ends. */
export async function forward(namespace: string, target: string, port: number): Promise<Forward> {
  const child = spawn('kubectl', ['port-forward', '--namespace', namespace, target, `:${port}`]);
  const ended = new Promise<void>(done => child.once('close', () => done()));
  const opened = new Promise<number>((done, fail) => {
    let output = '';
    const look = (chunk: Buffer) => {
      output += chunk;
      const found = /Forwarding from 127\.0\.0\.1:(\d+)/.exec(output)?.[1];
      if (found) done(Number(found));
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.once('error', fail);
    child.once('close', () => fail(new Error(`the port was not forwarded: ${output}`)));
  });
  return {
    port: await opened,
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended;
    },
  };
}
