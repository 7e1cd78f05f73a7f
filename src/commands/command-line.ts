import { parseArgs } from 'node:util';
import type { Config } from '../platform/config.ts';
import type { Terminal } from './command.ts';
import type { Role } from './roles.ts';
import { UsageError } from './usage-error.ts';

/** The process in which a command runs. */
export interface Host extends Terminal {
  environment: NodeJS.ProcessEnv;
  /** Prints a text, or an object as JSON, to standard output. */
  print(value: unknown): void;
  setExitCode(code: number): void;
  /** Runs a role until a signal ends it. */
  runUntilStopped(role: Role, config: Config): Promise<void>;
}

/** An option of a command: with a value, named `value` in the usage text, or a switch. */
export interface Option {
  value?: string;
  required?: true;
}

type OptionSpecs = Record<string, Option>;
type ValueOf<O extends Option> = O extends { value: string } ? string : boolean;
type RequiredNames<Specs extends OptionSpecs> = {
  [Name in keyof Specs]: Specs[Name] extends { required: true } ? Name : never;
}[keyof Specs];

/** The options of a command as it receives them, by name without the dashes. */
export type OptionsOf<Specs extends OptionSpecs> = { [Name in RequiredNames<Specs>]: ValueOf<Specs[Name]> } & {
  [Name in Exclude<keyof Specs, RequiredNames<Specs>>]?: ValueOf<Specs[Name]> | undefined;
};

interface CommandDefinition<Specs extends OptionSpecs> {
  /** Its words, such as `tenant create`. */
  name: string;
  options?: Specs;
  /** The effect, as it continues "Use this to …". */
  summary: string;
  /** The section of a document with more about it. */
  seeAlso?: string;
  /** Whether it is omitted from the usage text and the documents. */
  isInternal?: boolean;
  /** Runs the command. Returns what to print, if anything. */
  run(host: Host, options: OptionsOf<Specs>): Promise<unknown>;
}

/** A command with the types of its options erased, for the table. */
export type Command = Omit<CommandDefinition<OptionSpecs>, 'options' | 'run'> & {
  options: OptionSpecs;
  run(host: Host, options: never): Promise<unknown>;
};

/** Defines a command. Its `run` is typed by its options. */
export const command = <const Specs extends OptionSpecs = Record<never, Option>>(
  definition: CommandDefinition<Specs>,
): Command => ({ options: {}, ...definition });

/** Returns a command as it is typed, with optional options in brackets. */
export const synopsisOf = ({ name, options }: Pick<Command, 'name' | 'options'>): string =>
  [
    name,
    ...Object.entries(options).map(([option, { value, required }]) => {
      const typed = value === undefined ? `--${option}` : `--${option} ${value}`;
      return required ? typed : `[${typed}]`;
    }),
  ].join(' ');

const SUMMARY_COLUMN = 46;

/** Returns the usage text: every command with its options and its effect. */
export const usageOf = (commands: readonly Command[]): string =>
  [
    'parley <command>\n',
    ...commands
      .filter(({ isInternal }) => !isInternal)
      .map(entry => {
        const synopsis = `  ${synopsisOf(entry)}`;
        const gap = synopsis.length < SUMMARY_COLUMN - 1 ? '' : `\n${' '.repeat(SUMMARY_COLUMN)}`;
        return `${synopsis.padEnd(gap ? 0 : SUMMARY_COLUMN)}${gap}${entry.summary}`;
      }),
  ].join('\n');

/** A command line as parsed. */
export type ParsedLine =
  | { kind: 'help' }
  | { kind: 'unknown'; name: string }
  | { kind: 'command'; command: Command; options: Record<string, string | boolean> };

/**
 * Parses the arguments of the executable. Options may precede the command's words.
 *
 * Throws `UsageError` for a missing option or one that the command does not have, and Node's `ERR_PARSE_ARGS_…` for an
 * option that no command has.
 */
export function parseCommandLine(args: string[], commands: readonly Command[]): ParsedLine {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { ...optionsOfAll(commands), help: { type: 'boolean', short: 'h' } },
  });
  const { help, ...options } = values as Record<string, string | boolean>;
  const name = positionals.join(' ');
  if (help || name === '' || name === 'help') return { kind: 'help' };
  const found = commands.find(entry => entry.name === name);
  if (!found) return { kind: 'unknown', name };
  for (const option of Object.keys(options))
    if (!Object.hasOwn(found.options, option)) throw new UsageError(`--${option} is not an option of "${name}"`);
  for (const [option, { required }] of Object.entries(found.options))
    if (required && !options[option]) throw new UsageError(`--${option} is required`);
  return { kind: 'command', command: found, options };
}

const optionsOfAll = (commands: readonly Command[]) =>
  Object.fromEntries(
    commands
      .flatMap(({ options }) => Object.entries(options))
      .map(([name, { value }]) => [name, { type: value === undefined ? 'boolean' : 'string' } as const]),
  );
