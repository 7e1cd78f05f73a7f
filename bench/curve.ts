/** A cost that is measured while a size grows. */
export interface Curve {
  title: string;
  unit: string;
  /** The size that grows. */
  over: string;
  points: { x: number; y: number; p95?: number }[];
}
