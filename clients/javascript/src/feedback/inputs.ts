import { rangeOf } from '../session/rules.ts';
import type { AnswerValue, CardStep, QuestionType } from '../types.ts';
import { element, icon, linkTo } from './dom.ts';
import { say, type Texts } from './texts.ts';

/** The input of a step. */
export interface Input {
  nodes: Node[];
  /** Current value, valid or not; undefined if empty. */
  read(): AnswerValue | undefined;
}

type Render = (step: CardStep, texts: Texts) => Input;

interface Box<Value> {
  value: Value;
  node: HTMLElement;
  control: HTMLInputElement;
}

type BoxType = 'radio' | 'checkbox';

/** A radio button or checkbox with its label. */
function renderBox<Value>(type: BoxType, value: Value, label: Node | string): Box<Value> {
  const control = element('input', { type });
  return { value, control, node: element('label.option', {}, control, label) };
}

/** The values of the checked boxes. */
const checkedIn = <Value>(boxes: Box<Value>[]): Value[] =>
  boxes.filter(({ control }) => control.checked).map(({ value }) => value);

/** A point on a scale: a radio button with a visible symbol and an accessible name. */
function renderPoint<Value extends number | boolean>(value: Value, name: string, ...face: Node[]): Box<Value> {
  const control = element('input', { type: 'radio', 'aria-label': name, value: `${value}` });
  return {
    value,
    control,
    node: element('label.point', {}, control, element('span', { 'aria-hidden': 'true' }, ...face)),
  };
}

/** Number of points from which a scale is as wide as a narrow card. */
const WIDE = 10;

/** Points in a row. A digit key selects the point of that value. */
function renderPoints(points: Box<number | boolean>[], style: string, { low = '', high = '' } = {}): Input {
  const range = element(points.length < WIDE ? 'div.range' : 'div.range wide');
  range.append(element(`div.scale ${style}`, {}, ...points.map(({ node }) => node)));
  if (low || high) range.append(element('p.ends', {}, element('span', {}, low), element('span', {}, high)));
  return { nodes: [range], read: () => checkedIn(points)[0] };
}

const STAR = 'm12 3 3 6 6 1-4.5 4 1 6.5L12 17.5l-5.5 3 1-6.5L3 10l6-1z';
const THUMB = 'M7 10v10H3V10h4l4-7c2 0 3 1 2.5 3L13 9h5c2 0 3 1 2.5 3l-1 5c0 2-1 3-3 3H7';

/** A face whose mouth shows the position on the scale, from 0 to 1. The lowest one frowns, the highest laughs. */
function faceAt(position: number): Node {
  const bend = position * 8 - 4;
  const mouth = `M8 ${15.5 - bend / 2}q4 ${bend * 1.5} 8 0`;
  const extreme = position === 0 ? 'M8 7l2.5 1.3M16 7l-2.5 1.3' : position === 1 ? 'z' : '';
  return icon(`M21 12A9 9 0 1 1 3 12A9 9 0 0 1 21 12M9 10v.1M15 10v.1${mouth}${extreme}`);
}

const scale: Render = (step, texts) => {
  const { from, to } = rangeOf(step);
  const { style = 'number', labels } = step.config;
  const faceOf = (value: number): Node[] => {
    const number = new Text(`${value}`);
    if (style === 'smiley') return [faceAt((value - from) / (to - from))];
    if (style !== 'star') return [number];
    return to < WIDE ? [icon(STAR)] : [element('i', {}, number), icon(STAR)]; // ten stars are numbers in a narrow card
  };
  const points = Array.from({ length: to - from + 1 }, (_, index) => {
    const value = from + index;
    const label = value === from ? labels?.low : value === to ? labels?.high : '';
    return renderPoint(value, say(texts.point, value, to) + (label ? `, ${label}` : ''), ...faceOf(value));
  });
  return renderPoints(points, style, labels);
};

const thumbs: Render = ({ config: { labels } }, texts) =>
  renderPoints(
    [
      renderPoint(true, texts.thumbsUp, icon(THUMB)),
      renderPoint(false, texts.thumbsDown, icon(THUMB, 'matrix(1 0 0 -1 0 24)')),
    ],
    'thumbs',
    labels,
  );

const shuffled = <T>(items: T[]): T[] =>
  items
    .map(item => ({ item, rank: Math.random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);

/** Radio buttons or checkboxes, and a field for another answer. */
const options =
  (type: BoxType, toValue: (ids: string[], other: { other_text?: string }) => AnswerValue): Render =>
  ({ config: { options = [], allow_other, shuffle } }, texts) => {
    const boxes = (shuffle ? shuffled(options) : options).map(({ id, label }) => renderBox(type, id, label));
    const nodes = boxes.map(({ node }) => node);
    const { control, node } = renderBox(type, '', texts.other);
    const text = element('input.input', { type: 'text', maxlength: 5000, 'aria-label': texts.otherText });
    if (allow_other) nodes.push(node, text);
    control.addEventListener('change', () => control.checked && text.focus()); // the styles show it while its box is checked
    return {
      nodes,
      read() {
        const ids = checkedIn(boxes);
        if (ids.length > 0 || control.checked) return toValue(ids, control.checked ? { other_text: text.value } : {});
        return undefined;
      },
    };
  };

/** The keyboards of inputs whose name in HTML is another one. */
const INPUT_MODES: Record<string, string> = { number: 'decimal' };

/** A field for a text or a date. */
const field: Render = ({ type, title, config: { input = 'text', max_length = 5000 } }) => {
  const attributes = { maxlength: max_length, 'aria-label': title };
  const inputmode = INPUT_MODES[input] ?? input;
  const isDate = type === 'date';
  const node =
    isDate || input !== 'text'
      ? element('input.input', { ...attributes, type: isDate ? type : 'text', inputmode })
      : element('textarea.input', { ...attributes, rows: 3 });
  return { nodes: [node], read: () => node.value.trim() || undefined };
};

const consent: Render = (_, texts) => {
  const box = renderBox('checkbox', true, texts.consent);
  return { nodes: [box.node], read: () => checkedIn([box])[0] };
};

const statement: Render = ({ config: { url } }, texts) => ({ nodes: linkTo(url, texts.more), read: () => undefined });

/** Input factories by question type. */
const INPUTS: Record<QuestionType, Render> = {
  nps: scale,
  csat: scale,
  ces: scale,
  rating: scale,
  thumbs,
  single_choice: options('radio', ([option_id], other) => (option_id === undefined ? other : { option_id })),
  multi_choice: options('checkbox', (option_ids, other) => ({ option_ids, ...other })),
  text: field,
  date: field,
  consent,
  statement,
};

/** Creates the input of a step. */
export const renderInput: Render = (step, texts) => INPUTS[step.type](step, texts);
