/** The median; of an even count, the mean of the two middle values. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}

/** The quantile of numbers in any order, such as that of 0.99. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/** A number with three significant digits, or an integer from 1,000 on. */
export function short(number: number): string {
  if (!Number.isFinite(number)) return '–';
  return Math.abs(number) >= 1000 ? Math.round(number).toLocaleString('en') : String(Number(number.toPrecision(3)));
}
