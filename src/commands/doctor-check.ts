/** A diagnosed item: whether it is healthy, and the remedy if not. */
export interface Check {
  name: string;
  ok: boolean;
  detail: string;
  mend?: string;
  /** A possible improvement of a healthy item. It never makes a diagnosis fail. */
  hint?: string;
}

/** Returns a healthy item. */
export const well = (name: string, detail: string): Check => ({ name, ok: true, detail });

/** Returns a faulty item with its remedy. */
export const ill = (name: string, detail: string, mend: string): Check => ({ name, ok: false, detail, mend });

/** Returns an error's message. */
export const reasonOf = (error: unknown): string => (error as Error).message || String(error);
