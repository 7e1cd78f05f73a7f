import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AnswerValue,
  type Card,
  type CardStep,
  createCardSession,
  isSupported,
  type NewAnswer,
} from '../../../clients/javascript/src/index.ts';
import { visibleSteps } from '../../../src/domain/steps.ts';
import { contract } from '../contract.ts';

interface Answered {
  card: Card;
  name: string;
  state: string;
  values: Record<string, AnswerValue>;
  fault: string | null;
  /** How the view ends, if not by completing it. */
  end?: 'dismissed';
}

const step = (fields: Partial<CardStep>): CardStep => ({
  ...{ key: 'main', type: 'nps', title: 'How likely?', description: '', config: {}, required: true, show_if: null },
  ...fields,
});

function open(...steps: CardStep[]) {
  const card = { id: 'card_1', question_id: 'question_1', question_version: 2, kind: 'question', steps } as Card;
  const recorded: NewAnswer[] = [];
  let flushes = 0;
  let time = 1000;
  const outbox = {
    record: async (answer: NewAnswer) => void recorded.push(answer),
    flush: async () => {
      flushes++;
      return { outcome: 'done' as const };
    },
  };
  const session = createCardSession(card, { outbox, now: () => (time += 1000), metadata: { platform: 'web' } });
  return { session, recorded, flushes: () => flushes };
}

const { numbers } = contract('steps') as { numbers: { typed: string; sent: string | null }[] };

test.each(numbers)('a number that is typed as $typed is sent as $sent', async ({ typed, sent }) => {
  const { session, recorded } = open(step({ type: 'text', config: { input: 'number' } }));
  await session.set('main', typed);
  expect(recorded.at(-1)?.values?.main ?? null).toBe(sent);
  expect(session.validate()).toEqual(sent === null ? [{ step: 'main', code: 'invalid' }] : []);
});

