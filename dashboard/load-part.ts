/** Pauses before further attempts to load a part of the dashboard. */
const PAUSES_MS = [300, 1500];

/** The error of Vite for a part whose stylesheet was not loaded. It does not request it again. */
const styleError = (address: string) => `Unable to preload CSS for ${address}`;
const STYLE_ERROR = /^Unable to preload CSS for (.+)$/;

const loadStyle = (address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: address });
    link.onload = () => resolve();
    link.onerror = () => reject(new Error(styleError(address)));
    document.head.append(link);
  });

/**
 * Loads a part of the dashboard that is a file of its own, in up to three attempts: a browser ends all requests when the
 * network changes, such as between Wi-Fi and cable. The error of the last attempt is thrown.
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  let attempt = load;
  for (const pause of PAUSES_MS) {
    try {
      return await attempt();
    } catch (error) {
      const style = STYLE_ERROR.exec((error as Error).message)?.[1];
      attempt = style ? () => loadStyle(style).then(load) : load;
      await new Promise(resolve => setTimeout(resolve, pause));
    }
  }
  return attempt();
}
