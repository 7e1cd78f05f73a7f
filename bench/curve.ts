/** What something costs while something else grows. */
export interface Curve {
  title: string;
  unit: string;
  /** What grows. */
  over: string;
  points: { x: number; y: number; p95?: number }[];
}
