/** Reports a skipped check with its reason; throws if `TESTS_REQUIRE` contains `cluster`. */
export function reportSkipped(check: string, reason: string): void {
  if (process.env.TESTS_REQUIRE?.split(',').includes('cluster')) throw new Error(`${check}: ${reason}`);
  process.stderr.write(`\n*** ${reason}: ${check} is SKIPPED. ***\n\n`);
}

/** The value of a setting of these checks. Reports the skipped check if it is missing. */
export function settingFor(check: string, name: string): string | undefined {
  const value = process.env[name];
  if (!value) reportSkipped(check, `${name} is not set`);
  return value;
}
