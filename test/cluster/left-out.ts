/** Reports a skipped check with its reason; throws if `TESTS_REQUIRE` contains `cluster`. */
export function leaveOut(what: string, why: string): void {
  if (process.env.TESTS_REQUIRE?.split(',').includes('cluster')) throw new Error(`${what}: ${why}`);
  process.stderr.write(`\n*** ${why}: ${what} is LEFT OUT. ***\n\n`);
}

/** The value of a setting of these checks. Reports the skipped check if it is missing. */
export function settingFor(what: string, name: string): string | undefined {
  const value = process.env[name];
  if (!value) leaveOut(what, `${name} is not set`);
  return value;
}
