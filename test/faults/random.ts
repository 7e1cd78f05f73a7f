/** Random choices that a seed reproduces, so that a failed run can be repeated. */
export interface Random {
  /** A number from `least` to below `most`. */
  between(least: number, most: number): number;
  /** An integer from `least` to `most`, both included. */
  whole(least: number, most: number): number;
  pick<T>(list: readonly T[]): T;
}

/** A mulberry32 generator: 32 bits of state, enough to choose moments and victims. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    between: (least, most) => least + next() * (most - least),
    whole,
    pick: list => list[whole(0, list.length - 1)] as never,
  };
}
