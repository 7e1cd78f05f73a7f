/** A usage error, printed without a stack. */
export class UsageError extends Error {}
