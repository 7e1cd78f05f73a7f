/** Reports an error that no caller receives, like one of an event listener: in browsers to the window, on Node to the console. */
export function reportUncaught(error: unknown): void {
  const { reportError = console.error } = globalThis;
  reportError(error);
}

/** Calls a function of the app. Its errors are reported, and do not affect the work under way. */
export function notify<Args extends unknown[]>(callback: ((...args: Args) => void) | undefined, ...args: Args): void {
  try {
    callback?.(...args);
  } catch (error) {
    reportUncaught(error);
  }
}
