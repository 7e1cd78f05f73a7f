import { defineConfig } from 'vitest/config';

/** Checks of the image and of docker-compose.yml: `npm run test:containers`. They need Docker, and minutes. */
export default defineConfig({
  test: {
    include: ['test/containers/*.check.ts'],
    globalSetup: 'test/containers/build-image.ts',
    testTimeout: 400_000,
    hookTimeout: 400_000,
    pool: 'forks',
    fileParallelism: false,
  },
});
