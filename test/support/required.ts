/**
 * Returns whether the means of some tests were found. Otherwise prints that these are skipped, or throws if `TESTS_REQUIRE`
 * (comma-separated names) contains the name of the means.
 */
export function isFound(found: boolean, name: string, means: string, skipped: string): boolean {
  if (found) return true;
  if (process.env.TESTS_REQUIRE?.split(',').includes(name))
    throw new Error(`TESTS_REQUIRE contains ${name}, but ${means} was not found.`);
  process.stderr.write(`\n*** No ${means}: ${skipped} SKIPPED. ***\n\n`);
  return false;
}
