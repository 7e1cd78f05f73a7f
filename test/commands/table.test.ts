import { describe, expect, test } from 'vitest';
import { type Command, command, parseCommandLine, synopsisOf, usageOf } from '../../src/commands/command-line.ts';
import { COMMANDS } from '../../src/commands/table.ts';

const CREATE = command({
  name: 'thing create',
  options: { name: { value: 'N', required: true }, colours: { value: 'a,b' }, public: {} },
  summary: 'create a thing',
  run: async (_, { name }) => name,
});
const LIST = command({ name: 'thing list', summary: 'list all things', run: async () => [] });
const HIDDEN = command({ name: 'hidden', summary: 'be internal', isInternal: true, run: async () => undefined });
const THINGS: Command[] = [CREATE, LIST, HIDDEN];

const parse = (line: string) => parseCommandLine(line.split(' '), THINGS);

describe('a command line', () => {
  test('is parsed into a command and its options', () => {
    expect(parse('thing create --name Lamp --public')).toEqual({
      kind: 'command',
      command: CREATE,
      options: { name: 'Lamp', public: true },
    });
    expect(parse('--name=Lamp thing create')).toMatchObject({ command: CREATE, options: { name: 'Lamp' } });
    expect(parse('thing list')).toMatchObject({ command: LIST, options: {} });
    expect(parse('hidden')).toMatchObject({ command: HIDDEN });
  });

  test('without a command, or with --help, asks for the usage text', () => {
    expect(parseCommandLine([], THINGS)).toEqual({ kind: 'help' });
    for (const line of ['help', '--help', '-h', 'thing create --help']) expect(parse(line)).toEqual({ kind: 'help' });
  });

  test('with an unknown command is reported with its words', () => {
    expect(parse('thing destroy')).toEqual({ kind: 'unknown', name: 'thing destroy' });
    expect(parse('thing')).toEqual({ kind: 'unknown', name: 'thing' });
    expect(parse('thing create now --name x')).toEqual({ kind: 'unknown', name: 'thing create now' });
  });

  test('lacks no required option, and has none that is not an option of the command', () => {
    expect(() => parse('thing create --public')).toThrow('--name is required');
    expect(() => parse('thing create --name=')).toThrow('--name is required');
    expect(() => parse('thing list --name x')).toThrow('--name is not an option of "thing list"');
    expect(() => parse('thing list --constructor x')).toThrow("Unknown option '--constructor'");
    expect(() => parse('thing create --name x --wrong')).toThrow("Unknown option '--wrong'");
    expect(() => parse('thing create --name')).toThrow(/--name <value>' argument missing/);
  });
});

describe('the table of commands', () => {
  test('is the usage text, one command a line or two, without internal ones', () => {
    expect(synopsisOf(CREATE)).toBe('thing create --name N [--colours a,b] [--public]');
    expect(usageOf(THINGS).split('\n')).toEqual([
      'parley <command>',
      '',
      '  thing create --name N [--colours a,b] [--public]',
      '                                              create a thing',
      '  thing list                                  list all things',
    ]);
  });

  test('has no command twice, and one type for each option', () => {
    const names = COMMANDS.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    expect(names).toEqual(expect.arrayContaining(['start', 'serve', 'work', 'migrate', 'doctor', 'tenant create']));
    const isSwitch = new Map<string, boolean>();
    for (const { name, options } of COMMANDS)
      for (const [option, { value }] of Object.entries(options)) {
        expect([name, option, value === undefined]).toEqual([
          name,
          option,
          isSwitch.get(option) ?? value === undefined,
        ]);
        isSwitch.set(option, value === undefined);
      }
    expect(isSwitch.size).toBeGreaterThan(10);
  });
});
