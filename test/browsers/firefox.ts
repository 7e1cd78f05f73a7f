import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Driver, Theme } from './driver.ts';

const PLACES = ['/usr/bin/firefox-esr', '/usr/bin/firefox'];

/** The path of Firefox: `FIREFOX`, or the default path of Linux distributions. */
export const firefoxPath = (): string | undefined => process.env.FIREFOX ?? PLACES.find(path => existsSync(path));

interface Message {
  id?: number;
  result?: Record<string, unknown>;
  error?: string;
  message?: string;
}

/** Sends the commands of WebDriver BiDi. */
async function connect(url: string) {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error(`No connection to ${url}.`));
  });
  const waiting = new Map<number, (message: Message) => void>();
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data) as Message;
    waiting.get(message.id ?? 0)?.(message);
  };
  let last = 0;
  return async <Result>(method: string, params: object): Promise<Result> => {
    const id = ++last;
    const replied = new Promise<Message>(resolve => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const { result, error, message } = await replied;
    if (error) throw new Error(`${method}: ${error}, ${message}`);
    return result as Result;
  };
}

/** Preferences of a profile: the theme of pages, no reports, and those of a test. */
function preferencesOf(theme: Theme, own: Record<string, boolean>): string {
  const all = {
    'layout.css.prefers-color-scheme.content-override': theme === 'dark' ? 0 : 1,
    'datareporting.policy.dataSubmissionEnabled': false,
    'app.normandy.enabled': false,
    ...own,
  };
  return Object.entries(all)
    .map(([name, value]) => `user_pref("${name}", ${value});\n`)
    .join('');
}

async function start(preferences: string) {
  const profile = await mkdtemp(join(tmpdir(), 'parley-firefox-'));
  await writeFile(join(profile, 'user.js'), preferences);
  const options = ['--headless', '--no-remote', '--remote-debugging-port', '0', '--profile', profile];
  const child = spawn(firefoxPath() as string, options, { stdio: ['ignore', 'ignore', 'pipe'] });
  const url = await new Promise<string>((resolve, reject) => {
    let log = '';
    child.stderr.on('data', data => {
      log += data;
      const [, found] = /BiDi listening on (ws:\S+)/.exec(log) ?? [];
      if (found) resolve(found);
    });
    child.once('exit', code => reject(new Error(`Firefox ended with ${code}: ${log}`)));
  });
  return { profile, child, url };
}

/** Opens Firefox through WebDriver BiDi, which it speaks itself. */
export async function openFirefox(theme: Theme, preferences: Record<string, boolean> = {}): Promise<Driver> {
  const { profile, child, url } = await start(preferencesOf(theme, preferences));
  const send = await connect(`${url}/session`);
  const { capabilities } = await send<{ capabilities: { browserVersion: string } }>('session.new', {
    capabilities: {},
  });
  // A new tab has the focus; in the first one, the address bar has it, and keys would activate no button.
  const { context: top } = await send<{ context: string }>('browsingContext.create', { type: 'tab' });
  await send('browsingContext.setViewport', { context: top, viewport: { width: 1000, height: 860 } });
  await send('browsingContext.activate', { context: top });
  let current = top;
  return {
    name: `Firefox ${capabilities.browserVersion}`,
    async goTo(address) {
      current = top;
      await send('browsingContext.navigate', { context: top, url: address, wait: 'complete' });
    },
    async goBack() {
      current = top;
      await send('browsingContext.traverseHistory', { context: top, delta: -1 });
    },
    async enterFrame() {
      const tree = await send<{ contexts: { children: { context: string }[] }[] }>('browsingContext.getTree', {
        root: top,
      });
      current = tree.contexts[0]?.children[0]?.context as string;
    },
    async evaluate(expression) {
      const { result, exceptionDetails } = await send<{
        result: { value: string };
        exceptionDetails?: { text: string };
      }>('script.evaluate', {
        expression: `Promise.resolve(${expression}).then(value => JSON.stringify(value ?? null))`,
        target: { context: current },
        awaitPromise: true,
      });
      if (exceptionDetails) throw new Error(exceptionDetails.text);
      return JSON.parse(result.value);
    },
    async perform(sources) {
      await send('input.performActions', { context: current, actions: sources });
    },
    async [Symbol.asyncDispose]() {
      const ended = new Promise(done => child.once('exit', done));
      await send('browser.close', {});
      await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
