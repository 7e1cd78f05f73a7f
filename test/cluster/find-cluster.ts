import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { runTool } from '../support/tools.ts';
import { helm, IMAGES, kubectl } from './cluster.ts';
import { leaveOut } from './left-out.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether there is a cluster to try the chart on. */
    cluster: boolean;
  }
}

/** What keeps the checks from running; `undefined` where nothing does. */
async function findObstacle(): Promise<string | undefined> {
  if (!process.env.KUBECONFIG) return 'KUBECONFIG names no cluster'; // never the one that happens to be the default
  try {
    await kubectl(['get', 'nodes']);
    await helm(['version']);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Hands the images to the nodes with the command in `CLUSTER_LOAD_IMAGES`, which gets an archive as its last word. */
async function loadImages(command: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-images-'));
  const archive = join(folder, 'images.tar');
  try {
    await runTool('docker', ['save', '--output', archive, ...IMAGES]);
    await runTool('sh', ['-c', `${command} "$0"`, archive]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Looks for a cluster. Without one every check is left out, and that is said; `TESTS_REQUIRE=cluster` makes it a failure. */
export default async function findCluster(project: TestProject): Promise<void> {
  const obstacle = await findObstacle();
  if (obstacle) leaveOut('every check of the chart on a cluster', obstacle);
  else if (process.env.CLUSTER_LOAD_IMAGES) await loadImages(process.env.CLUSTER_LOAD_IMAGES);
  project.provide('cluster', !obstacle);
}
