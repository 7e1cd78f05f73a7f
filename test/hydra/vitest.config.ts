import { defineConfig } from 'vitest/config';

/**
 * Logs in through Ory Hydra with the claims of six directories: `HYDRA=<path of the program> npm run test:hydra`. Its Go module
 * (`go mod download github.com/ory/hydra/v2@v2.3.0`) is built in a copy of the module's folder, by `go mod edit -dropreplace
 * github.com/ory/hydra-client-go/v2` and `go build -mod=mod -tags sqlite -o hydra .`
 */
export default defineConfig({
  test: {
    include: ['test/hydra/*.check.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 1,
  },
});
