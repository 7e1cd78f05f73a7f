import { resolve } from 'node:path';
import { outputOf, runTool, type ToolOptions } from '../support/tools.ts';

export const ROOT = resolve(import.meta.dirname, '../..');
export const CHART = resolve(ROOT, 'helm');

/** The image that is tried, and the one of the version before it, where there is one. */
export const IMAGE = process.env.PARLEY_IMAGE || 'parley:dev';
export const PREVIOUS_IMAGE = process.env.PARLEY_PREVIOUS_IMAGE;

/** Every image that the checks need on the nodes. */
export const IMAGES = [IMAGE, ...(PREVIOUS_IMAGE ? [PREVIOUS_IMAGE] : []), 'postgres:18', 'valkey/valkey:9'];

const LIMIT_MS = 600_000;

export const kubectl = (args: string[], options: ToolOptions = {}): Promise<string> =>
  runTool('kubectl', args, { limitMs: LIMIT_MS, ...options });

export const helm = (args: string[], options: ToolOptions = {}): Promise<string> =>
  runTool('helm', args, { cwd: ROOT, limitMs: LIMIT_MS, ...options });

/** What helm prints, with its warnings. */
export async function helmAloud(args: string[], options: ToolOptions = {}): Promise<string> {
  const { stdout, stderr } = await outputOf('helm', args, { cwd: ROOT, limitMs: LIMIT_MS, ...options });
  return `${stdout}\n${stderr}`;
}

/** Applies objects, in a namespace where they have one. */
export const apply = (objects: object[], namespace = 'default'): Promise<string> =>
  kubectl(['apply', '--namespace', namespace, '--filename', '-'], {
    input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  });

/** The values by which the chart runs this image, as it lies on the nodes. */
export function imageValues(image: string) {
  const [, repository = image, tag = 'latest'] = /^(.+):([^:/]+)$/.exec(image) ?? [];
  return { image: { registry: '', repository, tag, pullPolicy: 'IfNotPresent' } };
}

/** Where node ports are reached: `CLUSTER_ADDRESS`, or the first node's own address. */
export const nodeAddress = async (): Promise<string> =>
  process.env.CLUSTER_ADDRESS ||
  kubectl(['get', 'nodes', '-o', 'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}']);
