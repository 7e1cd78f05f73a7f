import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { freePort } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';
import type { Driver, Theme } from './driver.ts';

const DRIVER = '/usr/bin/WebKitWebDriver';
const SCREEN = '/usr/bin/Xvfb';

/** Whether WebKitGTK with its driver, and the screen that it needs, are installed. */
export const hasWebKit = (): boolean => [DRIVER, SCREEN].every(file => existsSync(file));

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise(done => child.once('exit', done));
  child.kill();
  await ended;
}

/** Starts a screen without a monitor; its number is chosen by the program. */
async function openScreen(): Promise<{ name: string; child: ChildProcess }> {
  const child = spawn(SCREEN, ['-displayfd', '3', '-screen', '0', '1400x1000x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const number = await new Promise<string>((resolve, reject) => {
    child.stdio[3]?.once('data', data => resolve(String(data).trim()));
    child.once('exit', code => reject(new Error(`Xvfb ended with ${code}.`)));
  });
  return { name: `:${number}`, child };
}

/** Opens WebKitGTK, the engine of Safari, through its WebDriver. */
export async function openWebKit(theme: Theme): Promise<Driver> {
  const screen = await openScreen();
  const port = await freePort();
  const child = spawn(DRIVER, [`--port=${port}`], {
    stdio: 'ignore',
    env: { ...process.env, DISPLAY: screen.name, GTK_THEME: theme === 'dark' ? 'Adwaita:dark' : 'Adwaita' },
  });
  const request = async (method: string, path: string, body?: object) => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: body && JSON.stringify(body) });
    const { value } = (await reply.json()) as { value: Record<string, unknown> };
    if (!reply.ok) throw new Error(`${method} ${path}: ${value.error}, ${value.message}`);
    return value;
  };
  await waitFor(async () => (await fetch(`http://127.0.0.1:${port}/status`).catch(() => undefined))?.ok);
  const { sessionId, capabilities } = await request('POST', '/session', { capabilities: { alwaysMatch: {} } });
  const session = `/session/${sessionId}`;
  await request('POST', `${session}/window/rect`, { x: 0, y: 0, width: 1000, height: 900 });
  return {
    name: `WebKitGTK ${(capabilities as { browserVersion: string }).browserVersion}`,
    async goTo(url) {
      await request('POST', `${session}/url`, { url });
    },
    async goBack() {
      await request('POST', `${session}/back`, {});
    },
    async enterFrame() {
      await request('POST', `${session}/frame`, { id: 0 });
    },
    async evaluate(expression) {
      const script = `const done = arguments[0]; Promise.resolve(${expression}).then(value => done(JSON.stringify(value ?? null)), error => done(JSON.stringify({ thrown: String(error) })))`;
      const value = JSON.parse((await request('POST', `${session}/execute/async`, { script, args: [] })) as never);
      if (value?.thrown) throw new Error(value.thrown);
      return value;
    },
    async perform(sources) {
      await request('POST', `${session}/actions`, { actions: sources });
    },
    async [Symbol.asyncDispose]() {
      await request('DELETE', session);
      await end(child);
      await end(screen.child);
    },
  };
}
