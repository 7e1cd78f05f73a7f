import type { AnswerValue, CardStep, QuestionType } from '../types.ts';
import { element } from './dom.ts';
import { say, type Texts } from './texts.ts';

/** The input of a step. */
export interface Input {
  nodes: Node[];
  /** Current value; undefined if empty or invalid. */
  read(): AnswerValue | undefined;
  /** Value of an empty input on submit; absent if there is none. */
  whenEmpty?: AnswerValue;
  /** Validation message, if any. Empty inputs are valid. */
  fault(): string | undefined;
}

type Render = (step: CardStep, texts: Texts, describedBy: string) => Input;

const noFault = (): undefined => undefined;

interface Point {
  value: number | boolean;
  face: string;
  name: string;
}

/** Horizontal radio buttons with a visible symbol and an accessible name. */
function renderPoints(step: CardStep, points: Point[], describedBy: string): Input {
  const radios = points.map(({ name }) =>
    element('input', { type: 'radio', name: step.key, 'aria-label': name, 'aria-describedby': describedBy }),
  );
  const faces = points.map(({ face }) => element('span', { 'aria-hidden': 'true' }, face));
  const labels = radios.map((radio, index) =>
    element('label', { part: 'point' }, radio, faces[index] as HTMLSpanElement),
  );
  const { low, high } = step.config.labels ?? {};
  const ends = element('p', { part: 'ends' }, element('span', {}, low ?? ''), element('span', {}, high ?? ''));
  return {
    nodes: [element('div', { part: 'scale' }, ...labels), ...(low || high ? [ends] : [])],
    read: () => points[radios.findIndex(radio => radio.checked)]?.value,
    fault: noFault,
  };
}

const SMILEYS = ['😠', '🙁', '😐', '🙂', '😀'];

function faceOf(style: string | undefined, n: number, from: number, to: number): string {
  if (style === 'star') return '★';
  if (style === 'smiley') return SMILEYS[Math.round(((n - from) / (to - from)) * (SMILEYS.length - 1))] as string;
  return String(n);
}

const scale =
  (from: number, lastOf: (step: CardStep) => number): Render =>
  (step, texts, describedBy) => {
    const to = lastOf(step);
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    const { low, high } = step.config.labels ?? {};
    const nameOf = (n: number) =>
      [say(texts.point, n, to), n === from ? low : n === to ? high : undefined].filter(Boolean).join(', ');
    const points = numbers.map(n => ({ value: n, face: faceOf(step.config.style, n, from, to), name: nameOf(n) }));
    return renderPoints(step, points, describedBy);
  };

const thumbs: Render = (step, texts, describedBy) =>
  renderPoints(
    step,
    [
      { value: true, face: '👍', name: texts.thumbsUp },
      { value: false, face: '👎', name: texts.thumbsDown },
    ],
    describedBy,
  );

function shuffled<T>(items: T[]): T[] {
  const mixed = [...items];
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [mixed[last], mixed[other]] = [mixed[other] as T, mixed[last] as T];
  }
  return mixed;
}

/** Vertical options; the last one may be "other" with a text field. */
function renderOptions(step: CardStep, texts: Texts, type: 'radio' | 'checkbox', describedBy: string) {
  const { options = [], allow_other, shuffle } = step.config;
  const shown = (shuffle ? shuffled(options) : options).map(option => ({
    ...option,
    box: element('input', { type, name: step.key, 'aria-describedby': describedBy }),
  }));
  const nodes: Node[] = shown.map(({ box, label }) => element('label', { part: 'option' }, box, label));
  const box = element('input', { type, name: step.key, 'aria-describedby': describedBy });
  const text = element('input', { part: 'input', type: 'text', maxlength: 5000, 'aria-label': texts.otherText });
  text.addEventListener('input', () => (box.checked = true));
  if (allow_other) nodes.push(element('label', { part: 'option' }, box, texts.other), text);
  return {
    nodes,
    chosen: () => shown.filter(option => option.box.checked).map(({ id }) => id),
    isOther: () => box.checked,
    other: () => (box.checked && text.value.trim() !== '' ? text.value : undefined),
    otherFault: () => (box.checked && text.value.trim() === '' ? `${texts.otherText}.` : undefined),
  };
}

const singleChoice: Render = (step, texts, describedBy) => {
  const { nodes, chosen, isOther, other, otherFault } = renderOptions(step, texts, 'radio', describedBy);
  return {
    nodes,
    read() {
      const [option_id] = chosen();
      if (option_id !== undefined) return { option_id };
      const other_text = isOther() ? other() : undefined;
      return other_text === undefined ? undefined : { other_text };
    },
    fault: otherFault,
  };
};