describe('the answer to a card', () => {
  test('counts revisions from its display to its completion, and is sent', async () => {
    const { session, recorded, flushes } = open(step({}));
    await session.show();
    await session.set('main', 8);
    await session.set('main', 8); // unchanged
    await session.setComment(' Fine. ');
    expect(flushes()).toBe(0);
    expect(await session.complete()).toEqual({ state: 'completed', values: { main: 8 }, comment: 'Fine.' });
    expect(recorded.map(({ revision, state, values, comment }) => [revision, state, values, comment])).toEqual([
      [1, 'seen', {}, null],
      [2, 'partial', { main: 8 }, null],
      [3, 'partial', { main: 8 }, 'Fine.'],
      [4, 'completed', { main: 8 }, 'Fine.'],
    ]);
    expect(new Set(recorded.map(({ id }) => id)).size).toBe(1);
    expect(recorded[3]).toMatchObject({ card_id: 'card_1', question_version: 2, metadata: { platform: 'web' } });
    expect(new Set(recorded.map(({ displayed_at }) => displayed_at)).size).toBe(1);
    expect(flushes()).toBe(1);
  });

  test('is not complete without a required value, and nothing is recorded', async () => {
    const { session, recorded } = open(step({}), step({ key: 'why', type: 'text', required: false }));
    const error = await session.complete().catch(thrown => thrown);
    expect(error).toMatchObject({ kind: 'invalid-argument', errors: [{ pointer: '/values/main', code: 'required' }] });
    expect(recorded).toEqual([]);
    await session.set('main', 3);
    expect((await session.complete()).values).toEqual({ main: 3 });
  });

  test('keeps invalid values out of what is recorded: the server refuses them', async () => {
    const { session, recorded } = open(step({ type: 'text', config: { input: 'email', min_length: 3 } }));
    await session.set('main', 'ada@');
    expect(session.validate()).toEqual([{ step: 'main', code: 'invalid' }]);
    expect(recorded.at(-1)).toMatchObject({ state: 'seen', values: {} });
    await session.set('main', 'ada@acme.example');
    expect(recorded.at(-1)).toMatchObject({ state: 'partial', values: { main: 'ada@acme.example' } });
    await session.set('main', undefined);
    expect(session.validate()).toEqual([{ step: 'main', code: 'required' }]);
  });

  test('can be declined, and ends with that', async () => {
    const { session, recorded, flushes } = open(step({}));
    await session.show();
    await session.dismiss();
    expect(recorded.map(({ state }) => state)).toEqual(['seen', 'dismissed']);
    expect(flushes()).toBe(1);
    for (const call of [() => session.set('main', 1), () => session.complete(), () => session.dismiss()])
      await expect(call()).rejects.toMatchObject({ kind: 'invalid-argument' });
    await expect(open(step({})).session.set('other', 1)).rejects.toThrow('no step "other"');
  });

  test('counts with a value of main, also when it is declined', async () => {
    const { session, recorded } = open(step({}), step({ key: 'why', type: 'text', required: false }));
    await session.set('main', 2);
    await session.next();
    await session.set('why', 'Slow');
    await session.dismiss();
    expect(recorded.at(-1)).toMatchObject({ state: 'partial', values: { main: 2, why: 'Slow' } });
    await expect(session.dismiss()).rejects.toMatchObject({ kind: 'invalid-argument' });
    const other = open(step({ type: 'statement' }), step({ key: 'why', type: 'text', required: false }));
    await other.session.set('why', 'Slow');
    await other.session.dismiss();
    expect(other.recorded.at(-1)).toMatchObject({ state: 'dismissed', values: { why: 'Slow' } });
  });

  test('marks a comment and an own answer that are too long, and records neither', async () => {
    const { session, recorded } = open(step({}));
    await session.set('main', 8);
    await session.setComment('x'.repeat(5001));
    expect(session.validate()).toEqual([{ step: 'main', code: 'too-long', limit: 5000 }]);
    expect(recorded.at(-1)).toMatchObject({ state: 'partial', values: { main: 8 }, comment: null });
    await expect(session.complete()).rejects.toMatchObject({ kind: 'invalid-argument' });
    for (const type of ['single_choice', 'multi_choice'] as const) {
      const choice = open(step({ type, config: { options: [{ id: 'a', label: 'A' }], allow_other: true } }));
      await choice.session.set('main', { other_text: 'x'.repeat(5001), option_ids: [] } as never);
      expect(choice.session.validate()).toEqual([{ step: 'main', code: 'too-long', limit: 5000 }]);
    }
  });

  test('a statement is complete without a value', async () => {
    const { session } = open(step({ type: 'statement' }));
    expect(await session.complete()).toEqual({ state: 'completed', values: {}, comment: null });
  });

  test('a type of a later version is left to the server', async () => {
    const { session } = open(step({ type: 'matrix' as never }));
    await session.set('main', { row_1: 2 } as never);
    expect((await session.complete()).values).toEqual({ main: { row_1: 2 } });
  });
});

