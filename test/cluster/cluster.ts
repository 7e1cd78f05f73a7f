import { resolve } from 'node:path';
import { outputOf, runTool, type ToolOptions } from '../support/tools.ts';

export const ROOT = resolve(import.meta.dirname, '../..');
export const CHART = resolve(ROOT, 'helm');

/** The tested image, and that of the previous version, if set. */
export const IMAGE = process.env.PARLEY_IMAGE || 'parley:dev';
export const PREVIOUS_IMAGE = process.env.PARLEY_PREVIOUS_IMAGE;

/** The chart of the previous version. Without one, this chart is installed with the previous image. */
export const PREVIOUS_CHART = process.env.PARLEY_PREVIOUS_CHART || CHART;

/** The image of backups, built from the tested one. */
export const BACKUP_IMAGE = process.env.PARLEY_BACKUP_IMAGE || 'parley-backup:dev';

/** All images needed on the nodes. */
export const IMAGES = [
  IMAGE,
  BACKUP_IMAGE,
  ...(PREVIOUS_IMAGE ? [PREVIOUS_IMAGE] : []),
  'postgres:18',
  'valkey/valkey:9',
];

const LIMIT_MS = 600_000;

export const kubectl = (args: string[], options: ToolOptions = {}): Promise<string> =>
  runTool('kubectl', args, { limitMs: LIMIT_MS, ...options });

export const helm = (args: string[], options: ToolOptions = {}): Promise<string> =>
  runTool('helm', args, { cwd: ROOT, limitMs: LIMIT_MS, ...options });

/** The output of helm with its warnings. */
export async function helmAloud(args: string[], options: ToolOptions = {}): Promise<string> {
  const { stdout, stderr } = await outputOf('helm', args, { cwd: ROOT, limitMs: LIMIT_MS, ...options });
  return `${stdout}\n${stderr}`;
}

/** Applies objects, in a namespace if they have one. */
export const apply = (objects: object[], namespace = 'default'): Promise<string> =>
  kubectl(['apply', '--namespace', namespace, '--filename', '-'], {
    input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  });

/** Chart values that run this image from the nodes' image store. */
export function imageValues(image: string) {
  const [, repository = image, tag = 'latest'] = /^(.+):([^:/]+)$/.exec(image) ?? [];
  return { image: { registry: '', repository, tag, pullPolicy: 'IfNotPresent' } };
}

/** The address of node ports: `CLUSTER_ADDRESS`, or that of the first node. */
export const nodeAddress = async (): Promise<string> =>
  process.env.CLUSTER_ADDRESS ||
  kubectl(['get', 'nodes', '-o', 'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}']);
