/** Says loudly what is not tried, and why; throws where nothing of the cluster may be left out. */
export function leaveOut(what: string, why: string): void {
  if (process.env.TESTS_REQUIRE?.split(',').includes('cluster')) throw new Error(`${what}: ${why}`);
  process.stderr.write(`\n*** ${why}: ${what} is LEFT OUT. ***\n\n`);
}

/** The value of a setting of these checks; without it, says what is left out. */
export function settingFor(what: string, name: string): string | undefined {
  const value = process.env[name];
  if (!value) leaveOut(what, `${name} is not set`);
  return value;
}