describe('a card with several steps', () => {
  const parts = { options: [{ id: 'a', label: 'A' }], min: 0 };
  const steps = [
    step({}),
    step({ key: 'why', type: 'text', required: false, show_if: { step: 'main', op: 'lte', value: 6 } }),
    step({ key: 'parts', type: 'multi_choice', config: parts }),
    step({ key: 'call', type: 'thumbs', show_if: { step: 'why', op: 'answered' } }),
  ];
  const keys = (session: { steps: readonly CardStep[] }) => session.steps.map(({ key }) => key);

  test('is gone through forward and back, and saved at every step', async () => {
    const { session, recorded } = open(...steps);
    expect(session.progress).toEqual({ number: 1, count: 2 });
    const error = await session.next().catch(thrown => thrown);
    expect(error).toMatchObject({ kind: 'invalid-argument', errors: [{ pointer: '/values/main', code: 'required' }] });
    await session.set('main', 3);
    expect((await session.next())?.key).toBe('why');
    await session.set('why', 'slow');
    expect(session.progress).toEqual({ number: 2, count: 4 });
    expect((await session.next())?.key).toBe('parts');
    expect(recorded.at(-1)?.values).toEqual({ main: 3, why: 'slow' });
    expect((await session.next())?.key).toBe('call');
    expect(recorded.at(-1)?.values).toEqual({ main: 3, why: 'slow', parts: { option_ids: [] } });
    await session.set('call', true);
    expect(['parts', 'why', 'main', undefined].map(() => session.back()?.key)).toEqual([
      ...['parts', 'why', 'main', undefined],
    ]);
    expect(session.content.values).toEqual({ main: 3, why: 'slow', parts: { option_ids: [] }, call: true });
    for (const _ of steps.slice(1)) await session.next();
    expect(session.step.key).toBe('call');
    expect(await session.next()).toBeUndefined();
    expect((await session.complete()).state).toBe('completed');
    await expect(session.next()).rejects.toThrow('already answered');
  });

  test('drops the values of steps that a change hides, and brings them back with their step', async () => {
    const { session, recorded } = open(...steps);
    await session.set('main', 3);
    await session.set('why', 'slow');
    await session.next();
    expect(session.step.key).toBe('why');
    await session.set('main', 9);
    expect(keys(session)).toEqual(['main', 'parts']);
    expect(session.step.key).toBe('main');
    expect(recorded.at(-1)).toMatchObject({ state: 'partial', values: { main: 9 } });
    expect(recorded.at(-1)?.values).not.toHaveProperty('why');
    await session.set('main', 2);
    expect(recorded.at(-1)?.values).toEqual({ main: 2, why: 'slow' });
  });

  test('is validated as a whole or by step, without hidden steps', async () => {
    const { session } = open(...steps);
    await session.set('call', 7);
    expect(session.validate()).toEqual([{ step: 'main', code: 'required' }]);
    await session.set('main', 3);
    await session.set('why', 'slow');
    expect(session.validate()).toEqual([{ step: 'call', code: 'invalid' }]);
    expect(session.validate('main')).toEqual([]);
    await session.set('why', undefined);
    expect((await session.complete()).values).toEqual({ main: 3, parts: { option_ids: [] } });
  });

  test('evaluates conditions with the valid values only', async () => {
    const { session } = open(...steps);
    await session.set('main', 3);
    await session.set('why', 'x'.repeat(5001));
    expect(keys(session)).toEqual(['main', 'why', 'parts']);
  });

  test('an answer of any values is one that the server accepts', async () => {
    const anyValue = fc.oneof(
      fc.integer({ min: -1, max: 11 }),
      fc.boolean(),
      fc.constantFrom('', 'slow', 'a'),
      fc.constant({ option_ids: ['a'] }),
    );
    const given = fc.dictionary(fc.constantFrom('main', 'why', 'parts', 'call'), anyValue);
    await fc.assert(
      fc.asyncProperty(given, async values => {
        const { session, recorded } = open(...steps);
        for (const [key, value] of Object.entries(values)) await session.set(key, value as AnswerValue);
        const sent = recorded.at(-1)?.values ?? {};
        const shown = visibleSteps(steps, sent).map(({ key }) => key);
        expect(keys(session)).toEqual(shown);
        expect(Object.keys(sent).filter(key => !shown.includes(key))).toEqual([]);
      }),
    );
  });

  test.each(
    contract('steps').cards.flatMap(({ card, answers }: never) =>
      (answers as object[]).map(each => ({ card, ...(each as Answered) })),
    ),
  )('$name: $values', async ({ card, state, values, fault, end }: Answered) => {
    const { session, recorded } = open(...card.steps);
    const known = Object.entries(values).filter(([key]) => card.steps.some(step => step.key === key));
    for (const [key, value] of known) await session.set(key, value);
    if (fault === null) {
      expect(recorded.at(-1)?.values ?? {}).toEqual(values);
      if (state === 'completed') expect((await session.complete()).values).toEqual(values);
      if (end) await session.dismiss();
      if (end) expect(recorded.at(-1)?.state).toBe(state);
    } else {
      expect(session.content.values).not.toHaveProperty(fault.replace('/values/', ''));
    }
  });

  test('must have known conditions', () => {
    const later = step({ key: 'why', show_if: { step: 'main', op: 'matches' as never, value: 'a' } });
    expect(() => open(step({}), later)).toThrow('later version');
    const card = { id: 'card_1', kind: 'question', steps } as Card;
    expect(isSupported(card)).toBe(true);
    for (const change of [
      { steps: [...steps, later] },
      { steps: [step({ type: 'ranking' as never })] },
      { kind: 'reply' as const },
      { steps: [] },
    ])
      expect(isSupported({ ...card, ...change })).toBe(false);
  });
});

