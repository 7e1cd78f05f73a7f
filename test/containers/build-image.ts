import { docker, IMAGE } from './docker.ts';

/** Builds the tested image. Fails without a Docker Engine, because these checks must not be skipped silently. */
export default async function buildImage(): Promise<void> {
  await docker(['build', '--network', 'host', '--tag', IMAGE, '.']);
}