const multiChoice: Render = (step, texts, describedBy) => {
  const { nodes, chosen, isOther, other, otherFault } = renderOptions(step, texts, 'checkbox', describedBy);
  const { min = 1, max = Number.POSITIVE_INFINITY } = step.config;
  const fault = (): string | undefined => {
    const count = chosen().length + (isOther() ? 1 : 0);
    if (count > 0 && count < min) return say(texts.chooseAtLeast, min);
    return count > max ? say(texts.chooseAtMost, max) : otherFault();
  };
  return {
    nodes,
    read() {
      const option_ids = chosen();
      const other_text = other();
      const isEmpty = option_ids.length === 0 && other_text === undefined;
      if (isEmpty || fault() !== undefined) return undefined;
      return { option_ids, ...(other_text === undefined ? {} : { other_text }) };
    },
    fault,
    ...(min === 0 ? { whenEmpty: { option_ids: [] } } : {}),
  };
};

/** The same rules as on the server. */
const FORMS: Record<string, (text: string) => boolean> = {
  email: text =>
    /^(?!\.)(?!.*\.\.)[A-Za-z0-9_'+\-.]*[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/.test(text),
  url: text => /^[a-z][a-z0-9+.-]*:\/\/[^\s/]+/i.test(text) && !/\s/.test(text),
  number: text => /^-?\d+([.,]\d+)?$/.test(text),
};
const INPUT_MODES: Record<string, string> = { number: 'decimal' };

const text: Render = ({ key, title, config }, texts, describedBy) => {
  const { input = 'text', min_length = 0, max_length = 5000 } = config;
  const attributes = {
    part: 'input',
    name: key,
    maxlength: max_length,
    'aria-label': title,
    'aria-describedby': describedBy,
  };
  const isProse = input === 'text';
  const field = isProse
    ? element('textarea', { ...attributes, rows: 3 })
    : element('input', { ...attributes, type: 'text', inputmode: INPUT_MODES[input] ?? input });
  const value = () => (isProse ? field.value : field.value.trim());
  const fault = (): string | undefined => {
    if (value().trim() === '') return undefined;
    if (value().length < min_length) return say(texts.tooShort, min_length);
    return isProse || FORMS[input]?.(value()) ? undefined : texts[input as 'email' | 'url' | 'number'];
  };
  return {
    nodes: [field],
    read: () => (value().trim() === '' || fault() !== undefined ? undefined : value()),
    fault,
  };
};

const date: Render = ({ key, title }, _, describedBy) => {
  const field = element('input', {
    part: 'input',
    type: 'date',
    name: key,
    'aria-label': title,
    'aria-describedby': describedBy,
  });
  return {
    nodes: [field],
    read: () => (/^\d{4}-\d\d-\d\d$/.test(field.value) ? field.value : undefined),
    fault: noFault,
  };
};

const consent: Render = ({ key }, texts, describedBy) => {
  const box = element('input', { type: 'checkbox', name: key, 'aria-describedby': describedBy });
  return {
    nodes: [element('label', { part: 'option' }, box, texts.consent)],
    read: () => box.checked || undefined,
    fault: noFault,
  };
};

const statement: Render = ({ config: { url } }, texts) => {
  const isWeb = url !== undefined && /^https?:\/\//i.test(url);
  const link = isWeb ? [element('a', { part: 'link', href: url, target: '_blank', rel: 'noopener' }, texts.more)] : [];
  return { nodes: link.map(node => element('p', {}, node)), read: noFault, fault: noFault };
};

/** Input factories by question type. */
const INPUTS: Record<QuestionType, Render> = {
  nps: scale(0, () => 10),
  csat: scale(1, () => 5),
  ces: scale(1, ({ config }) => config.scale ?? 7),
  rating: scale(1, ({ config }) => config.scale ?? 5),
  thumbs,
  single_choice: singleChoice,
  multi_choice: multiChoice,
  text,
  date,
  consent,
  statement,
};

/** Whether this version supports the step; the server may be newer. */
export const isKnown = ({ type, show_if }: CardStep): boolean => type in INPUTS && show_if === null;

/** Types with a score, which allow a comment. */
export const isScored = ({ type }: CardStep): boolean => ['nps', 'csat', 'ces', 'rating', 'thumbs'].includes(type);

/** Creates the input of a step; `describedBy` is the id of its description. */
export const renderInput: Render = (step, texts, describedBy) => INPUTS[step.type](step, texts, describedBy);