test('the duration is one that servers accept, however long the card is displayed and whatever its clock does', async () => {
  const card = { id: 'card_1', locale: 'de', steps: [step({})] } as Card;
  const recorded: NewAnswer[] = [];
  const times = [1_000_000, 1_000_000 + 40 * 86_400_000, 0];
  const outbox = {
    record: async (answer: NewAnswer) => void recorded.push(answer),
    flush: async () => ({ outcome: 'done' as const }),
  };
  const session = createCardSession(card, { outbox, now: () => times[recorded.length] as number });
  await session.show();
  await session.set('main', 5);
  await session.complete();
  expect(recorded.map(({ duration_ms }) => duration_ms)).toEqual([0, 2_147_483_647, 0]);
});

test('metadata that servers reject is an error at once', async () => {
  const card = { id: 'card_1', locale: 'de', steps: [step({})] } as Card;
  const recorded: NewAnswer[] = [];
  const outbox = {
    record: async (answer: NewAnswer) => void recorded.push(answer),
    flush: async () => ({ outcome: 'done' as const }),
  };
  const fields = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`field_${index}`, 1]));
  const absent = { plan: undefined as never }; // not sent
  await createCardSession(card, { outbox, metadata: { platform: 'web', ...fields(17), ...absent } }).show();
  expect(recorded[0]?.metadata).toMatchObject({ platform: 'web', card_locale: 'de' });
  const names = [fields(19), { 'a b': 1 }, { '': 1 }, JSON.parse('{"__proto__":1}')];
  const values = ['x'.repeat(257), null, Number.NaN, 2 ** 53, ['a'], { b: 1 }, 1n].map(value => ({
    a: value as never,
  }));
  for (const metadata of [...names, ...values, { platform: null as never }])
    expect(() => createCardSession(card, { outbox, metadata })).toThrow(
      expect.objectContaining({ kind: 'invalid-argument' }),
    );
});

const options = [
  { id: 'a', label: 'A' },
  { id: 'b', label: 'B' },
];
type Case = [type: CardStep['type'], config: CardStep['config'], value: unknown, code: string | undefined];
test.each<Case>([
  ['nps', {}, 0, undefined],
  ['nps', {}, 11, 'invalid'],
  ['nps', {}, 1.5, 'invalid'],
  ['nps', {}, '9', 'invalid'],
  ['csat', {}, 0, 'invalid'],
  ['ces', {}, 7, undefined],
  ['ces', { scale: 5 }, 6, 'invalid'],
  ['rating', { scale: 3 }, 3, undefined],
  ['rating', { scale: 3 }, 4, 'invalid'],
  ['thumbs', {}, false, undefined],
  ['thumbs', {}, 1, 'invalid'],
  ['single_choice', { options }, { option_id: 'a' }, undefined],
  ['single_choice', { options }, { option_id: 'c' }, 'invalid'],
  ['single_choice', { options }, { other_text: 'c' }, 'invalid'],
  ['single_choice', { options, allow_other: true }, { other_text: 'c' }, undefined],
  ['single_choice', { options, allow_other: true }, { other_text: ' ' }, 'invalid'],
  ['single_choice', { options }, 'a', 'invalid'],
  ['multi_choice', { options }, { option_ids: ['a', 'b'] }, undefined],
  ['multi_choice', { options }, { option_ids: ['a', 'a'] }, 'invalid'],
  ['multi_choice', { options }, { option_ids: [] }, 'too-few'],
  ['multi_choice', { options, min: 0 }, { option_ids: [] }, undefined],
  ['multi_choice', { options, max: 1 }, { option_ids: ['a', 'b'] }, 'too-many'],
  ['multi_choice', { options, allow_other: true }, { option_ids: [], other_text: 'c' }, undefined],
  ['text', {}, 'x', undefined],
  ['text', { min_length: 2 }, 'x', 'too-short'],
  ['text', { max_length: 2 }, 'xyz', 'too-long'],
  ['text', { input: 'number' }, '1,5', undefined],
  ['text', { input: 'number' }, 'one', 'invalid'],
  ['date', {}, '2026-11-24', undefined],
  ['date', {}, '24.11.2026', 'invalid'],
  ['consent', {}, false, 'invalid'],
])('%s %j: %j is %s', async (type, config, value, code) => {
  const { session } = open(step({ type, config }));
  await session.set('main', value as AnswerValue);
  expect(session.validate().map(fault => fault.code)).toEqual(code ? [code] : []);
});
