import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeMachineFault, requireDiskSpace, requireFreePorts } from '../../src/platform/machine-faults.ts';

const MB = 1024 * 1024;
const HOST = '127.0.0.1';

test('a taken port is named with its setting, and a free one is left free', async () => {
  const other = createServer().listen(0, HOST);
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await expect(requireFreePorts(HOST, [{ setting: 'METRICS_PORT', port }])).rejects.toThrow(
    `Another process uses port ${port} of 127.0.0.1. Stop it, or set METRICS_PORT to another port.`,
  );
  other.close();
  await once(other, 'close');
  for (let round = 0; round < 2; round++)
    await requireFreePorts(HOST, [
      { setting: 'PORT', port },
      { setting: 'METRICS_PORT', port: 0 },
    ]);
});

test('two settings with one port, and an address of another machine, are reported', async () => {
  const same = requireFreePorts(HOST, [
    { setting: 'PORT', port: 3999 },
    { setting: 'METRICS_PORT', port: 3999 },
  ]);
  await expect(same).rejects.toThrow('PORT and METRICS_PORT are both 3999');
  const foreign = requireFreePorts('192.0.2.1', [{ setting: 'PORT', port: 3999 }]);
  await expect(foreign).rejects.toThrow('This machine does not have the address 192.0.2.1. Correct HOST.');
});

test('a new database needs more free space than an existing one, in a folder that need not exist', async () => {
  const folder = join(tmpdir(), 'parley-missing', 'data');
  await expect(requireDiskSpace(folder, true, async () => 100 * MB)).rejects.toThrow(
    `The disk of ${folder} has 100 MB left, and the embedded PostgreSQL needs 256 MB.`,
  );
  await requireDiskSpace(folder, false, async () => 100 * MB);
  await expect(requireDiskSpace(folder, false, async () => 10 * MB)).rejects.toThrow('needs 32 MB');
  await requireDiskSpace(folder, true);
});

test('an error of the system becomes a line, also as the cause of another error; a bug does not', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
    syscall: 'open',
    path: '/data/x',
  });
  expect(describeMachineFault(new Error('failed', { cause: full }))).toBe(
    'The disk is full: /data/x cannot be written. Free disk space and start again.',
  );
  const tool = new Error(
    'initdb exited with code 1: creating\ninitdb: error: could not write: No space left on device\n',
  );
  expect(describeMachineFault(tool)).toMatch(/^The disk is full\. .*could not write: No space left on device\)$/);
  const denied = Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'mkdir', path: '/data' });
  expect(describeMachineFault(denied)).toContain('has no access to /data');
  expect(describeMachineFault(faultOf(() => readdirSync(import.meta.filename)))).toContain('.ts is not a folder');
  expect(describeMachineFault(new TypeError('x is undefined'))).toBeUndefined();
  expect(describeMachineFault(Object.assign(new Error('x'), { code: 'EACCES' }))).toBeUndefined();
});

function faultOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}
