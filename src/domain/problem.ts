import type { FieldCode } from './field-errors.ts';
import { PROBLEMS, type ProblemCode } from './problem-catalog.ts';
import type { ProblemKind } from './problem-kinds.ts';

/**
 * One of several faults: its location, code and description. `pointer` is a JSON pointer into the body, `parameter` the
 * name of a query parameter or header.
 */
export type ProblemError = ({ pointer: string } | { parameter: string }) & { code: FieldCode; detail: string };

export interface ProblemOptions {
  errors?: ProblemError[];
  /** Seconds after which a retry makes sense. */
  retryAfterSeconds?: number;
  /** Further members of the problem document, such as `from` and `allowed`. */
  extra?: Record<string, unknown>;
  cause?: unknown;
}

/** An expected failure with a public code. Any other error is a bug. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly options: ProblemOptions;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.options = options;
  }

  get kind(): ProblemKind {
    return PROBLEMS[this.code].kind;
  }

  get title(): string {
    return PROBLEMS[this.code].title;
  }
}

/** The 404 for a link of setup, invitation or password reset, for any reason. */
export const linkNotValid = (): Problem =>
  new Problem('link-not-valid', 'The link is unknown, expired or already used.');

/** The 404 for an object that is missing or belongs to someone else, which look the same. */
export const notFound = (what: string): Problem => new Problem('resource-not-found', `The ${what} was not found.`);

/** The 422 for one field of the body, for a reason that schemas cannot express. */
export const fieldFault = (pointer: string, code: FieldCode, detail: string): Problem =>
  new Problem('validation-failed', 'The body does not match the schema.', { errors: [{ pointer, code, detail }] });

/** The 422 for one parameter of the query, for a reason that schemas cannot express. */
export const queryFault = (parameter: string, code: FieldCode, detail: string): Problem =>
  new Problem('validation-failed', 'The query does not match the schema.', {
    errors: [{ parameter, code, detail }],
  });
