/** Forms of texts with a special input; the same rules as on the server. */
export const FORMS: Record<string, (text: string) => boolean> = {
  email: text =>
    /^(?!\.)(?!.*\.\.)[A-Za-z0-9_'+\-.]*[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/.test(text),
  url: text => /^[a-z][a-z0-9+.-]*:\/\/[^\s/]+/i.test(text) && !/\s/.test(text),
  number: text => /^-?\d+([.,]\d+)?$/.test(text),
};
