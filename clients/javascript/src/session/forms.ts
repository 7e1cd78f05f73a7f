import { checkUrl } from '../base-url.ts';

function isUrl(text: string): boolean {
  try {
    return /^https?:\/\/\S+$/i.test(text) && Boolean(checkUrl(text, { allowHttp: true }));
  } catch {
    return false;
  }
}

/** Forms of texts with a special input. The server accepts all of these texts; it also accepts an email address without a dot. */
export const FORMS: Record<string, (text: string) => boolean> = {
  email: text => /^[\w.!#$%&'*+/=?^`{|}~-]+@([a-z\d]([a-z\d-]{0,61}[a-z\d])?(\.(?!$)|$)){2,}$/i.test(text),
  url: isUrl,
  number: text => /^-?\d+([.,]\d+)?$/.test(text),
};
