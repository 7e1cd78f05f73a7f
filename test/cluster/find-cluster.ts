import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { runTool } from '../support/tools.ts';
import { helm, IMAGES, kubectl } from './cluster.ts';
import { reportSkipped } from './skipped.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether a cluster is available for the chart. */
    cluster: boolean;
  }
}

/** The reason why the checks cannot run, if any. */
async function findObstacle(): Promise<string | undefined> {
  if (!process.env.KUBECONFIG) return 'KUBECONFIG names no cluster'; // never the default context
  try {
    await kubectl(['get', 'nodes']);
    await helm(['version']);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Loads the images onto the nodes with the command in `CLUSTER_LOAD_IMAGES`, whose last argument is an archive. */
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

/** Detects a cluster. Without one all checks are skipped with a message, or fail with `TESTS_REQUIRE=cluster`. */
export default async function findCluster(project: TestProject): Promise<void> {
  const obstacle = await findObstacle();
  if (obstacle) reportSkipped('every check of the chart on a cluster', obstacle);
  else if (process.env.CLUSTER_LOAD_IMAGES) await loadImages(process.env.CLUSTER_LOAD_IMAGES);
  project.provide('cluster', !obstacle);
}
