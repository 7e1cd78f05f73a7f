import { Baseline } from './20270202-baseline.ts';

/** Every migration in order. Names never change, because databases store them. */
export const MIGRATIONS = [{ name: '20270202-baseline', class: Baseline }];

/** The schema version of the baseline. Databases of builds from before it have lower ones, and cannot be migrated. */
export const BASELINE_SCHEMA = 100;

/**
 * The schema version that this build needs, recorded by `migrate` once every migration and function is applied. A later
 * one works if it declares this build compatible.
 *
 * Raise it with each new migration, and with each change of a function: `migrate` of a build that needs a lower version
 * does not change functions. A migration that records this version itself would end the wait of new processes before the
 * migrations after it.
 */
export const NEEDED_SCHEMA = 100;

/** The oldest version whose processes run on this schema: that of the build in `test/e2e/versions.check.ts`. */
export const OLDEST_COMPATIBLE = 100;
