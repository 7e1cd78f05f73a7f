import { connect, createServer, type Socket } from 'node:net';

export interface TestProxy extends AsyncDisposable {
  /** The URL of the store through the proxy. */
  through(url: string): string;
  /** Stops forwarding in both directions without closing connections, like a network that drops packets. */
  freeze(): void;
  /** Forwards again, starting with the held data. */
  thaw(): void;
  /** Resets all connections and rejects new ones with a reset. */
  cut(): void;
  /** Accepts connections again. */
  mend(): void;
  /** Delays all data in each direction, in order; 0 ends the delay. */
  delay(ms: number): void;
  /** Forwards requests and drops replies until `dropReplies(false)`. */
  dropReplies(dropping: boolean): void;
  /** Half-closes all connections on the client's side; the store's side stays open. */
  halfClose(): void;
  /** Resets all current connections; new ones are accepted. */
  reset(): void;
  /** Forwards new connections to another store; existing ones are unaffected. */
  retarget(url: string): void;
}

/** The current behavior of the network. */
interface Weather {
  frozen: boolean;
  refusing: boolean;
  delayMs: number;
  repliesDropped: boolean;
}

/** Forwards chunks in order, each with the delay at the time of its arrival. */
function createPipe(to: Socket, weather: Weather): (piece: Buffer) => void {
  const held: { due: number; piece: Buffer }[] = [];
  const passOn = () => {
    while (held[0] && held[0].due <= performance.now()) to.write(held.shift()?.piece as Buffer);
    if (held[0]) setTimeout(passOn, Math.ceil(held[0].due - performance.now()));
  };
  return piece => {
    if (held.length === 0 && weather.delayMs === 0) return void to.write(piece);
    held.push({ due: performance.now() + weather.delayMs, piece });
    if (held.length === 1) passOn();
  };
}

/** A TCP proxy in front of a store that simulates network failures. */
export async function createProxy(target: string): Promise<TestProxy> {
  let goal = new URL(target);
  const pairs = new Set<{ client: Socket; store: Socket }>();
  const weather: Weather = { frozen: false, refusing: false, delayMs: 0, repliesDropped: false };
  const sockets = () => [...pairs].flatMap(({ client, store }) => [client, store]);

  const server = createServer({ allowHalfOpen: true }, client => {
    if (weather.refusing) return void client.resetAndDestroy();
    const store = connect({ port: Number(goal.port), host: goal.hostname, allowHalfOpen: true });
    const pair = { client, store };
    pairs.add(pair);
    const toStore = createPipe(store, weather);
    const toClient = createPipe(client, weather);
    client.on('data', toStore);
    store.on('data', piece => {
      if (!weather.repliesDropped) toClient(piece);
    });
    for (const [socket, other] of [
      [client, store],
      [store, client],
    ] as const) {
      socket.on('end', () => other.end());
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        pairs.delete(pair);
        other.destroy();
      });
      if (weather.frozen) socket.pause();
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const listening = (server.address() as { port: number }).port;
  const reset = () => {
    for (const socket of sockets()) socket.resetAndDestroy();
  };
  const cut = () => {
    weather.refusing = true;
    reset();
  };
  return {
    through(url) {
      const proxied = new URL(url);
      proxied.hostname = '127.0.0.1';
      proxied.port = String(listening);
      return proxied.href;
    },
    freeze() {
      weather.frozen = true;
      for (const socket of sockets()) socket.pause();
    },
    thaw() {
      weather.frozen = false;
      for (const socket of sockets()) socket.resume();
    },
    cut,
    mend() {
      weather.refusing = false;
    },
    delay(ms) {
      weather.delayMs = ms;
    },
    dropReplies(dropping) {
      weather.repliesDropped = dropping;
    },
    halfClose() {
      for (const { store } of pairs) store.end();
    },
    reset,
    retarget(url) {
      goal = new URL(url);
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
