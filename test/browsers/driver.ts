import { waitFor } from '../support/wait.ts';

export type Theme = 'light' | 'dark';

/** Input devices, as WebDriver and WebDriver BiDi describe them. */
export interface Source {
  type: 'key' | 'pointer';
  id: string;
  parameters?: { pointerType: 'mouse' };
  actions: object[];
}

/** A browser with one page. */
export interface Driver extends AsyncDisposable {
  /** Name and version. */
  name: string;
  goTo(url: string): Promise<void>;
  /** Opens the previous entry of the history. */
  goBack(): Promise<void>;
  /** Scripts and input go to the first frame of the page from now on, until the next page. */
  enterFrame(): Promise<void>;
  /** The JSON value of an expression in the page; a promise is awaited. */
  evaluate(expression: string): Promise<unknown>;
  perform(sources: Source[]): Promise<void>;
}

/** Keys by name (WebDriver, "keyboard actions"). */
const KEYS: Record<string, string> = {
  Tab: '\uE004',
  Enter: '\uE007',
  Escape: '\uE00C',
  Space: ' ',
  ArrowRight: '\uE014',
};

/** A person at a browser. */
export interface Person {
  driver: Driver;
  /** Runs a function in the page. It cannot use anything outside of itself; its arguments are JSON. */
  run<Args extends unknown[], Result>(work: (...args: Args) => Result, ...args: Args): Promise<Awaited<Result>>;
  /** Runs it until its result is true. */
  until<Args extends unknown[]>(work: (...args: Args) => unknown, ...args: Args): Promise<void>;
  press(...keys: string[]): Promise<void>;
  write(text: string): Promise<void>;
  /** Scrolls to an element of the first view and clicks its center. */
  click(selector: string): Promise<void>;
  /** Clicks a point of the window. */
  clickAt(x: number, y: number): Promise<void>;
}

/** Center of an element of the view or the page, in the window; undefined if there is none. */
async function centerOf(selector: string): Promise<{ x: number; y: number } | undefined> {
  const root = document.querySelector('parley-feedback')?.shadowRoot;
  const node = [...(root?.querySelectorAll(selector) ?? []), ...document.querySelectorAll(selector)].find(
    each => each.getClientRects().length > 0,
  );
  node?.scrollIntoView({ block: 'center' });
  for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame); // it is drawn there
  const box = node?.getBoundingClientRect();
  return box && { x: Math.round(box.left + box.width / 2), y: Math.round(box.top + box.height / 2) };
}

/** Seats a person at a browser. */
export function personAt(driver: Driver): Person {
  const run: Person['run'] = async (work, ...args) =>
    (await driver.evaluate(`(${work})(...${JSON.stringify(args)})`)) as never;
  const type = (keys: string[]) => {
    const actions = keys.flatMap(value => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    return driver.perform([{ type: 'key', id: 'keyboard', actions }]);
  };
  const clickAt = (x: number, y: number) =>
    driver.perform([
      {
        ...{ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' } },
        actions: [
          { type: 'pointerMove', x, y, duration: 0 },
          { type: 'pointerDown', button: 0 },
          { type: 'pointerUp', button: 0 },
        ],
      },
    ]);
  return {
    driver,
    run,
    async until(work, ...args) {
      await waitFor(() => run(work, ...args) as Promise<unknown>, 20_000, 50);
    },
    press: (...keys) => type(keys.map(key => KEYS[key] ?? key)),
    write: text => type([...text]),
    async click(selector) {
      const { x, y } = await waitFor(() => run(centerOf, selector), 20_000, 50);
      await clickAt(x, y);
    },
    clickAt,
  };
}
