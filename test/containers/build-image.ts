import { docker, IMAGE } from './docker.ts';

/** Builds the image that the checks look at. Fails where no Docker Engine is: these checks are never left out silently. */
export default async function buildImage(): Promise<void> {
  await docker(['build', '--network', 'host', '--tag', IMAGE, '.']);
}
