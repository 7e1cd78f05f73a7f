import pg, { type QueryConfig, type QueryResult } from 'pg';

/** The parts of node-postgres' protocol connection that a query writes to. */
interface Wire {
  parsedStatements: Record<string, string | undefined>;
  submittedNamedStatements: Record<string, string | undefined>;
  parse(statement: { name: string; text: string }): void;
  bind(portal: { statement: string; values: unknown[] }): void;
  execute(portal: object): void;
}

/** The parts of node-postgres' `Query` that its types leave out. */
interface WireQuery {
  name: string | undefined;
  text: string;
  callback: (error: Error | undefined, result: QueryResult) => void;
  prepare(wire: Wire): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, wire: Wire): void;
  handleError(error: Error, wire: Wire): void;
}

/** A prepared statement, parsed once per connection under its name. */
export interface NamedStatement {
  name: string;
  text: string;
  values: string[];
}

const BaseQuery = pg.Query as unknown as new (config: QueryConfig & { queryMode: 'extended' }) => WireQuery;

/**
 * A statement that PostgreSQL runs in one implicit transaction with the settings sent before it.
 *
 * Parse, Bind and Execute of both precede a single Sync, so `set_config(…, true)` of `settings` holds for the statement
 * and ends with it: the connection keeps no session state. When the settings fail, PostgreSQL skips everything up to the
 * Sync, so the statement never runs without them. Measured against a session's `set_config` in one flight: 0.6 to 1.1 of
 * its time; `begin` and `commit` in one flight took 1.2 to 1.8 (docs/decisions/0025).
 */
export class ScopedQuery extends BaseQuery {
  /** The result of the statement; that of the settings is dropped. */
  readonly outcome: Promise<QueryResult>;
  readonly #settings: NamedStatement;
  readonly #own: { name: string | undefined; text: string };
  #inSettings = true;

  constructor(settings: NamedStatement, statement: QueryConfig) {
    super({ ...statement, queryMode: 'extended' });
    this.#settings = settings;
    this.#own = { name: this.name, text: this.text };
    this.outcome = new Promise((resolve, reject) => {
      this.callback = (error, result) => (error ? reject(error) : resolve(result));
    });
  }

  override prepare(wire: Wire): void {
    const { name, text, values } = this.#settings;
    if (!wire.parsedStatements[name] && !wire.submittedNamedStatements[name]) {
      wire.parse({ name, text });
      wire.submittedNamedStatements[name] = text;
    }
    wire.bind({ statement: name, values });
    wire.execute({});
    super.prepare(wire);
    // The client files each ParseComplete under the name of its active query, and that of the settings arrives first.
    this.name = name;
    this.text = text;
  }

  override handleDataRow(message: unknown): void {
    if (!this.#inSettings) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, wire: Wire): void {
    if (!this.#inSettings) {
      super.handleCommandComplete(message, wire);
      return;
    }
    this.#inSettings = false;
    this.name = this.#own.name;
    this.text = this.#own.text;
  }

  /** Statements after the failure were not parsed, so their next use has to send them again. */
  override handleError(error: Error, wire: Wire): void {
    for (const name of [this.#settings.name, this.#own.name]) if (name) delete wire.submittedNamedStatements[name];
    super.handleError(error, wire);
  }
}
