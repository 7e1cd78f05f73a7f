import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { docker } from '../containers/docker.ts';
import type { Store } from './stores.ts';

const run = promisify(execFile);

/** Starts or stops dropping all packets between a container and these addresses. */
async function filter(store: Store, action: '-A' | '-D', addresses: string[]): Promise<void> {
  const pid = await docker(['inspect', '--format', '{{.State.Pid}}', store.container()]);
  for (const address of addresses)
    for (const rule of [
      ['INPUT', '-s', address],
      ['OUTPUT', '-d', address],
    ])
      await run('nsenter', ['-t', pid, '-n', 'iptables', '-w', action, ...rule, '-j', 'DROP']);
}

/**
 * Separates these stores from the addresses of the other side: packets are dropped and connections stay open. Resolves
 * with a function that ends the partition. Needs Linux and root; the stores must have their own networks.
 */
export async function part(stores: Store[], others: string[]): Promise<() => Promise<void>> {
  for (const store of stores) await filter(store, '-A', others);
  return async () => {
    for (const store of stores) await filter(store, '-D', others);
  };
}
