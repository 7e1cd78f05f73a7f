type Falsy = false | null | undefined | '' | 0;

/** Resolves when a condition holds; rejects after the limit. Expensive conditions can be checked less often. */
export async function waitFor<T>(
  fact: () => T | Promise<T>,
  limitMs = 60_000,
  everyMs = 20,
): Promise<Exclude<T, Falsy>> {
  for (const deadline = Date.now() + limitMs; ; ) {
    const value = await fact();
    if (value) return value as Exclude<T, Falsy>;
    if (Date.now() > deadline) throw new Error(`still not so after ${limitMs} ms: ${fact}`);
    await new Promise(resolve => setTimeout(resolve, everyMs));
  }
}
